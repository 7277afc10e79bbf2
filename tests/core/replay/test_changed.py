"""A changed workflow or engine is pinned to the first step that it affects, with its line."""

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
import yaml
from tests.core.replay.conftest import TRIO

from uwf_core.client import Client
from uwf_core.testing.project import Project

EDITS = yaml.safe_load((Path(__file__).parent / "edits.yaml").read_text("utf-8"))


def edited(project: Project, edit: dict[str, Any]) -> Path:
    """The workflow with a change, also of what else must change to keep it valid."""
    old, new = edit["change"], edit["to"]
    assert TRIO.count(old) == 1, old
    text = TRIO.replace(old, new)
    if "const: done" in new:
        text = text.replace("written: {role", "done: {role")
    if "source" in new:
        text = text.replace("facts: {type", "source: {type: string}, facts: {type")
    file = project.folder / "draft" / "trio.yaml"
    file.parent.mkdir()
    file.write_text(text, "utf-8")
    return file


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit["to"])
def test_an_edit_of_the_workflow_is_pinned_to_its_step_and_line(
    project: Project, uwf: Client, story: str, edit: dict[str, Any]
) -> None:
    file, stops = edited(project, edit), edit["stops"]
    found = uwf.replay(story, str(file))
    first: Any = found["first"]
    assert found["steps"][-1]["verdict"] == stops["last"]
    if stops["verdict"] == "same":
        assert first is None
        return
    assert (first["number"], first["verdict"]) == (stops["step"], stops["verdict"]), first
    assert stops["part"] in [each["part"] for each in first["differences"]]
    causes = {each["path"]: each for each in first["causes"]}
    assert stops["cause"] in causes, causes
    line = file.read_text("utf-8").splitlines()[causes[stops["cause"]]["line"] - 1]
    assert any(key in line for key in stops["cause"].split(".")[-2:]), line


def test_another_folder_of_a_thread_that_is_resumed_is_different(
    project: Project, uwf: Client, story: str
) -> None:
    project.script([{"role": "editor", "output": {"$status": "accepted"}}] * 8)
    uwf.resume(story, "again")
    edit = {"change": "resume: {role: editor,", "to": "resume: {role: editor, location: part,"}
    first: Any = uwf.replay(story, str(edited(project, edit)))["first"]
    assert (first["number"], first["verdict"]) == (8, "different")
    assert [each["part"] for each in first["differences"]] == ["location"]
    assert [each["path"] for each in first["causes"]] == ["graph.$START.resume.location"]


def test_an_output_that_becomes_invalid_is_shown_beside_its_errors(
    project: Project, uwf: Client, story: str
) -> None:
    edit = {"change": "title: {type: string}", "to": "title: {type: string, minLength: 9}"}
    first: Any = uwf.replay(story, str(edited(project, edit)))["first"]
    shown = {each["part"]: (each["recorded"], each["now"]) for each in first["differences"]}
    assert shown["output"] == (
        "---\n$status: written\ntitle: A & B\nwords: 3\n---",
        'title: "A & B" is shorter than 9 characters',
    )


def another_body(extract: Any) -> Any:
    return lambda me, request: extract(me, request)._replace(body="?")


ENGINE: list[tuple[str, Callable[[Any], Any], int, str, str]] = [
    ("uwf_core.prompt.assemble._SCOPE", "{} Be quick.".format, 1, "stale", "prompt"),
    ("uwf_core.prompt.assemble._reminder", lambda _: str, 3, "stale", "prompt"),
    ("uwf_core.prompt.assemble.HISTORY_CHARACTERS", lambda _: 10, 7, "stale", "prompt"),
    ("uwf_core.extract.correction._FORM", "{} Now.".format, 4, "stale", "correction"),
    ("uwf_core.moderator.next.END", lambda _: "$STOP", 7, "different", "route"),
    ("uwf_core.extract.frontmatter.FrontmatterExtractor.extract", another_body, 1, "different",
     "output"),
]  # fmt: skip


@pytest.mark.parametrize("edit", ENGINE, ids=lambda edit: edit[0].rpartition(".")[2])
def test_an_edit_of_the_engine_is_pinned_to_its_step(
    uwf: Client, story: str, edit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, change, step, verdict, part = edit
    module, _, attribute = name.rpartition(".")
    owner = resolve_name(module)
    monkeypatch.setattr(owner, attribute, change(getattr(owner, attribute)))
    first: Any = uwf.replay(story)["first"]
    assert (first["number"], first["verdict"]) == (step, verdict), first
    assert part in [each["part"] for each in first["differences"]]
    assert first["causes"] == [], "the workflow is not the cause"


def test_no_step_after_a_stale_one_is_called_the_same(
    uwf: Client, story: str, project: Project
) -> None:
    edit = {"change": "Improve: ", "to": "Better: "}
    found = uwf.replay(story, str(edited(project, edit)))
    assert [each["verdict"] for each in found["steps"]] == ["same"] * 2 + ["stale"] * 5
