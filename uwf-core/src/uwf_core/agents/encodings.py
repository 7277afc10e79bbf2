"""The forms in which a value is found again: plain, JSON, URL, base64. Pure."""

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

_TO_URL_SAFE = str.maketrans("+/", "-_")
_ESCAPED = re.compile(r"%[0-9A-F]{2}|\\u[0-9a-f]{4}")
_SAFE_IN_URLS = ("", "/", "!'()*", ";,/?:@&=+$!*'()#")
"""What is left as it is by: `quote` with nothing safe, `quote`, JavaScript's encodeURIComponent
and encodeURI."""


def forms_of(value: str) -> set[str]:
    """All the forms of `value`."""
    forms = {value, *_json(value), *_url(value)}
    for encoded in set(_base64(value)):
        forms |= {encoded, *_url(encoded), encoded.replace("/", r"\/")}
    return forms


def _json(value: str) -> Iterator[str]:
    """Within a JSON text, and within a JSON text that is a value of another one."""
    for ascii_only in (True, False):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        for form in (once, once.replace("/", r"\/"), json.dumps(once)[1:-1]):
            yield form
            yield _other_case(form)


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
