"""`uwf step`: the steps of a thread, their turns and files."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.cli.outcome import took
from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, fields, table
from uwf_core.cli.render.turns import GrowingTurns, turn_text
from uwf_core.cli.session import Session
from uwf_core.escape import clean, clean_document, in_line
from uwf_core.thread.decisions import call_of, session_of, workspace_of
from uwf_core.yaml.text import yaml_text

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def turns(session: Session, thread: str, role: str | None, live: bool, running: bool) -> None:
    """Show the turns of a thread, or follow the running step."""
    from uwf_core.views.recorded import open_thread
    from uwf_core.views.steps import follow_turns, list_turns

    found = open_thread(session.engine, thread)
    if not live:
        session.emit({"turns": list_turns(found, role, running=running)}, turns_text)
        return
    growing = GrowingTurns(session.screen)
    for turn in follow_turns(found, role):
        if session.format == "text":
            session.write("".join(growing.add(clean_document(turn))))
        else:
            session.emit_line(turn, turn_text)
        if session.reader_left:
            return
    session.write("".join(growing.end()))


_COLUMNS = (
    Column("number", "#", right=True),
    Column("step", "STEP"),
    Column("role", "ROLE", least=6),
    Column("status", "STATUS", least=6, rank=1),
    Column("agent", "AGENT", least=5, rank=3),
    Column("took", "TOOK", rank=4, right=True),
    Column("attempts", "TRIES", rank=5, right=True),
)
_CALLED = Column("called", "CALLED THREAD", rank=2)
_DENIED = Column("denied", "DENIED", least=6, rank=2)


def steps_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `step list`."""
    rows = [
        {
            **each,
            "agent": each["alias"] or each["agent"],
            "took": took(each),
            "denied": ", ".join(each["denials"]),
            "called": _called_threads(each),
        }
        for each in document["steps"]
    ]
    more = [each for each in (_CALLED, _DENIED) if any(row[each.key] for row in rows)]
    return table((*_COLUMNS, *more), rows, screen)


def step_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`step show`."""
    failure, asked = document["failure"], document["attempt"]
    head = fields(
        [
            ("step", f"{document['step']} (#{document['number']})"),
            ("thread", document["thread"]),
            ("role", document["role"]),
            ("agent", _agent(document)),
            ("status", document["status"]),
            ("failure", failure and f"{failure['kind']}: {failure['message']}"),
            ("called", _called(document)),
            ("branches", _branches(document)),
            ("session", None if document["childThread"] else _session(document)),
            ("began", amounts.moment(document["startedAtMs"])),
            ("took", None if document["answered"] else took(document)),
            ("answered", "by a person" if document["answered"] else None),
            ("used", None if document["answered"] else amounts.usage(_usage(document))),
            ("folder", asked["cwd"]),
            ("files", recorded_text(document)),
            ("skills", "\n".join(map(_guidance, asked["skills"] or ()))),
            ("denied", "\n".join(document["denials"])),
            ("notices", "\n".join(document["notices"] or ())),
            ("attempts", "\n".join(document["previousAttempts"])),
            ("replaces", asked["replaces"]),
            ("said", asked["said"]),
            ("answer", asked["answer"] and yaml_text(asked["answer"]).strip()),
            ("by", _person(asked["by"])),
        ],
        screen,
    )
    parts = [head]
    if document["output"]:
        parts.append(_section("output", yaml_text(document["output"]).rstrip(), screen))
    if (document["body"] or "").strip():
        parts.append(_section("text", document["body"].strip("\n"), screen))
    if document["delivered"]:
        lines = [f"{each['path']} ({each['size']:,} bytes)" for each in document["delivered"]]
        lines.append(f"next: uwf step files {document['step']} -o DIR")
        parts.append(_section("files", "\n".join(lines), screen))
    for correction in document["corrections"]:
        parts.append(_section("sent back", "\n".join(correction["errors"]), screen))
    if document["turns"]:
        rest = f"{len(document['turns'])}; next: uwf step read {document['step']}"
        parts.append(_section("turns", rest, screen))
    return "\n\n".join(parts)


def turns_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`step turns`."""
    return "\n\n".join(turn_text(each, screen) for each in document["turns"]) or "no turns"


def answer_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`step ask`: the answer and its origin."""
    origin = f"{document['role']} · {document['agent']} · {document['continuation']}"
    return f"{document['answer'].strip()}\n\n{screen.paint(origin, 'dim')}"


def _guidance(each: Mapping[str, Any]) -> str:
    where = "" if each["path"] == each["name"] else f" ({each['path']})"
    return f"{each['kind']} {each['name']}{where} {each['text']}"


def _agent(document: Mapping[str, Any]) -> str:
    agent = f"{document['alias']}: {document['agent']}" if document["alias"] else document["agent"]
    return " · ".join(filter(None, (agent, document["agentVersion"], document["model"])))


def _person(by: Mapping[str, str] | None) -> str | None:
    return None if by is None else f"{by['user']} on {by['host']} ({by['via']})"


def _session(document: Mapping[str, Any]) -> str | None:
    session = session_of(document)
    return session["id"] and f"{session['id']} ({session['continuation']})"


def _called(document: Mapping[str, Any]) -> str | None:
    """The called thread, and the command that reads it."""
    child = document["childThread"]
    return child and f"{child}; next: uwf thread read {child}"


def _called_threads(row: Mapping[str, Any]) -> str | None:
    """The called thread, or how many branches there were."""
    branches = row["branches"]
    if branches is None:
        thread: str | None = row["childThread"]
        return thread
    return "1 branch" if len(branches) == 1 else f"{len(branches)} branches"


def _branches(document: Mapping[str, Any]) -> str | None:
    """A line for each branch: its name or number, thread and status."""
    branches = call_of(document)["branches"]
    if branches is None:
        return None
    lines = [
        f"{number if each['name'] is None else each['name']}: {each['status']}, {each['role']}, "
        f"thread {each['thread']}"
        for number, each in enumerate(branches)
    ]
    return "\n".join(lines) or "none"


def _usage(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the step used; for a call what the called thread used in it."""
    called: Any = call_of(document)["usage"]
    is_call = document["agent"] == "workflow" and called is not None
    used: Mapping[str, Any] = called["usage"] if is_call else document["usage"]
    return used


def _section(title: str, text: str, screen: Screen) -> str:
    return f"{screen.paint(title, 'bold')}\n{text}"


def patch_text(
    document: Mapping[str, Any], screen: Screen, engine: "Engine", step: str, stat: bool
) -> str:
    """`step diff`: the changed paths, and the patch unless `stat` leaves it out."""
    from uwf_core.views.recorded import open_step
    from uwf_core.views.step_files import patch_of_step

    lines = [_changed(each, screen) for each in document["files"]]
    for path, (before, after) in document["nested"].items():
        lines.append(f"commit   {in_line(path)} ({before or 'none'} -> {after or 'none'})")
    if document["notRecorded"]:
        lines.append(f"not recorded: {document['notRecorded']}")
    count = len(document["files"])
    lines.append(f"{count} files changed" if count != 1 else "1 file changed")
    if count and not stat:
        patch = patch_of_step(engine.home, open_step(engine, step))
        lines += ["", clean(patch.rstrip())]
    return "\n".join(lines)


def _changed(change: Mapping[str, Any], screen: Screen) -> str:
    """A path with its sizes, or with what it was and is where that has changed."""
    kind = screen.paint(f"{change['kind']:<8}", "dim")
    known = (change["sizeBefore"], change["sizeAfter"])
    sides = [amounts.size(each) for each in known if each is not None]
    if change["before"] != change["after"] and change["before"] and change["after"]:
        sides = [change["before"], change["after"]]
    return f"{kind} {in_line(change['path'])} ({' -> '.join(sides)})"


_FILE_COLUMNS = (
    Column("path", "PATH", least=12),
    Column("size", "BYTES", right=True),
    Column("mode", "MODE", rank=1),
    Column("file", "NODE"),
)


def files_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`step files`."""
    rows = document["files"]
    if not rows:
        return f"step {document['step']} delivered no file"
    if document["folder"] is None:
        return table(_FILE_COLUMNS, [_file_row(each) for each in rows], screen)
    count = "1 file" if len(rows) == 1 else f"{len(rows)} files"
    return f"{count} written to {in_line(document['folder'])}"


def _file_row(file: Mapping[str, Any]) -> dict[str, Any]:
    return {**file, "path": in_line(file["path"]), "size": f"{file['size']:,}"}


def recorded_text(document: Mapping[str, Any]) -> str | None:
    """Whether the files of a step are recorded; None if that was not wanted."""
    workspace = workspace_of(document)
    if workspace is None:
        return None
    after = workspace["after"]
    if after is None:
        return "recorded before the step alone: its run was killed"
    for snapshot in (workspace["before"], after):
        if snapshot["tree"] is None:
            return f"not recorded: {snapshot['reason']}"
    size = amounts.size(after["bytes"])
    nested = f", {len(after['nested'])} nested repositories" if after["nested"] else ""
    missing = f"; not recorded: {after['reason']}" if after["reason"] else ""
    next_one = f"next: uwf step diff {document['step']}"
    return f"{after['files']} recorded, {size}{nested}{missing}; {next_one}"
