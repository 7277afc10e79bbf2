"""A session -> a folder with the draft and its first test: the draft is run with what was recorded,
in a separate store, and the thread is kept as a bundle.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypedDict

from uwf_core.client import Client
from uwf_core.errors import UsageError, UwfError
from uwf_improve.distill.draft import RecordedVisit, RoleText, WorkflowDraft, as_yaml, draft_of
from uwf_improve.distill.phases import Course, Kind

_INHERITED: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR")
_MOST_RESULT: Final = 4000


class DraftError(UwfError):
    """A draft does not check, or its own run does not end: an error of uwf-improve."""


def record_draft(draft: WorkflowDraft, file: Path, task: str, bundle: Path) -> int:
    """Run the draft in `file` on its task with the recorded outputs, verify that the thread ends
    and replays, and write it to `bundle`.

    Returns:
        The number of its steps.

    Raises:
        DraftError: the draft does not do that.
    """
    with TemporaryDirectory(prefix="uwf-distill-") as name:
        folder = Path(name).resolve()
        script = folder / "play.json"
        script.write_text(json.dumps({"steps": [_play(draft, each) for each in draft.visits]}),
                          encoding="utf-8")  # fmt: skip
        env = {each: os.environ[each] for each in _INHERITED if each in os.environ}
        env |= {"HOME": name, "UWF_HOME": str(folder / "home"), "UWF_MOCK_SCRIPT": str(script)}
        with Client.open(env=env, cwd=folder, default_agent="mock") as client:
            return _run(client, draft, str(file), task, bundle)


def _run(client: Client, draft: WorkflowDraft, file: str, task: str, bundle: Path) -> int:
    problems = client.check_workflow(file)["problems"]
    if problems:
        raise DraftError(f"the draft does not check: {problems[0]['message']}", where=file)
    thread = client.start(file, task)["thread"]
    answers = iter([each.output for each in draft.visits if each.kind == "person"])
    outcome = client.exec(thread, until_done=True)
    while outcome.document["status"] in ("idle", "suspended"):
        done = len(client.steps(thread))
        if outcome.document["status"] == "idle":  # more steps than one call takes
            outcome = client.exec(thread, until_done=True)
        elif client.show(thread)["form"] and (answer := next(answers, None)):
            outcome = client.resume(thread, answer=answer, until_done=True)
        if len(client.steps(thread)) == done:
            break
    shown = client.show(thread)
    if shown["status"] != "completed":
        why = outcome.document.get("suspendMessage") or shown["status"]
        raise DraftError(f"the recorded run does not reach $END: {why}", where=file)
    replayed = client.replay(thread)
    if replayed["verdict"] != "same":
        raise DraftError(f"the recorded run replays as {replayed['verdict']}", where=file)
    client.export_thread(thread, bundle)
    return len(draft.visits)


def _play(draft: WorkflowDraft, visit: RecordedVisit) -> Mapping[str, Any]:
    """A step of the script of the mock agent, with the turns and tool calls of the session."""
    turns = [
        {
            "text": turn.text,
            "toolCalls": [
                {
                    "id": str(number),
                    "name": use.name or "tool",
                    "arguments": use.arguments,
                    "result": None if use.result is None else use.result[:_MOST_RESULT],
                    "isError": use.is_error,
                }
                for number, use in enumerate(turn.tools)
            ],
        }
        for turn in visit.phase.turns
    ]
    body = "\n\n".join(visit.phase.texts)
    role = _role_name(draft, visit)
    return {"role": role, "output": dict(visit.output), "body": body, "turns": turns}


def _role_name(draft: WorkflowDraft, visit: RecordedVisit) -> str:
    """The role whose schema has the fields of the visit: roles are in the order of their first
    visits.
    """
    kinds = list(dict.fromkeys(each.kind for each in draft.visits))
    roles: list[str] = list(draft.workflow["roles"])
    return roles[kinds.index(visit.kind)]


class DraftDocument(TypedDict):
    """The files of a draft; `hint`: the next command."""

    name: str
    folder: str
    workflow: str
    recorded: str
    format: str
    roles: list[str]
    steps: int
    hint: str


class DraftPrompt(TypedDict):
    """The question to the agent that names the roles."""

    prompt: str


def write_draft(
    folder: Path, name: str, course: Course, source: str, texts: Mapping[Kind, RoleText]
) -> DraftDocument:
    """Write `NAME.yaml` and `recorded/NAME.thread`; nothing stays if the draft is not right.

    Raises:
        UsageError: the folder holds something, or cannot be written. DraftError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError("the folder is not empty", where=str(folder), hint="choose another: -o")
    draft = draft_of(course, name, texts)
    file, bundle = folder / f"{name}.yaml", folder / "recorded" / f"{name}.thread"
    try:
        bundle.parent.mkdir(parents=True)
        file.write_text(as_yaml(draft, source), encoding="utf-8", errors="replace")
        steps = record_draft(draft, file, course.task, bundle)
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", where=str(folder)) from error
    except BaseException:
        _remove(file, bundle)
        raise
    return {
        "name": name,
        "folder": str(folder),
        "workflow": str(file),
        "recorded": str(bundle),
        "format": source,
        "roles": list(draft.workflow["roles"]),
        "steps": steps,
        "hint": f"uwf workflow check {file}",
    }


def _remove(file: Path, bundle: Path) -> None:
    file.unlink(missing_ok=True)
    bundle.unlink(missing_ok=True)
    bundle.parent.rmdir()
    file.parent.rmdir()
