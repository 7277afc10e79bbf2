"""The guard: what an edit may not touch, checked before any trial. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from uwf_improve.edit.parts import guarded
from uwf_improve.edit.records import Change

MOST_CHARACTERS: Final = 8_000
"""An edit adds at most so many characters in all: each step pays for them."""
SHINGLE: Final = 8
"""So many words in a row that a task has and the workflow had not are copied from the task."""

_EVALUATION: Final = (
    r"\buwf[-_ ](?:eval|improve)\b", r"\btask\.ya?ml\b", r"\bUWF_[A-Z_]+\b", r"\bjudges?\b",
    r"\bgrad(?:ers?|ing)\b", r"\brubrics?\b", r"\bscor(?:es?|ing)\b", r"\bbenchmarks?\b",
    r"\bevaluat(?:ion|or)s?\b", r"\bsealed\b", r"\bground[- ]truth\b",
    r"\bexpected[- ](?:answer|output)s?\b",
    r"\btest[- ]?(?:set|suite) (?:answers?|results?)\b", r"/proc/|\bptrace\b|\bsys\.settrace\b",
)  # fmt: skip
_TESTS: Final = (
    r"\b(?:delete|remove|skip|disable|comment out|weaken|rewrite|overwrite|edit|patch|mock|stub)\b"
    r"[^.\n]{0,60}\b(?:tests?|assert(?:ion)?s?|checks?|fixtures?|conftest)\b",
    r"\bhard[- ]?code\b", r"\bpytest\.skip\b", r"\bsys\.exit\(0\)|\bexit 0\b",
    r"\bmonkey[- ]?patch", r"\bspecial[- ]case\b",
)  # fmt: skip


def refusals(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    changes: Sequence[Change],
    secrets: Iterable[tuple[str, str]] = (),
) -> list[str]:
    """Why an edit is refused; empty if it is not.

    Args:
        before, after: the definitions, as `uwf workflow show` gives them.
        changes: of texts.
        secrets: texts of tasks and judges, each with the name of what it belongs to.
    """
    found = [f"it changes {place}, which no edit may change" for place in _touched(before, after)]
    if not changes and not found:
        found.append("it changes nothing")
    if sum(max(len(each.after) - len(each.before), 0) for each in changes) > MOST_CHARACTERS:
        found.append(f"it adds more than {MOST_CHARACTERS:,} characters")
    found += _spoken(changes)
    found += _copied(changes, secrets)
    return list(dict.fromkeys(found))


def _touched(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    yield from _different(guarded(before), guarded(after), "")


def _different(a: Any, b: Any, place: str) -> Iterator[str]:
    """The places at which two values differ, as short as possible."""
    if a == b:
        return
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in sorted({*a, *b}, key=str):
            below = f"{place}.{key}" if place else str(key)
            if key in a and key in b:
                yield from _different(a[key], b[key], below)
            else:
                yield below
    else:
        yield place


def _spoken(changes: Sequence[Change]) -> Iterator[str]:
    """Words about the evaluation, or about weaker tests, that the text did not have before."""
    for change in changes:
        for pattern in (*_EVALUATION, *_TESTS):
            there = {each.casefold() for each in re.findall(pattern, change.before, re.I)}
            for each in re.finditer(pattern, change.after, re.I):
                if each[0].casefold() not in there:
                    yield f"{change.place} speaks of {each[0]!r}; an edit must work without it"


def _copied(changes: Sequence[Change], secrets: Iterable[tuple[str, str]]) -> Iterator[str]:
    new = {change.place: _shingles(change.after) - _shingles(change.before) for change in changes}
    for name, text in secrets:
        theirs = _shingles(text)
        for place, shingles in new.items():
            if shingles & theirs:
                words = " ".join(sorted(shingles & theirs)[0])
                yield f"{place} contains words of {name}: {words!r}"


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)}
