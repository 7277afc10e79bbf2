"""Threads and the results of their runs, as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.style import Screen
from uwf_core.cli.render.table import Column, fields, table
from uwf_core.cli.session import now_ms

_COLUMNS = (
    Column("thread", "THREAD"),
    Column("status", "STATUS", status=True),
    Column("workflowName", "WORKFLOW", least=6, rank=2),
    Column("role", "ROLE", least=5, rank=3),
    Column("steps", "STEPS", rank=4, right=True),
    Column("updated", "UPDATED", rank=5, right=True),
)


def threads_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `thread list`."""
    threads: Sequence[Mapping[str, Any]] = document["threads"]
    if not threads:
        return "no unfinished threads; next: uwf thread list --all"
    now = now_ms()
    rows = [
        {
            **each,
            "role": each["suspendedRole"] or each["currentRole"],
            "updated": amounts.ago(each["updatedAtMs"], now),
        }
        for each in threads
    ]
    return table(_COLUMNS, rows, screen)


def thread_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`thread show`."""
    running = document["running"]
    status = screen.status(document["status"])
    if document["suspendReason"]:
        status += f" ({document['suspendReason']})"
    return fields(
        [
            ("thread", document["thread"]),
            ("workflow", f"{document['workflowName']} ({document['workflow']})"),
            ("status", status),
            ("role", document["suspendedRole"] or document["currentRole"]),
            ("reason", document["suspendMessage"]),
            ("form", _form(document.get("form"))),
            ("running", running and f"process {running['pid']} on {running['host']}"),
            ("steps", str(document["steps"])),
            ("used", amounts.usage(document["usage"])),
            ("started", amounts.moment(document["startedAtMs"])),
            ("updated", amounts.moment(document["updatedAtMs"])),
            ("head", document["head"]),
            ("next", document.get("hint")),
        ],
        screen,
    )


def exec_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The result of `exec`, `run`, `resume`, `poke` and `wait`."""
    lines = [step_line(each, screen) for each in document["steps"]]
    last = document["steps"][-1] if document["steps"] else None
    follows = f"; next: {last['currentRole']}" if last and document["status"] == "idle" else ""
    lines.append(f"{document['thread']} {screen.status(document['status'])}{follows}")
    if follows:
        lines.append(screen.paint(f"next: uwf thread exec {document['thread']}", "dim"))
    if document["suspendMessage"]:
        lines.append(document["suspendMessage"])
        lines.append(screen.paint(f"next: uwf thread show {document['thread']}", "dim"))
    return "\n".join(lines)


def step_line(step: Mapping[str, Any], screen: Screen) -> str:
    """One step of an exec: its id, role, agent, time and failure."""
    failure = step["failure"]
    parts = [step["step"] or "–", step["role"] or "–", step["agent"] or "–"]
    parts.append(amounts.duration(step["durationMs"]))
    if failure:
        until = failure["until"]
        when = "" if until is None else f" (until {amounts.moment(until)})"
        parts.append(screen.paint(f"{failure['kind']}: {failure['message']}{when}", "error"))
    return "  ".join(parts)


def started_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A new thread and the command that runs it."""
    thread = document["thread"]
    return f"{thread}\n" + screen.paint(f"next: uwf thread exec {thread}", "dim")


def _form(form: Any) -> str | None:
    """The ways to answer, with their fields."""
    if not form:
        return None
    from uwf_core.cli.render.form import form_text

    return form_text(form)
