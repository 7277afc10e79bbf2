"""Run on with agents from the first step that a replay does not confirm."""

from typing import TYPE_CHECKING

from uwf_core.engine.run import RunOptions, exec_thread
from uwf_core.threads.fork import fork_step

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome, Watch
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
        step: fork at this step instead.
        agent: the word of `--agent`.
        watch: gets events and notices. cancel: stops the run.

    Raises:
        WrongStateError: the workflow cannot continue from the step.
    """
    if step is None:
        if found["first"] is None:
            return None
        step = _last_good(found["first"]) or found["start"]
    forked = fork_step(engine, step, workflow, watch)["thread"]
    watch.notice(f"thread {forked} continues from {step}; earlier steps are not run again")
    return exec_thread(engine, forked, RunOptions(until_done=True, agent=agent), watch, cancel)


def _last_good(first: "ReplayedDocument") -> str | None:
    """The step after which the first attempt that is not the same has to run again; None at the
    start.
    """
    parts = {each["part"] for each in first["differences"]}
    is_kept = first["kind"] == "step" and parts <= _AFTER
    return first["step"] if is_kept else first["prev"]
