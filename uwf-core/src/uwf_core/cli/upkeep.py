"""Care for the store: `uwf cas verify`, `uwf cas gc`."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.params import Span
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError


@command(
    "verify",
    "uwf cas verify",
    "uwf cas verify @last",
    "uwf cas verify --repair --from thread.tar",
    logged=True,
)
@click.argument("word", metavar="[REF|THREAD]", required=False)
@click.option("--repair", is_flag=True, help="Repair what steps or a bundle can restore.")
@click.option("--from", "bundle", metavar="BUNDLE", help="Take intact nodes from this bundle.")
def verify(session: Session, word: str | None, repair: bool, bundle: str | None) -> int:
    """Verify that nothing in the store was lost or changed.

    Checks the reference, the SHA-256 and the type of every node, references to missing nodes,
    every name, and each thread's head against its steps. Lists the damage and the affected
    threads, which are marked as corrupt. With a thread or a node, checks only what is reachable
    from it. Exit code 1 if anything is damaged.

    --repair rebuilds heads from their steps; with --from it restores damaged and missing nodes
    from a bundle. A repaired thread is no longer marked as corrupt.
    """
    from uwf_core.maintenance.repair import VerifyOptions, verify_store

    if bundle is not None and not repair:
        raise UsageError("--from needs --repair", hint="add --repair, or omit --from")
    document = verify_store(session.engine, VerifyOptions(word, repair, bundle))
    session.emit(document, _verify_text)
    return ExitCode.DONE if document["valid"] else ExitCode.FAILED


def _verify_text(document: Mapping[str, Any], screen: Screen) -> str:
    return "\n".join(_verify_lines(document, screen))


def _verify_lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    for each in document["repaired"]:
        yield f"{screen.paint('repaired', 'ok')} {each}"
    for problem in document["problems"]:
        what = problem["node"] or problem["variable"] or "store"
        yield f"{screen.paint(problem['kind'], 'error')} {what}: {problem['message']}"
        if problem["threads"]:
            yield f"  threads: {', '.join(problem['threads'])}"
    counts = ", ".join(f"{document[what]} {what}" for what in ("nodes", "variables", "threads"))
    if document["valid"]:
        yield f"{counts}: store OK"
    else:
        damaged = f"{len(document['damaged'])} threads damaged"
        yield f"{counts}: {len(document['problems'])} problems, {damaged}"


@command("gc", "uwf cas gc --dry-run", "uwf cas gc --grace 7d", logged=True)
@click.option("--dry-run", is_flag=True, help="Print what would be deleted; change nothing.")
@click.option(
    "--grace",
    type=Span(),
    default="1d",
    show_default=True,
    metavar="D",
    help="Keep nodes stored within this time: 7d, 12h, 30m, 0s.",
)
def gc(session: Session, dry_run: bool, grace: float) -> None:
    """Delete unreachable nodes; print what was kept and why.

    Kept: all nodes reachable from threads, registered workflows, running attempts, their turns and
    events, and other names. Deleted: nodes that only a removed thread used, its recorded files, and
    cached sessions of questions about its steps. Threads may run meanwhile. The file does not
    shrink: SQLite reuses the free space.
    """
    from uwf_core.maintenance.gc import CollectOptions, collect_garbage

    options = CollectOptions(grace_seconds=grace, dry_run=dry_run)
    session.emit(collect_garbage(session.engine, options), _gc_text)


def _gc_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("reason", "KEPT FOR", least=8),
        Column("variables", "NAMES", right=True),
        Column("nodes", "NODES", right=True),
    )
    verb = "would be deleted" if document["dryRun"] else "freed"
    lines = [table(columns, document["kept"], screen)] if document["kept"] else []
    lines.append(f"{document['freed']} of {document['nodes']} nodes {verb}")
    if document["dropped"]:
        lines.append(f"{len(document['dropped'])} cached sessions of questions {verb}")
    if document["files"]:
        lines.append(f"{document['files']} objects of recorded files {verb}")
    return "\n".join(lines)
