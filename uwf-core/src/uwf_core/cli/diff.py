"""`uwf thread diff` and `uwf workflow diff`: compare two threads, or two workflows."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.params import quota_option
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode


@command(
    "diff",
    "uwf thread diff 01JD8ZK3 @last",
    "uwf thread diff 01JD8ZK3 @last -o diff.html",
    "uwf thread diff @last -o work.patch",
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="[B]", required=False)
@quota_option()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write one HTML page, side by side; with A alone, the patch for `git apply`.",
)
def thread_diff(session: Session, a: str, b: str | None, quota: int, output: str | None) -> int:
    """Compare two threads, or show what one has changed in its git worktree.

    Two threads are a fork and its origin, or two runs of one task.

    Names the first divergence: the step, and in what it differs first. Then shows the steps side
    by side: first the common ones, then the first of each role beside the first, the second beside
    the second. Times, sessions, ids, agents and usage are shown, but do not count as a divergence.

    With A alone: the changes of the thread's worktree since the commit at which it begins,
    committed or not, as a patch.

    Exit code 0 without a divergence or change, 1 with one; errors have their own codes, 2 for an
    unknown thread.
    """
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


@command(
    "diff",
    "uwf workflow diff fix-bug ./fix-bug.yaml",
    "uwf workflow diff ./fix-bug.yaml",
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="[B]", required=False)
def workflow_diff(session: Session, a: str, b: str | None) -> int:
    """Compare two workflows by meaning: roles, statuses, fields, edges, texts.

    A is the old version and B the new one: names, files or references. With A alone, the
    registered version of its name is the old one. Nothing is stored.

    Each change is compatible or breaking, once for forks (threads of the old version that
    continue on the new one) and once for callers (workflows that use the result).

    Exit code 0 without a difference, 1 with one; errors have their own codes, 2 for an unknown
    workflow, 4 for a file with errors.
    """
    from uwf_core.cli.outcome import watch
    from uwf_core.cli.render.workflow_diff import workflow_diff_text
    from uwf_core.views.workflow_diff import diff_workflows

    with watch(session) as live:
        document = diff_workflows(session.engine, a, b, live)
    session.emit(document, workflow_diff_text)
    return ExitCode.DONE if document["same"] else ExitCode.FAILED
