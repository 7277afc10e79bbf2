"""What a thread has changed in its worktree."""

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from uwf_core.errors import WrongStateError
from uwf_core.files.worktree import FileChange, changes_since, patch_since
from uwf_core.files.worktree_place import check_place, is_worktree
from uwf_core.process.git import GitFailed
from uwf_core.views.recorded import open_thread

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


class WorktreeDiffDocument(TypedDict):
    """The changes of a thread's worktree since its base, committed or not."""

    thread: str
    folder: str
    branch: str
    base: str
    files: list[Annotated[dict[str, Any], FileChange]]


class WorktreeDiff:
    """The changes of a thread's worktree: the document, and the patch."""

    def __init__(self, engine: "Engine", word: str) -> None:
        """Find the worktree.

        Raises:
            WrongStateError: the thread has none, or it does not exist any more.
        """
        found = open_thread(engine, word)
        own, thread = found.state.worktree, found.id
        if own is None:
            raise WrongStateError(
                f"thread {thread} has no git worktree",
                hint=f"to compare two threads: uwf thread diff {thread} OTHER",
            )
        if not is_worktree(own.folder):
            raise WrongStateError(
                f"the worktree {own.folder!r} of thread {thread} is missing",
                hint=f"in the repository, if the branch exists: git diff {own.base} {own.branch}",
            )
        self._own = own
        self._thread = thread

    def document(self) -> WorktreeDiffDocument:
        """The changed files.

        Raises:
            WrongStateError: git failed.
        """
        own = self._own
        try:
            check_place(own.folder)
            files = changes_since(own.folder, own.base)
        except GitFailed as error:
            raise self._failed(error) from error
        return {
            "thread": self._thread,
            "folder": own.folder,
            "branch": own.branch,
            "base": own.base,
            "files": [each._asdict() for each in files],
        }

    def patch(self) -> bytes:
        """The changes as a patch after a summary, for `git apply`; raises as `document`."""
        try:
            return patch_since(self._own.folder, self._own.base)
        except GitFailed as error:
            raise self._failed(error) from error

    def _failed(self, error: GitFailed) -> WrongStateError:
        message = f"cannot compare {self._own.folder!r} with commit {self._own.base}: {error}"
        return WrongStateError(message, hint="`git status` in that folder may show more")
