"""One thread as people read it: its start, its status, its summary, and its end."""

import json
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen, fit
from uwf_core.cli.render.table import fields
from uwf_core.cli.session import as_json
from uwf_core.errors import DefinitionError
from uwf_core.escape import clean, in_line, one_line
from uwf_core.views.recorded import open_thread
from uwf_core.workflow.variants import STATUS, variants

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


_SHOWN_FILES = 5


def started_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A new thread and the command that runs it."""
    thread = document["thread"]
    return f"{thread}\n" + screen.paint(f"next: uwf thread exec {thread}", "dim")


def thread_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`thread show`."""
    running = document["running"]
    status = screen.status(document["status"])
    if document["suspendReason"]:
        status += f" {screen.reason(document['suspendReason'])}"
    return fields(
        [
            ("thread", document["thread"]),
            ("workflow", f"{document['workflowName']} ({document['workflow']})"),
            ("task", document.get("task")),
            ("tags", "\n".join(f"{k}={v}" for k, v in document["tags"].items())),
            ("input", (given := document.get("input")) and as_json(given, compact=True)),
            ("agents", _agents_text(document)),
            ("folder", document["cwd"]),
            ("worktree", _worktree_text(document.get("worktree"))),
            ("status", status),
            ("role", document["suspendedRole"] or document["currentRole"]),
            ("reason", document["suspendMessage"]),
            ("waits for", amounts.waiting(document)),
            ("form", form_text(document.get("form"))),
            ("running", running and f"process {running['pid']} on {running['host']}"),
            ("result", _result_text(document, screen)),
            ("steps", str(document["steps"])),
            ("used", amounts.usage(document["usage"])),
            ("started", amounts.moment(document["startedAtMs"])),
            ("updated", amounts.moment(document["updatedAtMs"])),
            ("head", document["head"]),
            ("caller", document["parent"]),
            ("stack", _stack_text(document.get("stack", ()), screen)),
            ("called", _called_text(document, screen)),
            ("compacted", _compacted_text(document)),
            ("files", _files_text(document)),
            ("notice", "\n".join(document.get("notices", ()))),
            ("next", "\n".join(document.get("next", ()))),
            ("hint", document.get("hint")),
        ],
        screen,
    )


def _result_text(document: Mapping[str, Any], screen: Screen) -> str | None:
    """What a completed thread delivered, as a run shows it at its end."""
    if document.get("result") is None:
        return None
    return result_text(document["result"], screen)


def _files_text(document: Mapping[str, Any]) -> str | None:
    """The files that the newest step delivered."""
    files = document.get("files")
    if not files:
        return None
    shown = [
        f"{in_line(each['path'])} ({amounts.size(each['size'])})" for each in files[:_SHOWN_FILES]
    ]
    more = [f"and {len(files) - _SHOWN_FILES} more"] if len(files) > _SHOWN_FILES else []
    command = f"next: uwf step files {document['head']} -o DIR"
    return "\n".join([*shown, *more, command])


def _worktree_text(worktree: Mapping[str, Any] | None) -> str | None:
    if worktree is None:
        return None
    return f"{worktree['folder']}\nbranch {worktree['branch']}, from commit {worktree['base']}"


def _stack_text(stack: Sequence[Mapping[str, Any]], screen: Screen) -> str | None:
    """A line for each thread of a call, from this one down to the one whose role runs next."""
    branches = (stack[-1]["branches"] or ()) if stack else ()
    if len(stack) < 2 and not branches:
        return None
    lines = [
        " ".join(filter(None, [each["thread"], each["workflowName"], _place(each)]))
        for each in stack
    ]
    return "\n".join([*lines, *(_branch_text(each, screen) for each in branches)])


def _branch_text(branch: Mapping[str, Any], screen: Screen) -> str:
    """A branch of an open fan-out: its name or number, its thread and status."""
    why = f" ({branch['reason']})" if branch["reason"] else ""
    name = branch["index"] if branch["name"] is None else branch["name"]
    return f"  {name} {branch['thread']} {screen.status(branch['status'])}{why}"


def _place(frame: Mapping[str, Any]) -> str | None:
    return None if frame["role"] is None else f"#{frame['step']} {frame['role']}"


def _called_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The threads that it called, without those of the stack."""
    stack = document.get("stack", ())
    branches = stack[-1]["branches"] or () if stack else ()
    shown = {each["thread"] for each in (*stack, *branches)}
    children = [each for each in document.get("children", ()) if each["thread"] not in shown]
    return "\n".join(
        f"{each['thread']} {each['role']} {screen.status(each['status'])}" for each in children
    )


def _compacted_text(document: Mapping[str, Any]) -> str | None:
    """Up to which step new sessions get a summary."""
    found = document.get("compacted")
    return found and f"up to step {found['number']} ({found['step']})"


def _agents_text(document: Mapping[str, Any]) -> str:
    """The agents that the thread is bound to, as `--agent` takes them."""
    bindings = document.get("bindings") or {}
    words = [f"{path}={word}" for path, word in bindings.items()]
    return "\n".join(filter(None, (document.get("agent"), *words)))


def form_text(form: Mapping[str, Any] | None) -> str | None:
    """The ways to answer a question: a paragraph each, with its fields; a form without fields as
    JSON.
    """
    if not form:
        return None
    from uwf_core.workflow.deliverable import field_notes

    try:
        ways = [
            "\n".join([f"{STATUS}={each.status}", *field_notes(each.properties, each.required)])
            for each in variants(form)
        ]
    except DefinitionError:  # a form that an agent made need not have statuses
        ways = ["\n".join(field_notes(form.get("properties", {}), form.get("required", ())))]
    return "\n".join(ways) or as_json(form, compact=True)


_MOST_FIELDS = 5
_MOST_CELLS = 200
_MARGIN = len("result  ")


Remark = dict[str, Any]
"""A remark about a step: its number, its agent, and what it is about."""


def remarks_in(engine: "Engine", thread: str) -> dict[str, list[Remark]]:
    """The uses of tools that were denied in the steps of a thread, and the notices of these, as
    people may read them.
    """
    found: dict[str, list[Remark]] = {"denied": [], "notices": []}
    for each in [*open_thread(engine, thread).newest_first()][::-1]:
        agent = each.alias or each.node["agent"]
        for key, texts in (("denied", each.node["denials"]), ("notices", each.node["notices"])):
            for what in texts or ():
                found[key].append({"number": each.number, "agent": agent, "what": clean(what)})
    return found


def closing_text(
    thread: Mapping[str, Any], remarks: Mapping[str, Sequence[Remark]], screen: Screen
) -> str:
    """The lines after the status of a completed thread. Commands are never cut."""
    steps = thread["steps"]
    parts = [
        amounts.duration(max(thread["updatedAtMs"] - thread["startedAtMs"], 0)),
        f"{steps} step{'' if steps == 1 else 's'}",
        amounts.usage(thread["usage"]),
    ]
    own = thread["worktree"]
    pairs = (
        ("result", result_text(thread["result"], screen)),
        ("branch", own and f"{own['branch']} in {own['folder']}"),
        ("denied", _denied(remarks["denied"])),
        ("notice", "\n".join(f"#{each['number']} {each['what']}" for each in remarks["notices"])),
        ("took", ", ".join(filter(None, parts))),
        ("read", f"uwf thread read {thread['thread']}"),
        ("why", f"uwf thread why {thread['thread']}"),
    )
    return fields(pairs, screen)


def result_text(result: Mapping[str, Any] | None, screen: Screen) -> str | None:
    """What a completed thread delivered, in a few lines that fit."""
    if result is None:
        return None
    width = max(min(screen.width, _MOST_CELLS) - _MARGIN, 20)
    return "\n".join(fit(line, width) for line in _result_lines(result))


def _result_lines(result: Mapping[str, Any]) -> list[str]:
    """`reviewer: approved`, and the fields of the output; the text if it has none."""
    lines = [": ".join(map(one_line, filter(None, (result["role"], result["status"]))))]
    values = {name: value for name, value in result["output"].items() if name != "$status"}
    for name, value in list(values.items())[:_MOST_FIELDS]:
        lines.append(f"{one_line(name)}: {_short(value)}")
    if len(values) > _MOST_FIELDS:
        lines.append(f"… {len(values) - _MOST_FIELDS} more")
    if not values and result["body"].strip():
        lines.append(_short(result["body"]))
    return lines


def _denied(denied: Sequence[Remark]) -> str | None:
    """Which tools were denied in which steps, and where to see what an agent may do."""
    if not denied:
        return None
    tools = dict.fromkeys(f"{_tool(each['what'])} (#{each['number']})" for each in denied)
    agents = dict.fromkeys(each["agent"] for each in denied)
    lines = [", ".join(tools), *(f"next: uwf agent check {quote(agent)}" for agent in agents)]
    return "\n".join(lines)


def _tool(denial: str) -> str:
    """`Bash` of `Bash {"command": …}`."""
    return one_line(denial).partition(" ")[0].rstrip(":")


def _short(value: Any) -> str:
    """A value in a line: of a text its first one, and a list of plain values without brackets."""
    if isinstance(value, str):
        first, _, rest = value.strip().partition("\n")
        return one_line(first) + (" …" if rest.strip() else "")
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return one_line(", ".join(value))
    return one_line(json.dumps(value, ensure_ascii=False))


def compacted_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`thread compact`: the summary, and up to which step."""
    origin = f"thread {document['thread']} is compacted up to step {document['number']}"
    if document["agent"] is not None:
        origin += f" · {document['agent']} · {amounts.usage(document['usage'])}"
    return f"{document['summary'].strip()}\n\n{screen.paint(origin, 'dim')}"
