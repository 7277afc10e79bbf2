"""The encoded forms of a value: plain, JSON, URL, base64. Pure.

A JSON text that is a value of another one, and that of a third, differ in their backslashes alone.
So forms are searched in a text without any (`Folded`), at any depth.
"""

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote, quote_plus

SHORTEST_FOLDED = 4
"""Shorter forms without backslashes occur in every text."""

_TO_URL_SAFE = str.maketrans("+/", "-_")
_TO_HTML_SAFE = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&"})
_ESCAPED = re.compile(r"%[0-9A-F]{2}|\\u[0-9a-f]{4}")
_SAFE_IN_URLS = ("", "/", "!'()*", ";,/?:@&=+$!*'()#")
"""The characters left unchanged by: `quote` with nothing safe, `quote`, JavaScript's
encodeURIComponent and encodeURI."""


class Form(NamedTuple):
    """A form to search for in a folded text.

    Attributes:
        text: without backslashes.
        least: how many characters it has at least, its backslashes with it.
        open: it ends with a backslash.
    """

    text: str
    least: int
    open: bool


class Folded:
    """A text without its backslashes, with the mapping to the original positions."""

    def __init__(self, whole: str) -> None:
        self.text = whole.replace("\\", "")
        self._whole = whole

    @cached_property
    def _ends(self) -> list[int]:
        """After how many characters of the folded text the whole has a backslash, each time; and
        the end.
        """
        return list(accumulate(map(len, self._whole.split("\\"))))

    def stretches(self, form: Form) -> Iterator[tuple[int, int]]:
        """The spans of a form in the whole text."""
        start = self.text.find(form.text)
        while start >= 0:
            stop = start + len(form.text)
            stretch = self.after(start), self._before(stop) if form.open else self.after(stop)
            if stretch[1] - stretch[0] >= form.least:
                yield stretch
            start = self.text.find(form.text, start + 1)

    def begun(self, form: Form, shortest: int) -> int:
        """Where in the whole a beginning of a form begins with which it ends, of `shortest`
        characters or more (all of them, if a backslash may follow); its size if there is none.
        """
        head = form.text[:shortest]
        start = self.text.find(head, max(0, len(self.text) - len(form.text)))
        while start >= 0:
            if form.text.startswith(self.text[start:]):
                return self.after(start)
            start = self.text.find(head, start + 1)
        return len(self._whole)

    def after(self, count: int) -> int:
        """Where in the whole the first `count` characters end; then come backslashes, if any."""
        return self._before(count - 1) + 1 if count else 0

    def _before(self, count: int) -> int:
        """Where the next one begins."""
        return min(count + bisect_right(self._ends, count), len(self._whole))


def forms_of(value: str) -> Iterator[Form]:
    """All the forms of `value`."""
    written = {value, *_json(value), *_url(value)}
    for encoded in set(_base64(value)):
        written |= {encoded, *_url(encoded)}
    shortest_last = sorted(written, key=len, reverse=True)
    for text, form in {form.replace("\\", ""): form for form in shortest_last}.items():
        if len(text) >= SHORTEST_FOLDED:
            yield Form(text, len(form), form.endswith("\\"))


def _json(value: str) -> Iterator[str]:
    """Within a JSON text: of characters beyond ASCII, of signs of HTML, in either way."""
    for ascii_only in (True, False):
        form = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        for each in (form, form.translate(_TO_HTML_SAFE)):
            yield each
            yield _other_case(each)


def _url(value: str) -> Iterator[str]:
    forms = [quote(value, safe=safe, errors="replace") for safe in _SAFE_IN_URLS]
    for form in (*forms, quote_plus(value, errors="replace")):
        yield form
        yield _other_case(form)


def _other_case(form: str) -> str:
    """Hexadecimal digits of escapes in the other case than Python writes them."""

    def swap(escape: re.Match[str]) -> str:
        return escape[0].lower() if escape[0][0] == "%" else r"\u" + escape[0][2:].upper()

    return _ESCAPED.sub(swap, form)


def _base64(value: str) -> Iterator[str]:
    """The characters of base64 (RFC 4648) that `value` alone decides, at each of the three
    positions that it can have within what is encoded, in both alphabets.
    """
    data = value.encode(errors="replace")
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode()
        first = -(-before * 8 // 6)
        stable = encoded[first : (before + len(data)) * 8 // 6]
        yield stable
        yield stable.translate(_TO_URL_SAFE)
