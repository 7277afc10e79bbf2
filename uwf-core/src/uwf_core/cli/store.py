"""Stores, their nodes, care for them, and bundles, as people read them; `uwf thread export`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.session import Session, as_json
from uwf_core.errors import UsageError
from uwf_core.maintenance.export_bundle import export_thread


def check_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`store check`."""
    counts = f"{document['threads']} threads, {document['running']} running"
    lines = [f"{document['store']}: {screen.paint('usable', 'ok')}", counts]
    lines += [
        f"{name}: {'-' if each is None else each}" for name, each in document["facts"].items()
    ]
    lines += [f"root: {document['root']}"] if document["root"] else []
    return "\n".join(lines)


def migrate_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`store migrate`."""
    applied = ", ".join(document["applied"])
    return f"{document['store']}: {'applied ' + applied if applied else 'up to date'}"


def copied_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`store copy`."""
    return "\n".join(_copy_lines(document, screen))


def _copy_lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    verb = "moved" if document["moved"] else "copied"
    counts = f"{document['nodes']} nodes, {document['variables']} names"
    yield f"{screen.paint(verb, 'ok')} {counts} to {document['to']}"
    if document["files"]:
        yield f"{document['files']} files beside the store"
    yield f"root: {document['root']}"
    yield f"not {verb}: {', '.join(document['notCopied'])}"
    if document["moved"]:
        yield f"{document['from']} is read-only now; `store` in your config.yaml names the new one"


def has_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`cas has`."""
    return "yes" if document["has"] else "no"


def node_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas get`."""
    from uwf_core.yaml.text import yaml_text

    head = f"{document['ref']} of type {document['type']}"
    return f"{screen.paint(head, 'dim')}\n{yaml_text(document['payload']).rstrip()}"


def refs_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`cas refs` and `cas walk`."""
    refs: Sequence[str] = document["refs"]
    return "\n".join(refs)


def types_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas schema list`."""
    columns = (Column("type", "TYPE"), Column("title", "TITLE", least=8))
    return table(columns, document["schemas"], screen)


def schema_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`cas schema show`."""
    return as_json(document["schema"])


def verify_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas verify`."""
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


def gc_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas gc`."""
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
