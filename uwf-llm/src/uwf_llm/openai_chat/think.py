"""Split a leading `<think>…</think>` from a text: many local models put their reasoning there."""

from collections.abc import Iterator
from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"

Part = tuple[Literal["text", "reasoning"], str]


class ThinkSplitter:
    """Takes the text in pieces and returns text and reasoning in pieces. Only a block at the start
    of the text is reasoning.
    """

    def __init__(self) -> None:
        self._state: Literal["start", "inside", "after", "text"] = "start"
        self._held = ""

    def feed(self, piece: str) -> Iterator[Part]:
        """The parts that `piece` completes; a few characters may be held back."""
        if self._state == "text":
            yield "text", piece
            return
        self._held += piece
        if self._state == "start":
            self._begin()
        if self._state == "inside":
            yield from self._inside()
        if self._state == "after":
            self._held = self._held.lstrip()
            if self._held:
                self._state = "text"
        if self._state == "text" and self._held:
            yield "text", self._release()

    def finish(self) -> Iterator[Part]:
        """The characters held back."""
        if self._held:
            yield ("reasoning" if self._state == "inside" else "text"), self._release()

    def _begin(self) -> None:
        """Decide whether the text begins with a block, once that is known."""
        said = self._held.lstrip()
        if said.startswith(_OPEN):
            self._state, self._held = "inside", said[len(_OPEN) :]
        elif not _OPEN.startswith(said):
            self._state = "text"

    def _inside(self) -> Iterator[Part]:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._state, self._held = "after", rest
        else:
            end = len(self._held) - _begun(self._held)
            thought, self._held = self._held[:end], self._held[end:]
        if thought:
            yield "reasoning", thought

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held


def _begun(text: str) -> int:
    """The number of characters at the end that may begin the closing tag."""
    for size in range(min(len(_CLOSE) - 1, len(text)), 0, -1):
        if text.endswith(_CLOSE[:size]):
            return size
    return 0
