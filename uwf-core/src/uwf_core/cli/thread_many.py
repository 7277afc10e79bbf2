"""Threads, one or many: `uwf thread cancel`, `rm`, and `uwf store prune`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from uwf_core.cli.render.colours import Screen, is_terminal
from uwf_core.cli.session import Session, now_ms
from uwf_core.cli.thread import thread_text
from uwf_core.cli.thread_list import thread_filter
from uwf_core.engine.find import find_thread
from uwf_core.errors import UsageError, UwfError, WrongStateError
from uwf_core.thread.names import FINISHED
from uwf_core.threads.cancel import cancel_thread, remove_thread
from uwf_core.views.show import show_thread

_UNFINISHED = ("idle", "running", "suspended")
_REMOVABLE = (*FINISHED, "corrupt")


def cancel(
    session: Session, threads: tuple[str, ...], yes: bool, head: str | None, **chosen: Any
) -> None:
    """Cancel threads that are named or selected."""
    from uwf_core.cli.outcome import watch

    found = _selected(session, threads, chosen, _UNFINISHED)
    if head is not None and len(found) != 1:
        raise UsageError("--head needs one THREAD", hint="name one thread")
    _confirm(session, "cancel", found, is_filter=not threads, yes=yes)
    with watch(session) as live:
        _each(
            session, found, lambda thread: cancel_thread(session.engine, thread, live, head),
            thread_text, "cancelled", is_one=len(threads) == 1,
        )  # fmt: skip


def rm(session: Session, threads: tuple[str, ...], yes: bool, **chosen: Any) -> None:
    """Delete threads that are named or selected."""
    found = _selected(session, threads, chosen, _REMOVABLE)
    _confirm(session, "delete", found, is_filter=not threads, yes=yes)
    _each(
        session, found, lambda thread: remove_thread(session.engine, thread), removed_text,
        "deleted", is_one=len(threads) == 1,
    )  # fmt: skip


def prune(session: Session, older_than: float, dry_run: bool) -> None:
    """Delete the threads that finished long ago."""
    from uwf_core.engine.documents import PrunedDocument
    from uwf_core.views.row import ThreadFilter
    from uwf_core.views.thread_list import list_threads

    before = now_ms() - int(older_than * 1000)
    rows = list_threads(session.engine, ThreadFilter(statuses=FINISHED))
    old = [row["thread"] for row in rows if row["updatedAtMs"] < before]
    documents = []
    for thread in () if dry_run else old:
        session.thread = thread
        documents.append(remove_thread(session.engine, thread))
    document: PrunedDocument = {
        "dryRun": dry_run,
        "olderThanMs": before,
        "threads": old,
        "kept": len(rows) - len(old),
        "worktrees": [each for one in documents for each in one["worktrees"]],
    }
    session.emit(document, _pruned_text)


def _pruned_text(document: Mapping[str, Any], _screen: Screen) -> str:
    count = _count(document["threads"])
    if document["dryRun"]:
        return "\n".join([*document["threads"], f"would delete {count}; next: without --dry-run"])
    return "\n".join([f"deleted {count}; next: uwf cas gc", *_worktree_lines(document)])


# -- several at once -------------------------------------------------------------------------------


def _selected(
    session: Session, words: Sequence[str], chosen: Mapping[str, Any], allowed: Collection[str]
) -> list[str]:
    """The threads that words name, or that options select; nothing has changed if this raises."""
    is_filtered = any(chosen.values())
    if words and is_filtered:
        raise UsageError(
            "THREAD cannot be combined with options that select threads",
            hint="name the threads, or select them",
        )
    if not (words or is_filtered):
        raise UsageError("no thread is named", hint="name them, or select them: --status, --tag …")
    if words:
        found = list(dict.fromkeys(find_thread(session.engine, word) for word in words))
        _check_all(session, found, allowed)
        return [str(each) for each in found]
    from uwf_core.views.thread_list import list_threads

    wanted = thread_filter(**chosen)
    other = [each for each in wanted.statuses if each not in allowed]
    if other:
        raise UsageError(
            f"threads with the status {other[0]} cannot be selected here",
            hint=f"use {', '.join(allowed)}",
        )
    if not wanted.statuses:
        wanted = wanted._replace(statuses=tuple(each for each in allowed if each != "corrupt"))
    return [row["thread"] for row in list_threads(session.engine, wanted)]


def _check_all(session: Session, threads: Sequence[str], allowed: Collection[str]) -> None:
    """Check several threads before the first one changes; a single one is checked by the action."""
    if len(threads) < 2:
        return
    rows = [show_thread(session.engine, each) for each in threads]
    wrong = [row for row in rows if row["status"] not in allowed]
    if wrong:
        shown = ", ".join(f"{row['thread']} ({row['status']})" for row in wrong)
        cancel = f"uwf thread cancel {' '.join(row['thread'] for row in wrong)}"
        possible = f"only with {', '.join(allowed)} ones"
        hint = f"next: {cancel}" if "cancelled" in allowed else possible
        raise WrongStateError(f"not possible with {shown}", hint=hint)


def _confirm(
    session: Session, verb: str, threads: Sequence[str], *, is_filter: bool, yes: bool
) -> None:
    """Show the count of selected threads, and let the person confirm it."""
    if len(threads) > 1 or is_filter:
        session.note(f"{verb} {_count(threads)}")
    if not is_filter or yes or not threads:
        return
    import sys

    if not (is_terminal(sys.stdin) and is_terminal(session.stderr)):
        raise UsageError(f"this would {verb} {_count(threads)}", hint="confirm it with --yes")
    session.stderr.write("continue? (y or n): ")
    session.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing has changed", hint="answer y to continue, or use --yes")


def _each(
    session: Session,
    threads: Sequence[str],
    act: Callable[[str], Any],
    text: Callable[[Any, Screen], str],
    done: str,
    *,
    is_one: bool,
) -> None:
    """Act on each thread and print all results; an error of one does not keep the others."""
    documents, errors = [], list[UwfError]()
    for thread in threads:
        session.thread = thread
        try:
            documents.append(act(thread))
        except UwfError as error:
            if is_one:
                raise
            errors.append(error)
    if is_one:
        session.emit(documents[0], text)
        return

    def all_text(document: Mapping[str, Any], screen: Screen) -> str:
        shown = [f"{each['thread']} {done}" for each in document["threads"]]
        kept = [line for each in document["threads"] for line in _worktree_lines(each)]
        return "\n".join([*shown, *kept]) or "no thread matches"

    session.emit({"threads": documents, "failed": len(errors)}, all_text)
    if errors:
        raise errors[0]


def removed_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """A deleted thread, and what is left of its worktree."""
    first = f"{document['thread']} deleted; `uwf cas gc` frees its nodes"
    return "\n".join([first, *_worktree_lines(document)])


def _worktree_lines(document: Mapping[str, Any]) -> list[str]:
    lines = []
    for each in document.get("worktrees") or ():
        what = "branch" if each["removed"] else "worktree" if each["branch"] else "folder"
        if each["reason"] is not None:
            place = each["branch"] if each["removed"] else each["folder"]
            how = "to remove it" if each["removed"] else "to delete all of this"
            lines += [f"{what} {place} kept: {each['reason']}", f"{how}: {each['command']}"]
    return lines


def _count(threads: Sequence[str]) -> str:
    return "1 thread" if len(threads) == 1 else f"{len(threads)} threads"
