"""Bundles: `uwf thread export`, `uwf cas import`, `uwf bundle verify`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import click

from uwf_core.cli.command import command, format_or_name
from uwf_core.cli.params import thread_argument
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError


@command(
    "export",
    "uwf thread export @last -o thread.tar",
    "uwf thread export @last --format html -o why.html",
    "uwf thread export @last -o thread.tar --attest",
    logged=True,
)
@thread_argument()
@click.option("-o", "--output", metavar="FILE", help="File to write or replace.")
@click.option("--with-files", is_flag=True, help="Include recorded files, which are not redacted.")
@click.option(
    "--attest", is_flag=True, help="Also write FILE.intoto.json, an in-toto statement to sign."
)
@format_or_name("an exporter")
def export(
    session: Session,
    thread: str,
    output: str | None,
    with_files: bool,
    attest: bool,
    name: str | None,
) -> None:
    """Write a thread, those that it called and everything reachable to one file, a bundle.

    Contains the workflow, all types, prompts, raw texts and turns, a SHA-256 of each node and a
    root over all nodes that is the same in every store. `uwf bundle verify` verifies it without
    a store, `uwf cas import` imports it. With --with-files, the recorded files of all steps come
    along, for `uwf thread fork --with-files`; a known secret in one is an error. --attest also
    writes a statement for signing tools: cosign attest-blob --statement, or ssh-keygen -Y sign.

    --format NAME writes the format of an exporter instead, without -o on stdout: html and markdown
    are the page of `uwf thread why`, atif is for Harbor, otlp-json for OpenTelemetry (with the
    texts: otlp-json-content), plugins add others (`uwf plugin list`).
    """
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
        session.emit(export_file(session.engine, thread, name, output), exported_text)


def exported_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """A file of another format than a bundle."""
    size = f"{document['format']}, {document['bytes']} bytes"
    return f"{document['file']}: thread {document['thread']}, {size}\nhead {document['head']}"


@command(
    "import",
    "uwf cas import thread.tar --dry-run",
    "uwf cas import ~/backup/home",
    logged=True,
)
@click.argument("path", metavar="PATH")
@click.option("--dry-run", is_flag=True, help="Validate only; change nothing.")
@click.option("--as-new", is_flag=True, help="Import under a new id if the thread exists already.")
def import_(session: Session, path: str, dry_run: bool, as_new: bool) -> int:
    """Import a bundle that `uwf thread export` wrote, or a folder that an importer recognizes.

    Recomputes every reference and SHA-256, and checks every node against its type and the index
    of the thread against its steps, and the recorded files. Any error rejects the whole bundle. A
    thread that exists with the same head gets only recorded files that it lacks, with another head
    it is rejected; --as-new imports either as a fork under a new id. Registered workflow names
    never change.

    Of a bundle of ocas (without a manifest), imports the nodes alone: `uwf cas get` reads them, and
    `uwf cas gc` deletes them after a day.

    Importers (`uwf plugin list`) make bundles of what other programs recorded, such as the folder
    of a user of the original uwf (uwf-import-original). Nothing there is changed, and the threads
    are read-only: continue one with `uwf thread fork`. Damage rejects all of it. A thread that is
    incomplete is skipped with the reason, and the exit code is 1. Run it again to import what is
    new.
    """
    import os

    from uwf_core.importers.import_source import import_file
    from uwf_core.maintenance.import_bundle import ImportOptions

    session.engine.imports_original = os.path.isdir(path)  # noqa: PTH112
    document: Mapping[str, Any] = import_file(session.engine, path, ImportOptions(dry_run, as_new))
    if "source" in document:
        session.emit(document, _source_text)
        rows = [*document["threads"], *document["workflows"]]
        return ExitCode.FAILED if any(row["reason"] for row in rows) else ExitCode.DONE
    session.thread = document["thread"]
    if document["thread"] is None and not dry_run:
        session.note("note: no name refers to these nodes; `uwf cas gc` deletes them after a day")
    session.emit(document, _import_text)
    return ExitCode.DONE


def _source_text(document: Mapping[str, Any], screen: Screen) -> str:
    return "\n".join(_source_lines(document, screen))


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


def _import_text(document: Mapping[str, Any], screen: Screen) -> str:
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


@command("verify", "uwf bundle verify thread.tar")
@click.argument("file", metavar="FILE")
def verify(session: Session, file: str) -> None:
    """Verify that a bundle is complete and unchanged; needs no store and writes nothing.

    Checks every reference, every SHA-256, each node against its type, that all nodes of the thread
    are present and no others, and that the index agrees with the steps; in the same way the objects
    of recorded files, if the bundle has them. Compare the root with the
    one that the sender gave you. Exit code 4 if the bundle has an error.
    """
    from uwf_core.maintenance.import_bundle import verify_bundle

    session.emit(verify_bundle(file), _verified_text)


def _verified_text(document: Mapping[str, Any], screen: Screen) -> str:
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
