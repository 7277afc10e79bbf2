"""`uwf import-original`: the threads of the original uwf, to be read and forked here."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode


@command(
    "import-original",
    "uwf import-original ~ --dry-run",
    "uwf import-original ~/backup/home",
    logged=True,
)
@click.argument("folder", metavar="DIR")
@click.option("--dry-run", is_flag=True, help="Read and check all of it; store nothing.")
def import_original(session: Session, folder: str, dry_run: bool) -> int:
    """Import the threads and registered workflows of the original uwf (TypeScript).

    DIR is the folder that has `.uwf` and `.ocas`, either of these, or a copy; nothing in it is
    changed. The threads are read-only: list, read and export them, and continue one with
    `uwf thread fork`. Each keeps the steps, outputs, turns and prompts of its record.

    Recomputes every reference. A damaged file rejects the whole folder. A thread that is incomplete
    is skipped with the reason, and the exit code is 1. Run it again to import what is new.
    """
    from uwf_core.original.importing import import_original as import_home

    session.engine.imports_original = True
    document = import_home(session.engine, folder, dry_run=dry_run)
    session.emit(document, _text)
    rows = [*document["threads"], *document["workflows"]]
    return ExitCode.FAILED if any(row["result"] == "skipped" for row in rows) else ExitCode.DONE


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    return "\n".join(_lines(document, screen))


def _lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("thread", "THREAD"),
        Column("status", "STATUS", status=True),
        Column("workflowName", "WORKFLOW", least=8, rank=1),
        Column("steps", "STEPS", rank=3, right=True),
        Column("original", "ORIGINAL", rank=4),
        Column("result", "RESULT", rank=2),
    )
    if document["threads"]:
        yield table(columns, document["threads"], screen)
    for row in (*document["threads"], *document["workflows"]):
        if row["reason"] is not None:
            what = f"thread {row['original']}" if "original" in row else f"workflow {row['name']}"
            yield f"{screen.paint('skipped', 'warning')} {what}: {row['reason']}"
    for what in ("threads", "workflows"):
        counts = Counter(row["result"] for row in document[what])
        words = ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))
        yield f"{what}: {words or 'none'}"
    if document["dryRun"]:
        from shlex import quote

        yield f"nothing was stored; next: uwf import-original {quote(document['folder'])}"
    else:
        yield "next: uwf thread list --all"
