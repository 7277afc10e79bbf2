"""`timeout` in a thread: it ends the program, and the next exec continues the session."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from uwf_core.testing.project import Project

PEER = Path(__file__).parent / "programs" / "peer.py"
NOTE = """
version: 1
name: note
roles:
  writer:
    goal: Write a note
    {timeout}
    frontmatter: {{properties: {{$status: {{const: written}}}}, required: [$status]}}
graph:
  $START:
    new: {{role: writer, prompt: Write.}}
    resume: {{role: writer, prompt: Write again.}}
  writer:
    written: {{role: $END, prompt: Done.}}
"""


class Place:
    """A project with the workflow `note`, whose agent is the peer."""

    def __init__(self, root: Path) -> None:
        self.project, self.sessions = Project(root), root / "sessions"
        trusted = self.project.uwf("config", "trust", str(self.project.folder))
        assert trusted.exit_code == 0

    def use(self, behaviour: str, **options: float) -> None:
        words = ["-I", "-S", str(PEER), behaviour, str(self.sessions)]
        agent = {"command": sys.executable, "arguments": words, **options}
        self.project.config(json.dumps({"agents": {"me": {"use": "acp", "options": agent}}}))

    def running(self) -> list[str]:
        """The processes of the peer."""
        found = []
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = file.read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if str(self.sessions) in words and file.parent.name != str(os.getpid()):
                found.append(file.parent.name)
        return found


@pytest.mark.parametrize(
    ("of_role", "of_agent"), [("", 6.0), ("timeout: 6", 600)], ids=["agent", "role"]
)  # enough for a busy machine to start the program, also for the next exec
def test_a_prompt_ends_at_the_timeout_and_its_session_is_continued(tmp_path, of_role, of_agent):
    place = Place(tmp_path)
    place.project.workflow("note", NOTE.format(timeout=of_role))
    place.use("silent-at-session/prompt", timeout=of_agent)
    with place.project.client(default_agent="me") as client:
        thread = client.start("note", "A note")["thread"]
        started = time.monotonic()
        (failed,) = client.exec(thread).document["steps"]
        seconds = time.monotonic() - started
        attempt = client.step(failed["step"])
    assert failed["failure"]["kind"] == "timeout"
    assert 5.9 <= seconds < 60
    assert attempt["session"]["id"] == "s1", "it is kept"
    assert place.running() == []
    place.use("", timeout=600)
    with place.project.client(default_agent="me") as client:
        client.exec(thread)
    heard = map(json.loads, (place.sessions / "heard.jsonl").read_text().splitlines())
    loaded = [each["params"]["sessionId"] for each in heard if each.get("method") == "session/load"]
    assert loaded[:1] == ["s1"], "the next exec continues it"


def test_agent_check_tries_an_agent_in_a_folder_that_you_trust(tmp_path):
    place = Place(tmp_path)
    place.use("")
    checked = place.project.uwf("agent", "check", "me", "--trial")
    assert {each["name"]: each["state"] for each in checked.document["checks"]}["trial"] == "ok"
    assert checked.exit_code == 0
