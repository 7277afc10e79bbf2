"""Starts of threads that are planned now and made later, by schedules."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.engine.watch import Watch
from uwf_core.errors import UsageError
from uwf_core.ids import ThreadId
from uwf_core.thread.names import head_name
from uwf_core.threads.start import StartOptions, check_start, start_thread

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

_LATER = ("thread", "queue")
"""The options that a plan leaves open."""


def plan_start(engine: "Engine", options: StartOptions, watch: Watch) -> dict[str, Any]:
    """What to start, as JSON, without secrets; seen from the folder of the engine. Stores nothing.
    Errors as `start_thread`.
    """
    check_start(engine, options, watch)
    fields = {key: value for key, value in options._asdict().items() if key not in _LATER}
    clean: dict[str, Any] = engine.redactor.value({**fields, "folder": engine.cwd})
    return clean


def start_planned(
    engine: "Engine", plan: Mapping[str, Any], thread: str, tags: Mapping[str, str], watch: Watch
) -> None:
    """Create the thread of a plan with this id, and hand it to workers; nothing if it exists, so
    the call can be repeated. Errors as `start_thread`.
    """
    if engine.store.rows(head_name(ThreadId.parse(thread)), limit=1):
        return
    fields = {key: value for key, value in plan.items() if key != "folder"}
    try:
        options = StartOptions(**fields)
    except TypeError as error:
        raise UsageError(
            "the plan was made by another version of uwf", hint="add the schedule again"
        ) from error
    named = options._replace(thread=thread, queue=True, tags={**options.tags, **tags})
    start_thread(engine, named, watch)
