"""A trial of a recorded step: that step alone, made again in the trial's store, and compared with
the record.
"""

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

from uwf_core.api import Cancel
from uwf_core.client import Client
from uwf_core.ids import Ref
from uwf_eval.records import Files, StepTrial
from uwf_eval.task.model import RECORDED, Case, Task, fixture_of
from uwf_eval.trial.environment import agent_word
from uwf_eval.trial.thread import ThreadRun, ThreadSummary, outcome_of, summary_of
from uwf_eval.trial.verdict import Verdict

if TYPE_CHECKING:
    from uwf_core.api import RecordedStep
    from uwf_core.client import StepInput


def word_of(given: "StepInput", chosen: str | None, task: Task, cwd: Path) -> str | None:
    """The agent of a trial: the chosen one, else that of the recorded thread; None: as configured.
    `cwd` is the base of relative paths in `--agent`.
    """
    if chosen is not None:
        return agent_word(chosen, task, cwd)
    return agent_word(given.agent, task, Path(given.base))


def _anchor(given: "StepInput", files: Files) -> str:
    """The recorded folder of which the folder of the trial is a copy."""
    is_above = files == "recorded" and PurePath(given.base).is_relative_to(given.top)
    return given.top if is_above else given.base


def restore(main: Client, given: "StepInput", folder: Path) -> None:
    """Put the recorded files into a folder.

    Raises:
        UwfError: they are missing or damaged.
        OSError: a folder cannot be created.
    """
    place = folder / PurePath(given.top).relative_to(_anchor(given, "recorded"))
    place.mkdir(parents=True, exist_ok=True)
    main.unattended.restore_files(given, str(place))


def files_of(given: "StepInput", task: Task, case: Case) -> Files:
    """What the folder of a trial holds at its beginning."""
    if case.fixture is None and given.tree is not None:
        return "recorded"
    return "none" if fixture_of(task, case) is None else "fixture"


def begin(
    client: Client, main: Client, given: "StepInput", workflow: str, folder: Path, files: Files
) -> str:
    """Create the thread of a trial, with the folder of the step; return its id.

    Args:
        client: of the trial's store. main: of the store with the recorded step.
        given: its input. workflow: as in `Cell`. folder: of the trial. files: what it holds.

    Raises:
        UwfError: a node of the recorded thread is missing or damaged.
        OSError: the folder cannot be created.
    """
    anchor = _anchor(given, files)
    place = folder / PurePath(given.base).relative_to(anchor)
    (folder / PurePath(given.cwd).relative_to(anchor)).mkdir(parents=True, exist_ok=True)
    own = Ref(given.workflow if workflow == RECORDED else workflow)
    main.nodes.copy([*given.nodes, own], client.nodes)
    return client.unattended.begin_step(given, own, str(place))


def run(
    client: Client, thread: str, given: "StepInput", word: str | None, cancel: Cancel
) -> ThreadRun:
    """Make the step.

    Raises:
        UwfError: it could not begin.
    """
    outcome = client.unattended.run_step(thread, given, word, cancel)
    if outcome.error is not None:
        raise outcome.error
    return outcome_of(outcome.document)


def read(client: Client, main: Client, thread: str, given: "StepInput") -> ThreadSummary:
    """Read the one step of a trial, for judges and reports; `recorded` is the recorded one."""
    own = [("", each) for each in own_steps(client, thread)]
    found = summary_of(client, thread, own)
    return found._replace(document={**found.document, "recorded": main.step(given.step)})


def own_steps(client: Client, thread: str) -> "list[RecordedStep]":
    """The steps that the thread made itself, without those that came with the fork."""
    newest = client.thread(thread).newest_first()
    found = []
    for step in newest:
        if step.node["thread"] != thread:
            break
        found.append(step)
    return found[::-1]


def compared(client: Client, thread: str, given: "StepInput", before: StepTrial) -> StepTrial:
    """How the trial compares with the record; a failed attempt has a prompt, and no output."""
    from dataclasses import replace

    made = own_steps(client, thread)
    tried = [*client.thread(thread).pending, *made]
    if not tried:
        return before
    last, output = tried[-1], made[-1].output if made else {}
    session = _session(given, last.node)
    folder = str(client.show(thread)["cwd"])
    return replace(
        before,
        got=made[-1].status if made else None,
        session=session,
        prompt=session != "fresh" and _same_prompt(given, last.prompt, thread, folder),
        fields=_fields(given.output, output),
        corrections=sum(len(each.corrections) for each in tried),
    )


def begun(given: "StepInput", files: Files) -> StepTrial:
    """The record of a trial that has made nothing yet."""
    return StepTrial(
        step=given.step,
        thread=given.thread,
        role=given.role,
        status=given.status,
        files=files,
    )


def _session(given: "StepInput", node: Mapping[str, Any]) -> Literal["new", "forked", "fresh"]:
    restarted = node["session"] is not None and node["session"]["continuation"] == "restarted"
    if node["attempt"]["ownSession"] and not restarted:
        return "forked"
    return "fresh" if given.own_session else "new"


def _same_prompt(given: "StepInput", prompt: str, thread: str, folder: str) -> bool:
    """Whether a prompt is the recorded one, but for the id and the folder of its thread."""
    return prompt.replace(folder, given.base).replace(thread, given.thread) == given.prompt


def _fields(recorded: Mapping[str, Any], output: Mapping[str, Any]) -> Mapping[str, bool]:
    return {
        name: name in output and output[name] == value
        for name, value in recorded.items()
        if name != "$status"
    }


def verdict_of(recorded: StepTrial) -> Verdict:
    """The verdict without judges: 1 if the status is the recorded one."""
    return Verdict("scored", None, float(recorded.same_status))
