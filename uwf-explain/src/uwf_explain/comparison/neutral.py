"""Compare texts of two threads without what differs by nature: ids, references, the folder."""

import re
from collections.abc import Callable, Mapping
from posixpath import relpath
from typing import Any, TypeAlias

from uwf_core.ids import B32, Ref, ThreadId

Neutral: TypeAlias = Callable[[str], str]
"""Replaces what only one thread can contain by words that are the same for every thread."""


def neutral_words(threads: Mapping[str, str], cwd: str, steps: Mapping[str, str]) -> Neutral:
    """The replacement for one thread: the ids of it and of those that it called (with the roles
    that call them), its folder, and the references of the `steps` (with their places). A prompt
    names them (`uwf thread read THREAD --before STEP`), and agents repeat them, so they do not make
    two runs of one task different.
    """
    # The folder must be a whole path: /a/b is not the beginning of /a/bc.
    folder = rf"(?<![\w./-]){re.escape(cwd)}(?![\w-]|\.\w)" if len(cwd) > 1 else r"(?!)"
    ids = rf"\b(?:[{B32}]{{{ThreadId.LENGTH}}}|[{B32}]{{{Ref.LENGTH}}})\b"
    pattern = re.compile(f"{folder}|{ids}")

    def word(found: "re.Match[str]") -> str:
        text = found[0]
        if text in threads:
            return f"<{' '.join(('thread', *filter(None, [threads[text]])))}>"
        if text == cwd:
            return "<folder>"
        return f"<step {steps[text]}>" if text in steps else text

    return lambda text: pattern.sub(word, text)


class Sides:
    """What is the same on both sides. Nearly all texts are equal as they are, so only those that
    differ are rewritten.
    """

    def __init__(self, a: Neutral, b: Neutral) -> None:
        self._a = a
        self._b = b

    def same(self, a: Any, b: Any) -> bool:
        """Whether two JSON values are the same, texts apart from what differs by nature."""
        if a == b and type(a) is type(b):
            return True
        if isinstance(a, str) and isinstance(b, str):
            return self._same_text(a, b)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            return a.keys() == b.keys() and all(self.same(a[key], b[key]) for key in a)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(self.same, a, b))
        return False

    def _same_text(self, a: str, b: str) -> bool:
        """Line by line, since few lines of a long prompt differ; no id contains a line end."""
        mine, other = a.split("\n"), b.split("\n")
        return len(mine) == len(other) and all(
            left == right or self._a(left) == self._b(right)
            for left, right in zip(mine, other, strict=True)
        )

    def line(self, a: str, b: str) -> int:
        """The number of the first line that differs, from 1."""
        mine, other = a.split("\n"), b.split("\n")
        for number, (left, right) in enumerate(zip(mine, other, strict=False), start=1):
            if not self.same(left, right):
                return number
        return min(len(mine), len(other)) + 1

    def field(self, a: Any, b: Any) -> tuple[tuple[str, ...], Any, Any]:
        """The path of the first part of two JSON values that differs, and the parts."""
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            return self._member(a, b)
        if isinstance(a, list) and isinstance(b, list):
            mine = {str(index): each for index, each in enumerate(a)}
            return self._member(mine, {str(index): each for index, each in enumerate(b)})
        return (), a, b

    def _member(
        self, a: Mapping[str, Any], b: Mapping[str, Any]
    ) -> tuple[tuple[str, ...], Any, Any]:
        for key in [*a, *(key for key in b if key not in a)]:
            if key not in a or key not in b:
                return (key,), a.get(key), b.get(key)
            if not self.same(a[key], b[key]):
                path, mine, other = self.field(a[key], b[key])
                return (key, *path), mine, other
        return (), a, b


def within(folder: str, cwd: str) -> str:
    """A folder as seen from that of its thread, which differs from run to run."""
    return relpath(folder, cwd) if folder.startswith("/") and cwd.startswith("/") else folder
