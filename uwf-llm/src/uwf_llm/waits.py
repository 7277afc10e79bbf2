"""How long a service asks to wait, by its headers, else by its error. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from uwf_core.api.moments import wait_ms

_RESET = re.compile(r"(x-|anthropic-)?rate-?limit-([a-z0-9-]*-)?reset(-[a-z0-9-]+)?")
_WAIT_KEYS = re.compile(
    r"retry_?(after|delay|in)(_?(s|sec|seconds|ms))?|resets?_?(at|in|after|time)(_?(seconds|ms))?",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"(?:try again|retry|wait|resets?)\D{0,20}?\b(?:in|after|for)\s+"
    r"((?:[0-9]+(?:\.[0-9]+)?\s*(?:ms|[smhd])[a-z]*\s*)+)",
    re.IGNORECASE,
)
_LEVELS = 6


class AskedWait(NamedTuple):
    """The wait that a service asks for; `unclear`: it named one that cannot be right."""

    seconds: float | None
    unclear: bool = False


def asked_wait(headers: Mapping[str, str], now_ms: int, error: Any = None) -> AskedWait:
    """The wait that the headers ask for (`retry-after-ms`, `Retry-After`, limits with their reset),
    else the error (`retryDelay`, `resets_at`, `retry in 9s`).
    """
    unclear = False
    for found in (_asked(headers), _resets(headers), _in_error(error, _LEVELS)):
        waits = []
        for value, unit_ms in found:
            wait = wait_ms(value, now_ms, unit_ms)
            unclear = unclear or wait is None
            waits += [] if wait is None else [wait]
        if waits:
            return AskedWait(max(waits) / 1000)
    return AskedWait(None, unclear)


def _asked(headers: Mapping[str, str]) -> Iterator[tuple[Any, int]]:
    for name, unit_ms in (("retry-after-ms", 1), ("retry-after", 1000)):
        if headers.get(name):
            first, *others = headers[name].split(", ")  # proxies add a header of their own
            yield first if all(map(str.isdecimal, (first, *others))) else headers[name], unit_ms
            return


def _resets(headers: Mapping[str, str]) -> Iterator[tuple[Any, int]]:
    """The resets of the limits that are used up, else the one that is not named for a limit."""
    found = {name: headers[name] for name in map(str.lower, headers) if _RESET.fullmatch(name)}
    used = [name for name in found if headers.get(name.replace("reset", "remaining")) == "0"]
    plain = [name for name in found if name.endswith("reset")]
    for name in used or plain:
        yield found[name], 1000


def _in_error(error: Any, levels: int) -> Iterator[tuple[Any, int]]:
    if isinstance(error, list):
        for each in error[:10]:
            yield from _in_error(each, levels - 1)
    if not isinstance(error, Mapping) or not levels:
        return
    for name, value in error.items():
        if isinstance(value, Mapping | list):
            yield from _in_error(value, levels - 1)
        elif _WAIT_KEYS.fullmatch(str(name)):
            if value is not None and value != "":
                yield value, 1 if str(name).lower().endswith("ms") else 1000
        elif isinstance(value, str) and (words := _WORDS.search(value[:20_000])):
            yield words[1], 1000
