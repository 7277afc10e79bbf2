"""`uwf replay`: recorded threads as regression tests."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.cli.outcome import print_outcome, running, watch
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError
from uwf_core.replay.replay import read_changed, replay_thread

if TYPE_CHECKING:
    from uwf_core.replay.replay import ReplayDocument


def replay(
    session: Session,
    threads: tuple[str, ...],
    workflow: str | None,
    allow: tuple[str, ...],
    live: bool,
    start: str | None,
    agent: str | None,
) -> int:
    """Replay threads, or run on where one differs."""
    if live:
        _check_live(threads, allow, session.format)
    elif start is not None or agent is not None:
        given = "--from" if start is not None else "--agent"
        raise UsageError(f"{given} has no effect without --live", hint="add --live")
    with watch(session) as notices:
        changed = None if workflow is None else read_changed(session.engine, workflow, notices)
    found = [replay_thread(session.engine, each, changed) for each in threads]
    if live:
        return _run_on(session, found[0], workflow, start, agent)
    if session.format == "junit":
        from uwf_core.replay.junit import junit_xml

        session.write(junit_xml(found, allow))
    else:
        session.emit({"replays": found}, replays_text)
    allowed = {"same", *allow}
    passed = all(each["verdict"] in allowed for each in found)
    return ExitCode.DONE if passed else ExitCode.FAILED


def _check_live(threads: tuple[str, ...], allow: tuple[str, ...], format: str) -> None:
    if len(threads) > 1:
        raise UsageError("--live takes one thread", hint="run the command once for each thread")
    if allow:
        raise UsageError(
            "--allow has no effect with --live", hint="name the step to continue after with --from"
        )
    if format == "junit":
        raise UsageError(
            "--live cannot print JUnit",
            hint="run it with another --format, then replay the new thread with --format junit",
        )


def _run_on(session: Session, found: "ReplayDocument", workflow: str | None, *how: Any) -> int:
    """Continue with agents from the place where the replay stops to be the same."""
    from uwf_core.replay.live import run_live

    start, agent = how
    with running(session) as (live, cancel):
        outcome = run_live(session.engine, found, workflow, start, agent, live, cancel)
    if outcome is None:
        session.emit({"replays": [found]}, replays_text)
        session.note("all steps are the same; nothing is run")
        return ExitCode.DONE
    return print_outcome(session, outcome, until_done=True)


_STYLES = {"same": "ok", "stale": "warning", "different": "error", "unreachable": "dim"}


def replays_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The replays of several threads."""
    return "\n\n".join("\n".join(_lines(each, screen)) for each in document["replays"])


def _lines(replay: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    counts = [
        screen.paint(f"{count} {verdict}", _STYLES[verdict])
        for verdict, count in replay["counts"].items()
        if count
    ]
    name = replay["workflowName"]
    version = "its own workflow" if replay["workflow"] is None else f"{name} {replay['workflow']}"
    yield f"{replay['thread']} by {version}: {', '.join(counts) or 'no steps'}"
    first = replay["first"]
    if first is not None:
        from uwf_core.replay.words import difference_text, headline

        yield headline(first)
        for difference in first["differences"]:
            yield "\n".join(_painted(difference_text(difference), screen))


def _painted(diff: str, screen: Screen) -> Iterator[str]:
    for line in diff.splitlines():
        style = {"+": "ok", "-": "error", "@": "dim"}.get(line[:1])
        yield line if style is None else screen.paint(line, style)
