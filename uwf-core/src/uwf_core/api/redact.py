"""Redact secrets in everything that an agent returns, before it is stored.

Known values (`Redactor`) are replaced everywhere, plain and in the forms in which programs pass
values on: JSON at any depth, URL, base64 (in one line). By shape alone (`guess`) is for logs and
errors only, where a wrong guess costs nothing.

Plain searches for each form take a tenth of the time of one regular expression over all of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uwf_core.api.encodings import Folded, Form

REPLACEMENT = "[redacted]"
SHORTEST = 8
"""Shorter values are not redacted: they would match ordinary words and numbers."""
SHORTEST_LINE = 16
"""A line of a multi-line value (a PEM key) is a separate value from this length on."""


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
    def forms(self) -> "tuple[Form, ...]":
        """Every form of every value, longest first."""
        if not self._values:
            return ()
        from uwf_core.api.encodings import forms_of

        forms = {form for value in self._values for form in forms_of(value)}
        return tuple(sorted(forms, key=lambda form: (-len(form.text), form)))

    def text(self, text: str) -> str:
        """`text` without the known values."""
        if not self._values:
            return text
        return _without(text, self.spans(text))

    def partial(self, text: str) -> str:
        """Like `text`, for a text that is still growing: a prefix of a known value at its
        end (of `SHORTEST` characters or more) is redacted as well.
        """
        if not self.forms:
            return text
        folded, end = _folded(text), len(text)
        begun = min(folded.begun(form, SHORTEST) for form in self.forms)
        return _without(text, _merged([*self._found(folded), *[(begun, end)] * (begun < end)]))

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
        return _merged(self._found(_folded(text))) if self.forms else []

    def _found(self, folded: "Folded") -> Iterator[tuple[int, int]]:
        return chain.from_iterable(map(folded.stretches, self.forms))

    def _mapping(self, mapping: Mapping[Any, Any]) -> dict[Any, Any]:
        """A mapping whose keys stay distinct even if several become `[redacted]`."""
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
    """Redacts a text in arbitrary chunks: the results of `feed` and `end` together
    equal `Redactor.text` of the whole. Holds back as much as the longest known value.
    `has_found`: whether a known value was in what it returned.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._hold = max((len(form.text) for form in redactor.forms), default=0)
        self._text = ""
        self._covered = 0
        self.has_found = False

    def feed(self, chunk: str) -> str:
        """Return the text that is final by now, redacted."""
        self._text += chunk
        if not self._hold:
            return self._give(len(self._text))
        folded = _folded(self._text)
        return self._give(folded.after(max(0, len(folded.text) - self._hold)))

    def end(self) -> str:
        """Return the rest, redacted."""
        return self._give(len(self._text))

    def _give(self, until: int) -> str:
        """Return the text before `until`; a value that starts there is complete by now."""
        parts, end = [], self._covered
        for start, stop in self._redactor.spans(self._text):
            if start >= until:
                break
            self.has_found = True
            if start >= end:
                parts += [self._text[end:start], REPLACEMENT]
            end = max(end, stop)
        if end < until:
            parts.append(self._text[end:until])
        self._text = self._text[until:]
        self._covered = max(0, end - until)
        return "".join(parts)


def _parts_of(secret: str) -> Iterator[str]:
    """A secret, and its parts that are secrets: stripped of blanks, its long lines."""
    yield secret
    yield secret.strip()
    lines = secret.splitlines()
    if len(lines) > 1:
        for line in map(str.strip, lines):
            if len(line) >= SHORTEST_LINE and not line.startswith("-----"):
                yield line


def _folded(text: str) -> "Folded":
    from uwf_core.api.encodings import Folded

    return Folded(text)


def _merged(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort the spans and merge those that overlap."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(stretches):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _without(text: str, stretches: Iterable[tuple[int, int]]) -> str:
    """Replace each span of `text` with `[redacted]`."""
    parts, end = [], 0
    for start, stop in stretches:
        parts += [text[end:start], REPLACEMENT]
        end = stop
    return "".join((*parts, text[end:])) if parts else text


def guess(text: str) -> str:
    """Redact what looks like a secret in `text`: keys of known services, tokens after
    `Bearer`, values after `password=`, passwords in addresses, private keys. For logs and errors.
    """
    return _shapes().sub(lambda found: (found["keep"] or "") + REPLACEMENT, text)


@cache
def _shapes() -> re.Pattern[str]:
    """The patterns, compiled when first needed."""
    return re.compile(
        r"""
          (?P<keep>\b(?:Bearer|Basic)[\s\xa0\u202f]+
            | \b(?:api[_-]?key|access[_-]?key|(?:(?:auth|access)[_-]?)?token|secret|password|passwd)
              \b["']?[\s\xa0\u202f]*[=:][\s\xa0\u202f]*["']?
            # A port or a path is not a password: a password ends with an `@`.
            | ://[^\s/:@?\#]{1,256}: (?=[^\s"'&,;@]{8,256}@) )
          (?P<value>[^\s"'&,;@]{8,})
        | \b(?: sk-[\w-]{16,} | gh[oprsu]_\w{20,} | github_pat_\w{20,} | glpat-[\w-]{16,}
            | xox[a-z]-[\w-]{10,} | (?:AKIA|ASIA)[0-9A-Z]{16} | AIza[\w-]{35} | hf_\w{20,}
            | npm_\w{30,} | pypi-[\w-]{30,} | eyJ[\w-]{10,}\.[\w-]{5,}\.[\w-]* )
        | -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY-----(?:[^-]|-(?!----))*(?:-----END[^\n]{0,60})?
        """,
        re.VERBOSE | re.IGNORECASE | re.ASCII,  # compiled in half the time
    )
