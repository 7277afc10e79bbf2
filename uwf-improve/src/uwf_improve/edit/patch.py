"""Apply a unified diff to a text. Strict: the lines of the diff must be those of the text."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from uwf_core.errors import UsageError

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def patched(patch: str, texts: Mapping[str, str]) -> dict[str, str]:
    """The changed texts by path.

    Args:
        patch: as `git diff` and `diff -u` write it; paths count by their ends.
        texts: of the files that may change, by their paths.

    Raises:
        UsageError: it names another file, or does not fit.
    """
    found = dict[str, str]()
    for path, lines in _files(patch):
        names = [each for each in texts if path == each or path.endswith(f"/{each}")]
        if len(names) != 1:
            raise UsageError(
                f"the patch changes {path!r}", hint=f"it may change: {', '.join(texts)}"
            )
        found[names[0]] = _apply(texts[names[0]], lines, path)
    if not found:
        raise UsageError("the patch is empty", hint="write it with `git diff` or `diff -u`")
    return found


def _files(patch: str) -> Iterator[tuple[str, list[str]]]:
    """The path of each file after the patch, and the lines of its hunks."""
    path, lines, before = None, list[str](), ""
    for line in patch.split("\n"):
        if line.startswith("+++ ") and before.startswith("--- "):
            if path is not None:
                yield path, lines[:-1]
            path, lines = line[4:].split("\t")[0].strip(), []
        elif path is not None:
            lines.append(line)
        before = line
    if path is not None:
        yield path, lines


def _apply(text: str, lines: list[str], path: str) -> str:
    old, new, at = text.split("\n"), list[str](), 0
    left = 0
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk and not left:
            begin = max(int(hunk[1]) - (hunk[2] != "0"), 0)  # of no lines: the line before
            new += old[at:begin]
            at, left = begin, int(hunk[2] or 1)
            continue
        mark, rest = line[:1], line[1:]
        if mark in (" ", "-"):
            if at >= len(old) or old[at] != rest:
                raise UsageError(
                    f"the patch does not fit line {at + 1}", where=path,
                    hint="write it against the present file",
                )  # fmt: skip
            at, left = at + 1, left - 1
        if mark in (" ", "+"):
            new.append(rest)
    return "\n".join([*new, *old[at:]])
