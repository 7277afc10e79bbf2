"""Takes secrets out of everything that an agent says, before it is stored.

What is known (`Redactor`) goes wherever it stands, plain and in the forms in which programs pass
values on: JSON, URL, base64 (in one line). By shape alone (`guess`) is for logs and errors only,
where a wrong guess costs nothing.

Plain searches for each form take a tenth of the time of one regular expression over all of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

REPLACEMENT = "[redacted]"
SHORTEST = 8
"""Shorter values are not taken out: they would hit ordinary words and numbers."""
SHORTEST_LINE = 16
"""A line of a value with several lines (a PEM key) is a value of its own from this length on."""


class Redactor:
    """Replaces known values of at least `SHORTEST` characters by `[redacted]`.

    Where two of them overlap, the whole stretch is replaced once.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._values = frozenset(
            value
            for secret in secrets
            for value in _parts_of(secret)
            if len(value) >= SHORTEST and value not in REPLACEMENT
        )

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """Every form of every value, longest first."""
        if not self._values:
            return ()
        from uwf_core.agents.encodings import forms_of

        forms = {form for value in self._values for form in forms_of(value)}
        return tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def text(self, text: str) -> str:
        """`text` without the known values."""
        parts, end = [], 0
        for start, stop in self.spans(text):
            parts += [text[end:start], REPLACEMENT]
            end = stop
        return "".join((*parts, text[end:])) if parts else text

    def partial(self, text: str) -> str:
        """As `text`, for a text that is still growing: a beginning of a known value at its very
        end (of `SHORTEST` characters or more) goes as well.
        """
        text = self.text(text)
        begun = max((_begun(text, form) for form in self.forms), default=0)
        return text[: len(text) - begun] + REPLACEMENT if begun else text

    def value(self, value: Any) -> Any:
        """A JSON value without the known values: in texts, in keys, and as numbers."""
        if not self._values:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            digits = str(value)
            return value if self.text(digits) == digits else REPLACEMENT
        return value

    def stream(self) -> "StreamRedactor":
        """A redactor for a text that comes in chunks."""
        return StreamRedactor(self)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The stretches that known values cover, apart from each other, in their order."""
        found = [span for form in self.forms for span in _occurrences(text, form)]
        merged: list[tuple[int, int]] = []
        for start, stop in sorted(found):
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
            else:
                merged.append((start, stop))
        return merged

    def _mapping(self, mapping: Mapping[Any, Any]) -> dict[Any, Any]:
        """A mapping whose keys stay apart even where several become `[redacted]`."""
        clean: dict[Any, Any] = {}
        for key, item in mapping.items():
            name = plain = self.text(key) if isinstance(key, str) else key
            count = 1
            while name in clean:
                count += 1
                name = f"{plain} ({count})"
            clean[name] = self.value(item)
        return clean


class StreamRedactor:
    """Redacts a text in chunks, however it is cut: all that `feed` and `end` give, put together,
    is what `Redactor.text` gives for the whole. Holds back as much as the longest known value.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._hold = max((len(form) for form in redactor.forms), default=1) - 1
        self._text = ""
        self._covered = 0

    def feed(self, chunk: str) -> str:
        """What is certain by now, redacted."""
        self._text += chunk
        return self._give(max(0, len(self._text) - self._hold))

    def end(self) -> str:
        """The rest, redacted."""
        return self._give(len(self._text))

    def _give(self, until: int) -> str:
        """Give what lies before `until`; a value that starts there is wholly known by now."""
        parts, end = [], self._covered
        for start, stop in self._redactor.spans(self._text):
            if start >= until:
                break
            if start >= end:
                parts += [self._text[end:start], REPLACEMENT]
            end = max(end, stop)
        if end < until:
            parts.append(self._text[end:until])
        self._text = self._text[until:]
        self._covered = max(0, end - until)
        return "".join(parts)


def _parts_of(secret: str) -> Iterator[str]:
    """A secret, and what of it is one by itself: without blanks around it, its long lines."""
    yield secret
    yield secret.strip()
    lines = secret.splitlines()
    if len(lines) > 1:
        for line in map(str.strip, lines):
            if len(line) >= SHORTEST_LINE and not line.startswith("-----"):
                yield line


def _occurrences(text: str, form: str) -> Iterator[tuple[int, int]]:
    start = text.find(form)
    while start >= 0:
        yield start, start + len(form)
        start = text.find(form, start + 1)


def _begun(text: str, form: str) -> int:
    """How many characters of `form` the text ends with: 0, or `SHORTEST` and more."""
    head = form[:SHORTEST]
    start = text.find(head, max(0, len(text) - len(form) + 1))
    while start >= 0:
        if form.startswith(text[start:]):
            return len(text) - start
        start = text.find(head, start + 1)
    return 0
