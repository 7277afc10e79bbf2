"""The options that select recorded steps: of `run` and `new`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_core.commands import Session
    from uwf_eval.run.prepare import Request
    from uwf_eval.task.recorded import Selected, Selection

_OPTIONS: Final = (
    click.option("--from-step", "steps", multiple=True, metavar="STEP",
                 help="Recorded step to make again; repeatable."),
    click.option("--from-thread", "threads", multiple=True, metavar="T",
                 help="Make the steps of --role in this thread again; repeatable."),
    click.option("--from-workflow", "of_workflows", multiple=True, metavar="NAME",
                 help="The same for all threads of a workflow; repeatable."),
    click.option("--role", metavar="R",
                 help="Role of these steps: a name, or a path such as 'work/*' of called threads."),
    click.option("--newest", type=click.IntRange(min=1), metavar="N",
                 help="With --from-workflow, only the N newest steps."),
    click.option("--files", metavar="DIR",
                 help="Start each trial with a copy of DIR, not with the recorded files."),
)  # fmt: skip


def recorded_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def selection_of(tasks: Sequence[str], options: dict[str, Any]) -> "Selection":
    """The selection of the options, which are taken out.

    Raises:
        UsageError: neither a task nor a step is named, or the options do not belong together.
    """
    from uwf_eval.task.recorded import Selection

    names = {"of_workflows": "workflows"}
    keys = ("steps", "threads", "of_workflows", "role", "newest", "files")
    wanted = Selection(**{names.get(key, key): options.pop(key) for key in keys})
    wanted.check()
    if wanted.is_empty and not tasks:
        raise UsageError(
            "missing TASK, or recorded steps",
            hint="type a TASK, or `--from-workflow NAME --role ROLE`",
        )
    return wanted


def selected(session: "Session", client: "Client", wanted: "Selection") -> "Selected":
    """The selected steps; those that are left out are reported."""
    from uwf_eval.task.recorded import select_steps

    found = select_steps(client, wanted)
    for line in found.left_out:
        session.note(f"note: {line}")
    return found


def with_steps(
    session: "Session", client: "Client", request: "Request", wanted: "Selection"
) -> "Request":
    """The request with the selected steps."""
    if wanted.is_empty:
        return request
    steps = selected(session, client, wanted).steps
    return replace(request, steps=steps, files=wanted.files)
