"""Run on with agents from the first step that a replay does not confirm."""

from typing import TYPE_CHECKING

from uwf_core.agents.choose import RolePlayer
from uwf_core.engine.agents import usual_agent
from uwf_core.engine.context import RunOptions
from uwf_core.engine.find import find_step
from uwf_core.engine.run import exec_thread
from uwf_core.errors import UsageError
from uwf_core.ids import Ref
from uwf_core.thread.history import read_start
from uwf_core.threads.fork import fork_step

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel
    from uwf_core.replay.replay import ReplayDocument, ReplayedDocument

_AFTER = {"route", "message"}
"""Parts that come after a reply: the step itself stays, only what follows it is new."""


def run_live(
    engine: "Engine",
    found: "ReplayDocument",
    workflow: str | None,
    step: str | None,
    agent: str | None,
    watch: "Watch",
    cancel: "Cancel",
) -> "Outcome | None":
    """Fork at the last step that can stay, and run until the end. None if all steps can.

    Args:
        engine: the engine.
        found: the replay of the thread.
        workflow: the word of its workflow, None for the thread's own.
        step: fork at this step of the thread instead.
        agent: the word of `--agent`.
        watch: gets events and notices. cancel: stops the run.

    Raises:
        UsageError: unknown agent; `step` is not a step of the thread. Nothing is forked.
        WrongStateError: the workflow cannot continue from the step.
    """
    if step is None:
        first = _own_first(found)
        if first is None:
            return None
        step = _last_good(first) or found["start"]
    else:
        step = _own_step(engine, found, step)
    _check_agent(engine, found, agent)
    forked = fork_step(engine, step, workflow)["thread"]
    watch.notice(f"thread {forked} continues from {step}; earlier steps are not run again")
    return exec_thread(engine, forked, RunOptions(until_done=True, agent=agent), watch, cancel)


def _own_first(found: "ReplayDocument") -> "ReplayedDocument | None":
    """The first attempt of the thread itself that is not the same: a call runs again as a whole."""
    own = (each for each in found["steps"] if each["thread"] == found["thread"])
    return next((each for each in own if each["verdict"] != "same"), None)


def _last_good(first: "ReplayedDocument") -> str | None:
    """The step after which the first attempt that is not the same has to run again; None at the
    start.
    """
    parts = {each["part"] for each in first["differences"]}
    is_kept = first["kind"] == "step" and parts <= _AFTER
    return first["step"] if is_kept else first["prev"]


def _own_step(engine: "Engine", found: "ReplayDocument", word: str) -> str:
    step, thread = find_step(engine, word), found["thread"]
    own = {each["step"] for each in found["steps"] if each["thread"] == thread}
    if step != found["start"] and step not in own:
        raise UsageError(
            f"step {step} is not a step of thread {thread}", hint=f"next: uwf step list {thread}"
        )
    return step


def _check_agent(engine: "Engine", found: "ReplayDocument", agent: str | None) -> None:
    """Check that there is an agent: without one, no thread is left behind."""
    begun = read_start(engine.store, Ref(found["start"]))
    catalog, first = engine.agent_catalog(begun["cwd"]), _own_first(found)
    player = RolePlayer("" if first is None else first["role"])
    choice = usual_agent(engine, catalog, found["workflowName"], player, begun, flag=agent)
    engine.check_plugin(choice.plugin)
