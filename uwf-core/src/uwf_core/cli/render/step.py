"""Steps and turns as text."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.style import Screen
from uwf_core.cli.render.table import Column, fields, table
from uwf_core.cli.render.yaml_text import as_yaml

_COLUMNS = (
    Column("number", "#", right=True),
    Column("step", "STEP"),
    Column("role", "ROLE", least=6),
    Column("status", "STATUS", least=6, rank=1),
    Column("agent", "AGENT", least=5, rank=3),
    Column("took", "TOOK", rank=4, right=True),
    Column("attempts", "TRIES", rank=5, right=True),
)
_DENIED = Column("denied", "DENIED", least=6, rank=2)


def steps_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `step list`."""
    rows = [
        {
            **each,
            "took": amounts.duration(each["durationMs"]),
            "denied": ", ".join(each["denials"]),
        }
        for each in document["steps"]
    ]
    columns = (*_COLUMNS, _DENIED) if any(row["denied"] for row in rows) else _COLUMNS
    return table(columns, rows, screen)


def step_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`step show`."""
    failure = document["failure"]
    head = fields(
        [
            ("step", f"{document['step']} (#{document['number']})"),
            ("thread", document["thread"]),
            ("role", document["role"]),
            ("agent", _agent(document)),
            ("status", document["status"]),
            ("failure", failure and f"{failure['kind']}: {failure['message']}"),
            ("session", _session(document)),
            ("began", amounts.moment(document["startedAtMs"])),
            ("took", amounts.duration(document["durationMs"])),
            ("used", amounts.usage(document["usage"])),
            ("folder", document["cwd"]),
            ("denied", "\n".join(document["denials"])),
            ("attempts", "\n".join(document["previousAttempts"])),
            ("replaces", document["replaces"]),
        ],
        screen,
    )
    parts = [head]
    if document["output"]:
        parts.append(_section("output", as_yaml(document["output"]), screen))
    if document["body"].strip():
        parts.append(_section("text", document["body"].strip("\n"), screen))
    for correction in document["corrections"]:
        parts.append(_section("sent back", "\n".join(correction["errors"]), screen))
    if document["turns"]:
        rest = f"{len(document['turns'])}; next: uwf step read {document['step']}"
        parts.append(_section("turns", rest, screen))
    return "\n\n".join(parts)


def turns_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`step turns`."""
    return "\n\n".join(turn_text(each, screen) for each in document["turns"]) or "no turns"


def turn_text(turn: Mapping[str, Any], screen: Screen) -> str:
    """One turn: step, role, speaker, text and tool calls."""
    head = f"#{turn['number']} {turn['role']} · {turn['speaker']} {turn['index']}"
    lines = [screen.paint(head, "bold")]
    if turn["reasoning"]:
        lines.append(screen.paint(turn["reasoning"].strip("\n"), "dim"))
    if turn["text"]:
        lines.append(turn["text"].strip("\n"))
    for call in turn["toolCalls"]:
        failed = bool(call.get("isError"))
        mark = screen.paint("✗" if failed else "→", "error" if failed else "dim")
        lines.append(f"{mark} {call.get('name', '')} {_short(call.get('arguments'))}".rstrip())
    return "\n".join(lines)


def answer_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`step ask`: the answer and its origin."""
    origin = f"{document['role']} · {document['agent']} · {document['continuation']}"
    return f"{document['answer'].strip()}\n\n{screen.paint(origin, 'dim')}"


def _agent(document: Mapping[str, Any]) -> str:
    parts = [document["agent"], document["agentVersion"], document["model"]]
    return " · ".join(part for part in parts if part)


def _session(document: Mapping[str, Any]) -> str | None:
    if document["session"] is None:
        return None
    return f"{document['session']} ({document['continuation']})"


def _section(title: str, text: str, screen: Screen) -> str:
    return f"{screen.paint(title, 'bold')}\n{text}"


def _short(text: Any, length: int = 200) -> str:
    line = " ".join(str(text or "").split())
    return line if len(line) <= length else line[: length - 1] + "…"
