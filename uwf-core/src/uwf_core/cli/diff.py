"""`uwf thread diff`: compare two threads, or a worktree with its base."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode


def thread_diff(session: Session, a: str, b: str | None, quota: int, output: str | None) -> int:
    """Compare two threads, or show what one has changed in its git worktree."""
    if b is None:
        return _worktree_diff(session, a, output)
    from uwf_core.views.diff.compare import compare
    from uwf_core.views.recorded import open_thread

    document = compare(open_thread(session.engine, a), open_thread(session.engine, b))
    if output is not None:
        from uwf_core.views.diff.page import diff_page

        _write(session, output, "the page", diff_page(document).encode())
    from uwf_core.cli.render.thread_diff import thread_diff_text

    session.emit(document, lambda each, screen: thread_diff_text(each, screen, quota))
    return ExitCode.DONE if document["same"] else ExitCode.FAILED


def _write(session: Session, output: str, what: str, content: bytes) -> None:
    from pathlib import Path

    from uwf_core.maintenance.replaced_file import replaced_file

    with replaced_file(Path(session.engine.cwd, output), what) as file:
        file.write(content)
    session.note(f"written: {output}")


def _worktree_diff(session: Session, thread: str, output: str | None) -> int:
    from uwf_core.views.worktree import WorktreeDiff

    found = WorktreeDiff(session.engine, thread)
    document = found.document()
    if output is not None:
        _write(session, output, "the patch", found.patch())

    def text(_: Mapping[str, Any], screen: Screen) -> str:
        from uwf_core.cli.render.thread_diff import patch_text
        from uwf_core.escape import clean

        patch = found.patch()
        shown = clean(patch.decode(errors="replace"))
        if shown.encode() != patch and output is None:
            session.note(
                "some characters are shown in another form; the exact patch: "
                f"uwf thread diff {document['thread']} -o work.patch"
            )
        return patch_text(document, shown, screen)

    session.emit(document, text)
    return ExitCode.FAILED if document["files"] else ExitCode.DONE
