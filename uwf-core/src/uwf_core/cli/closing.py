"""The last lines of a completed thread: what came out, what it took, and how to read it."""

import json
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen, fit
from uwf_core.cli.render.table import fields
from uwf_core.escape import clean, one_line

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

_MOST_FIELDS = 5
_MOST_CELLS = 200
_MARGIN = len("result  ")


Remark = dict[str, Any]
"""A remark about a step: its number, its agent, and what it is about."""


def remarks_in(engine: "Engine", thread: str) -> dict[str, list[Remark]]:
    """The uses of tools that were denied in the steps of a thread, and the notices of these, as
    people may read them.
    """
    from uwf_core.views.recorded import open_thread

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
