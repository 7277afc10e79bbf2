"""The judge `diff-size`: how many lines differ from the fixture."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest
from uwf_core.api.record import record
from uwf_core.named_tuple import NamedTuple
from uwf_eval.judges.builtin.amounts import check_limits, graded
from uwf_eval.judges.failed import JudgeFailed

IGNORED = (
    ".git/*",
    "*__pycache__/*",
    ".pytest_cache/*",
    ".mypy_cache/*",
    ".ruff_cache/*",
    ".venv/*",
    "node_modules/*",
    "*.pyc",
)
_MOST_SHOWN = 100


@record
class DiffSizeOptions:
    """Changed lines: `full` gives 1 up to there, `zero` 0 from there on. `ignore`: globs of paths
    that count for nothing, in the place of the usual ones; `*` matches `/` as well.
    """

    full: float | None = None
    zero: float | None = None
    ignore: Sequence[str] = IGNORED

    def __post_init__(self) -> None:
        check_limits(self.full, self.zero)


class Change(NamedTuple):
    """How a file differs: lines that are new, lines that are gone."""

    added: int
    removed: int


class DiffSize:
    """Counts the lines that are new and those that are gone; a line that only moved within its
    file counts for nothing, and a file that is no text counts as one line.
    """

    def __init__(self, options: DiffSizeOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The grade of the number of lines; without limits it only informs."""
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
    """Every file that is not as it was, with how it differs."""
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
    """What is in a file; of a link, where it leads."""
    if path is None:
        return None
    return bytes(path.readlink()) if path.is_symlink() else path.read_bytes()


def _change(old: bytes | None, new: bytes | None) -> Change:
    if old == new:
        return Change(0, 0)
    if _is_binary(old) or _is_binary(new):
        return Change(int(new is not None), int(old is not None))
    lines_before, lines_after = _lines(old), _lines(new)
    change = Change((lines_after - lines_before).total(), (lines_before - lines_after).total())
    # An empty file that came or went, or an order that changed, is a change all the same.
    return change if change != (0, 0) else Change(int(new is not None), int(new is None))


def _is_binary(content: bytes | None) -> bool:
    return content is not None and b"\0" in content[:8192]


def _lines(content: bytes | None) -> Counter[bytes]:
    return Counter((content or b"").splitlines())
