"""`uwf thread diff`: compare two threads (of uwf-explain), or a worktree with its base."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode
from uwf_core.escape import clean, in_line
from uwf_core.operations.rows import function_of


def thread_diff(session: Session, a: str, b: str | None, quota: int, output: str | None) -> int:
    """Compare two threads, or show what one has changed in its git worktree."""
    if b is None:
        return _worktree_diff(session, a, output)
    what = "`uwf thread diff` of two threads"
    compare = function_of("uwf_explain.commands:thread_diff", "uwf-explain", what)
    code: int = compare(session, a, b, quota, output)
    return code


def _worktree_diff(session: Session, thread: str, output: str | None) -> int:
    from uwf_core.views.worktree import WorktreeDiff

    found = WorktreeDiff(session.engine, thread)
    document = found.document()
    if output is not None:
        session.write_file(output, "the patch", [found.patch()])
        session.note(f"written: {output}")

    def text(_: Mapping[str, Any], screen: Screen) -> str:
        patch = found.patch()
        shown = clean(patch.decode(errors="replace"))
        if shown.encode() != patch and output is None:
            session.note(
                "some characters are shown in another form; the exact patch: "
                f"uwf thread diff {document['thread']} -o work.patch"
            )
        return _patch_text(document, shown, screen)

    session.emit(document, text)
    return ExitCode.FAILED if document["files"] else ExitCode.DONE


def _patch_text(document: Mapping[str, Any], patch: str, screen: Screen) -> str:
    """The changes of a worktree: where it is, and the patch, harmless."""
    begin = f"branch {in_line(document['branch'])}, since commit {document['base']}"
    head = f"{in_line(document['folder'])}\n{begin}"
    if not document["files"]:
        return f"{head}\n\n{screen.paint('no change', 'ok')}"
    lines = (_painted(line, screen) for line in patch.rstrip("\n").split("\n"))
    return f"{head}\n\n" + "\n".join(lines)


def _painted(line: str, screen: Screen) -> str:
    if line.startswith(("diff ", "--- ", "+++ ")):
        return screen.paint(line, "bold")
    return screen.paint(line, {"+": "ok", "-": "error"}.get(line[:1], ""))
