"""Bundles: `uwf thread export`, and what was exported and imported as people read it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError


def export(
    session: Session,
    thread: str,
    output: str | None,
    with_files: bool,
    attest: bool,
    name: str | None,
) -> None:
    """Write a thread as a bundle, or in the format of an exporter."""
    session.thread = thread
    if name not in (None, "bundle"):
        if with_files or attest:
            option = "--with-files" if with_files else "--attest"
            raise UsageError(
                f"{option} is for bundles, not for the format {name}",
                hint=f"next: uwf thread export THREAD {option} -o FILE",
            )
        _export_format(session, thread, name, output)
    elif output is None:
        raise UsageError(
            "a bundle needs -o FILE",
            hint="next: uwf thread export THREAD -o FILE; or choose an exporter with --format NAME",
        )
    else:
        from uwf_core.maintenance.export_bundle import export_thread

        document = export_thread(
            session.engine, thread, output, with_files=with_files, attest=attest
        )
        session.emit(document, bundle_text)


def _export_format(session: Session, thread: str, name: str, output: str | None) -> None:
    from uwf_core.maintenance.export_format import export_file, export_parts

    if output is None:
        session.write_parts(export_parts(session.engine, thread, name))
    else:
        session.emit_file(export_file(session.engine, thread, name, output))


def _source_lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
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

        yield f"nothing was stored; next: uwf cas import {quote(document['source'])}"
    else:
        yield "next: uwf thread list --all"


def import_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas import`."""
    if "source" in document:
        return "\n".join(_source_lines(document, screen))
    if document["dryRun"]:
        done = f"would add {document['added']} of {document['nodes']} nodes"
    elif document["imported"]:
        done = (
            f"imported{_others(document)}; {document['added']} of {document['nodes']} nodes are new"
        )
    else:
        done = "exists already"
    if document["thread"] is None:
        return f"nodes {done}"
    if document["files"]:
        new = "would be new" if document["dryRun"] else "are new"
        done += f"; {document['filesAdded']} of {document['files']} recorded objects {new}"
    root = screen.paint(f"root {document['root']}", "dim")
    return f"{document['thread']} {done}\n{root}"


def verified_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`bundle verify`."""
    return f"bundle OK\n{bundle_text(document, screen)}"


def _others(document: Mapping[str, Any]) -> str:
    """How many threads there are besides."""
    count = document["threads"]
    return f" and {count} below it" if count else ""


def bundle_text(document: Mapping[str, Any], screen: Screen) -> str:
    """What a bundle holds, and its root."""
    files = f", {document['files']} objects of recorded files" if document["files"] else ""
    lines = [
        f"{document['file']}: thread {document['thread']}{_others(document)}, "
        f"{document['nodes']} nodes{files}",
        f"head {document['head']}",
        screen.paint(f"root {document['root']}", "dim"),
    ]
    lines += [f"not recorded {each}" for each in document.get("notRecorded", ())]
    if document.get("statement"):
        lines.append(f"{document['statement']}: an in-toto statement about it, to be signed")
    return "\n".join(lines)
