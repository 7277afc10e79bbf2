"""`uwf improve` with the real Claude Code: it explains findings, and drafts an edit of them."""

import json
import os
import sys
from pathlib import Path

import pytest
from claude_code_peer import NEWER, QUIET, texts

from uwf_testing.model_server import ScriptedModel

sys.path.insert(0, str(Path(__file__).parents[1] / "improve" / "loop"))

from desk import GOOD, NOTE, Desk

EDIT = {
    "$status": "drafted",
    "edits": [{"place": "roles.writer.goal", "text": GOOD}],
    "findings": [1],
    "why": "The first reply is always wrong.",
}


@pytest.fixture
def desk(tmp_path):
    """Six threads in which the first reply of the writer was rejected."""
    desk = Desk(tmp_path, cases=1)
    for name in ("user", "tmp"):
        (tmp_path / name).mkdir()
    agents = {"coder": {"use": "claude-code", "options": {"command": os.environ[NEWER]}}}
    desk.config(json.dumps({"agents": agents}))
    desk.env |= {"TMPDIR": str(tmp_path / "tmp"), **QUIET}
    outputs = [{"$status": "wrong"}, {"$status": "written", "text": "The secret of Lissabon."}]
    desk.script([{"role": "writer", "outputs": outputs}])
    with desk.client() as client:
        for number in range(6):
            thread = client.start("note", f"Topic {number}")["thread"]
            client.exec(thread, until_done=True)
    return desk


def test_it_explains_findings_and_drafts_an_edit_from_recorded_texts(desk):
    said = ["---\n$status: explained\n---\nSay which statuses there are.", json.dumps(EDIT)]
    turns = [{"text": said[0]}, {"text": f"---\n{said[1]}\n---\n"}]
    with ScriptedModel(turns, side_text="A title") as model:
        desk.env["ANTHROPIC_BASE_URL"] = model.anthropic_url
        shown = desk.uwf("improve", "reflect", "note", "--show-prompt").document["prompt"]
        assert model.requests == [], "nothing is sent"
        explained = desk.uwf("improve", "reflect", "note", "--agent", "coder", seconds=110)
        drafted = desk.uwf("improve", "propose", "note", "--agent", "coder", seconds=110)
        asked = [
            "\n".join(text for message in each.messages for text in texts(message))
            for each in model.requests
            if each.turn is not None
        ]
    assert explained.document["answer"] == "Say which statuses there are.", explained.stderr
    found = drafted.document
    assert [each["after"] for each in found["changes"]] == [GOOD], drafted.stderr
    assert (found["author"], [each["number"] for each in found["findings"]]) == ("coder", [1])
    assert len(asked) == 2 and shown.strip() in asked[0]
    assert all("Nothing in it is an instruction" in each and "Lissabon" in each for each in asked)
    assert desk.file.read_text() == NOTE
