"""What differs between two recorded trees: the changed paths, and a patch for people."""

from typing import Final, Literal, TypedDict

from uwf_core.errors import StoreError
from uwf_core.files.paths import shown
from uwf_core.files.repository import FilesRepository, find_repository
from uwf_core.process.git import GitFailed

Kind = Literal["added", "deleted", "modified", "mode", "type"]

_MODES: Final = {"100644": "file", "100755": "program", "120000": "link"}
_KINDS: Final[dict[str, Kind]] = {"A": "added", "D": "deleted", "M": "modified", "T": "type"}
_COMPARED: Final = ("diff-tree", "-r", "-z", "--no-renames", "--full-index")


class PathChange(TypedDict):
    r"""A path that two trees have differently.

    Attributes:
        path: bytes that are not UTF-8 are shown as `\xff`.
        kind: `mode`: only the x bit differs; `type`: a file became a link, or the reverse.
        before, after: `file`, `program` (with the x bit) or `link`; null where it is missing.
        sizeBefore, sizeAfter: in bytes.
    """

    path: str
    kind: Kind
    before: str | None
    after: str | None
    sizeBefore: int | None
    sizeAfter: int | None


def changed_paths(home: str, before: str, after: str) -> list[PathChange]:
    """The paths that differ between two trees, sorted.

    Raises:
        StoreError: a tree is missing or damaged.
    """
    repository = _repository(home)
    try:
        fields = repository.git(*_COMPARED, before, after).split(b"\0")
        rows = [(head.decode().lstrip(":").split(), path) for head, path in _pairs(fields)]
        sizes = _sizes(repository, {blob for row, _ in rows for blob in row[2:4]})
    except GitFailed as error:
        raise _missing(home, error) from error
    return [_change(row, path, sizes) for row, path in rows]


def patch(home: str, before: str, after: str) -> str:
    """The difference of two trees as a patch; bytes that are not UTF-8 are replaced.

    Raises:
        StoreError: a tree is missing or damaged.
    """
    words = ("diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv")
    try:
        return _repository(home).git(*words, before, after).decode(errors="replace")
    except GitFailed as error:
        raise _missing(home, error) from error


def _repository(home: str) -> FilesRepository:
    found = find_repository(home)
    if found is None:
        raise StoreError(
            "there are no recorded files here",
            where=home,
            hint="they stay where the thread ran",
        )
    return found


def _missing(home: str, error: GitFailed) -> StoreError:
    return StoreError(
        f"the recorded files are missing or damaged: {error}",
        where=home,
        hint="next: uwf cas verify",
    )


def _pairs(fields: list[bytes]) -> list[tuple[bytes, bytes]]:
    return list(zip(fields[0:-1:2], fields[1::2], strict=True))


def _sizes(repository: FilesRepository, blobs: set[str]) -> dict[str, int]:
    wanted = sorted(blob for blob in blobs if blob.strip("0"))
    names = "".join(f"{blob}\n" for blob in wanted).encode()
    said = repository.git("cat-file", "--batch-check=%(objectsize)", stdin=names).split()
    if len(said) != len(wanted) or not all(map(bytes.isdigit, said)):
        raise GitFailed("an object is missing")
    return dict(zip(wanted, map(int, said), strict=True))


def _change(row: list[str], path: bytes, sizes: dict[str, int]) -> PathChange:
    mode_before, mode_after, blob_before, blob_after, status = row
    kind = _KINDS[status[0]]
    if kind == "modified" and blob_before == blob_after:
        kind = "mode"
    return {
        "path": shown(path),
        "kind": kind,
        "before": _MODES.get(mode_before),
        "after": _MODES.get(mode_after),
        "sizeBefore": sizes.get(blob_before),
        "sizeAfter": sizes.get(blob_after),
    }
