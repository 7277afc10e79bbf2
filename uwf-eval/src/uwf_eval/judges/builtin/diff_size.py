"""The judge `diff-size`: the number of lines that differ from the fixture."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.api import JudgeReply, JudgeRequest, read_regular
from uwf_eval.judges.builtin.amounts import check_limits, graded
from uwf_eval.judges.failed import JudgeFailed

IGNORED = (
    ".git/*", "*__pycache__/*", ".pytest_cache/*", ".mypy_cache/*", ".ruff_cache/*", ".venv/*",
    "node_modules/*", "*.pyc",
)  # fmt: skip
_MOST_SHOWN = 100


@dataclass(frozen=True, kw_only=True)
class DiffSizeOptions:
    """The limits in changed lines, and the ignored files.

    Attributes:
        full: the score is 1 up to this number.
        zero: the score is 0 from this number.
        ignore: globs of ignored paths, which replace the default ones; `*` also matches `/`.
    """

    full: float | None = None
    zero: float | None = None
    ignore: Sequence[str] = IGNORED

    def __post_init__(self) -> None:
        check_limits(self.full, self.zero)


class Change(NamedTuple):
    """The numbers of added and removed lines of a file."""

    added: int
    removed: int


class DiffSize:
    """Counts added and removed lines. A line that moved within its file does not count; a binary
    file counts as one line.
    """

    def __init__(self, options: DiffSizeOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """Score the number of lines; without limits it only informs."""
        after = Path(request.cwd)
        if not after.is_dir():
            raise JudgeFailed(f"the trial's folder {after} is missing")
        before = None if request.fixture is None else Path(request.fixture)
        changes = dict(changed_files(before, after, self._options.ignore))
        lines = sum(change.added + change.removed for change in changes.values())
        options = self._options
        reply = graded("lines", lines, full=options.full, zero=options.zero)
        shown = dict(sorted(changes.items())[:_MOST_SHOWN])
        data = {
            **reply.data,
            "files": len(changes),
            "added": sum(change.added for change in changes.values()),
            "removed": sum(change.removed for change in changes.values()),
            "byFile": {name: change._asdict() for name, change in shown.items()},
        }
        return JudgeReply(score=reply.score, data=data, usage=reply.usage)


def changed_files(
    before: Path | None, after: Path, ignore: Sequence[str]
) -> Iterator[tuple[str, Change]]:
    """Each changed file with its change."""
    old = {} if before is None else _files(before, ignore)
    new = _files(after, ignore)
    for name in sorted(old.keys() | new.keys()):
        change = _change(_content(old.get(name)), _content(new.get(name)))
        if change != (0, 0):
            yield name, change


def _files(folder: Path, ignore: Sequence[str]) -> dict[str, Path]:
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if (path.is_symlink() or path.is_file()) and not any(
            fnmatchcase(name, glob) for glob in ignore
        ):
            found[name] = path
    return found


def _content(path: Path | None) -> bytes | None:
    """The content of a file, or the target of a link."""
    if path is None:
        return None
    if path.is_symlink():
        return bytes(path.readlink())
    return read_regular(path.name, within=str(path.parent))


def _change(old: bytes | None, new: bytes | None) -> Change:
    if old == new:
        return Change(0, 0)
    if _is_binary(old) or _is_binary(new):
        return Change(int(new is not None), int(old is not None))
    lines_before, lines_after = _lines(old), _lines(new)
    change = Change((lines_after - lines_before).total(), (lines_before - lines_after).total())
    # An added or removed empty file, or a changed order, also counts.
    return change if change != (0, 0) else Change(int(new is not None), int(new is None))


def _is_binary(content: bytes | None) -> bool:
    return content is not None and b"\0" in content[:8192]


def _lines(content: bytes | None) -> Counter[bytes]:
    return Counter((content or b"").splitlines())
