"""The turns of an agent as text, whole ones and growing ones."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from uwf_core.cli.render.colours import Screen
from uwf_core.extract.split import lines_of_fields


def turn_text(turn: Mapping[str, Any], screen: Screen) -> str:
    """One turn: step, role, speaker, text and tool calls."""
    return "\n".join([_turn_head(turn, screen), *(line.text for line in _turn_lines(turn, screen))])


def _turn_head(turn: Mapping[str, Any], screen: Screen) -> str:
    head = f"#{turn['number']} {turn['role']} · {turn['speaker']} {turn['index']}"
    return screen.paint(head, "bold")


class _Line(NamedTuple):
    """A line of a turn: its part, and its position there."""

    part: str
    position: int
    text: str


def _turn_lines(turn: Mapping[str, Any], screen: Screen) -> list[_Line]:
    reasoning = (turn["reasoning"] or "").strip("\n").splitlines()
    lines = [_Line("reasoning", at, screen.paint(each, "dim")) for at, each in enumerate(reasoning)]
    text = turn["text"].strip("\n")
    ahead = lines_of_fields(text)  # for uwf and not for a reader
    lines += [
        _Line("text", at, screen.paint(each, "dim") if at < ahead else each)
        for at, each in enumerate(text.splitlines())
    ]
    for at, call in enumerate(turn["toolCalls"]):
        failed = bool(call.get("isError"))
        mark = screen.paint("✗" if failed else "→", "error" if failed else "dim")
        shown = f"{mark} {call.get('name', '')} {_short(call.get('arguments'))}".rstrip()
        lines.append(_Line("call", at, shown))
    return lines


class GrowingTurns:
    """Turns that arrive again as they grow: gives each line (with its end) once it is finished."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._turn: Mapping[str, Any] | None = None
        self._given: set[_Line] = set()

    def add(self, turn: Mapping[str, Any]) -> list[str]:
        """The new lines of a turn. While it grows, its last line of text may be half a line."""
        head, before = list[str](), self._turn
        if before is None or any(before[key] != turn[key] for key in ("number", "role", "index")):
            gap = "" if before is None else "\n"
            head = [*self.end(), f"{gap}{_turn_head(turn, self._screen)}\n"]
            self._given = set()
        self._turn = turn
        lines = _turn_lines(turn, self._screen)
        return head + self._new(lines[:-1] if lines and lines[-1].part != "call" else lines)

    def end(self) -> list[str]:
        """The rest of the last turn."""
        return [] if self._turn is None else self._new(_turn_lines(self._turn, self._screen))

    def _new(self, lines: list[_Line]) -> list[str]:
        fresh = [line for line in lines if line not in self._given]
        self._given.update(fresh)
        return [f"{line.text}\n" for line in fresh]


def _short(text: Any, length: int = 200) -> str:
    line = " ".join(str(text or "").split())
    return line if len(line) <= length else line[: length - 1] + "…"
