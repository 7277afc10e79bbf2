"""What is installed and set, and past commands, as people read them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.cli.render.amounts import duration, moment
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.findings import check_lines
from uwf_core.cli.render.table import Column, fields, table
from uwf_core.cli.session import as_json
from uwf_core.plugins.scan import origin_of, printable


def agents_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `agent list`."""
    columns = [
        Column("shown", "AGENT", least=8),
        Column("status", "STATUS", status=True),
        Column("from", "FROM", least=8, rank=1),
    ]
    if any(each["reason"] for each in document["agents"]):
        columns.append(Column("reason", "REASON", below=True))
    rows = [
        {
            **each,
            "shown": each["name"] + (" (default)" if each["default"] else ""),
            "from": each["use"] or origin_of(each["distribution"], each["version"]),
            "reason": each["reason"],
        }
        for each in document["agents"]
    ]
    return table(columns, rows, screen)


def readiness_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`agent check`."""
    word = "ready" if document["ready"] else "not ready"
    lines = [f"{document['agent']}: {screen.paint(word, 'ok' if document['ready'] else 'error')}"]
    if document["capabilities"]:
        lines.append(f"  can: {', '.join(document['capabilities'])}")
    if document["reason"]:
        lines.append(f"  {document['reason']}")
    if document["hint"]:
        lines.append(f"  hint: {document['hint']}")
    return "\n".join([*lines, *check_lines(document["checks"], screen)])


def plugins_text(document: Mapping[str, Any], screen: Screen, hooks: bool) -> str:
    """`plugin list`."""
    if not hooks:
        return _plugins_text(document, screen)
    rows = [{**each, "summary": None} for each in document["plugins"]]
    return f"{checked_text({'plugins': rows}, screen)}{_next(rows)}"


def _plugins_text(document: Mapping[str, Any], screen: Screen) -> str:
    columns = [
        Column("group", "GROUP", least=8, rank=3),
        Column("name", "NAME", least=14),
        Column("status", "STATUS", status=True),
        Column("distribution", "DISTRIBUTION", least=8, rank=2),
        Column("version", "VERSION", rank=4),
    ]
    if any(each["reason"] for each in document["plugins"]):
        columns.append(Column("reason", "REASON", least=10, rank=1))
    rows = [
        {**each, "name": visible(each["name"]), "reason": each["reason"] or ""}
        for each in document["plugins"]
    ]
    if not rows:
        return "no plugins"
    return f"{table(columns, rows, screen)}{_next(rows)}"


def _next(rows: Sequence[Mapping[str, Any]]) -> str:
    ready = all(each["status"] == "ready" for each in rows)
    return "" if ready else "\nnext: uwf plugin check NAME"


def visible(name: str) -> str:
    """A plugin's name, with what a terminal would not show escaped."""
    return name if name.isascii() and name.isprintable() else ascii(name)


def checked_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`plugin check`: each plugin with its state, capabilities, hooks and hint."""
    return "\n".join(line for each in document["plugins"] for line in _checked_lines(each, screen))


def _checked_lines(each: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    from uwf_core.escape import one_line

    state = "ok" if each["status"] == "ready" else "error"
    group = each["group"].removeprefix("uwf.")
    origin = printable(each["file"] or origin_of(each["distribution"], each["version"]))
    yield f"{group} {each['name']} ({origin}): {screen.paint(each['status'], state)}"
    if each.get("installed"):
        yield f"  installed: {_installed_text(each['installed'])}"
    if each["summary"]:
        yield f"  {one_line(each['summary'])}"
    if each.get("capabilities"):
        yield f"  can: {', '.join(each['capabilities'])}"
    if each["hooks"]:
        yield f"  hooks: {', '.join(each['hooks'])}"
    if each["reason"]:
        yield f"  {each['reason']}"
    if each.get("hint"):
        yield f"  hint: {each['hint']}"
    yield from check_lines(each.get("checks", ()), screen)


def _installed_text(installed: Mapping[str, Any]) -> str:
    by = f" by {installed['installer']}" if installed["installer"] else ""
    return f"{installed['location']}{by}{', editable' if installed['editable'] else ''}"


def settings_text(document: Mapping[str, Any], screen: Screen, origin: bool) -> str:
    """`config show`."""
    return _rows_text(document, screen) if origin else _value_text(document)


def setting_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`config get`."""
    return _value_text(document["value"])


def _value_text(value: Any) -> str:
    from uwf_core.yaml.text import yaml_text

    return value if isinstance(value, str) else yaml_text(value).rstrip()


def paths_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`config path`."""
    lines = [document["file"]]
    trusted = "trusted" if document["trusted"] else "not trusted"
    lines += [f"{document[key]} ({trusted})" for key in ("project", "plugins") if document[key]]
    return "\n".join(lines)


def _rows_text(document: Mapping[str, Any], screen: Screen) -> str:
    columns = (
        Column("key", "KEY", least=12),
        Column("shown", "VALUE", least=10),
        Column("origin", "ORIGIN", rank=1),
        Column("place", "PLACE", least=10, rank=2),
    )
    rows = [
        {
            **row,
            "shown": row["value"]
            if isinstance(row["value"], str)
            else as_json(row["value"], compact=True),
        }
        for row in document["settings"]
    ]
    return table(columns, rows, screen)


def entries_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`log list`."""
    columns = (
        Column("id", "ENTRY"),
        Column("when", "WHEN", rank=3),
        Column("exitCode", "EXIT", right=True),
        Column("took", "TOOK", rank=4, right=True),
        Column("words", "COMMAND", least=10),
    )
    rows = [
        {
            **each,
            "when": moment(each["atMs"]),
            "took": duration(each["durationMs"]),
            "words": "uwf " + " ".join(each["command"]),
        }
        for each in document["entries"]
    ]
    return table(columns, rows, screen) if rows else "the log is empty"


def entry_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`log show`."""
    error = document["error"] or {}
    text = fields(
        [
            ("entry", document["id"]),
            ("when", moment(document["atMs"])),
            ("command", "uwf " + " ".join(document["command"])),
            ("folder", document["cwd"]),
            ("thread", document["thread"]),
            ("exit code", str(document["exitCode"])),
            ("took", duration(document["durationMs"])),
            ("error", f"{error['code']}: {error['message']}" if error else None),
            ("where", error.get("where")),
            ("hint", error.get("hint")),
        ],
        screen,
    )
    return f"{text}\n\n{document['traceback']}" if document.get("traceback") else text


def demo_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`demo`."""
    from shlex import quote

    from uwf_core.demo.play import tests_line

    where = fields(
        [
            ("thread", f"{document['thread']}  {screen.status(document['status'])}"),
            ("tests", tests_line("before", document["testsBefore"])),
            ("", tests_line("after", document["testsAfter"])),
            ("agent", f"{document['agent']}: {document['playedBy']}"),
            ("project", document["project"]),
            ("store", document["store"]),
            ("remove", f"rm -r {quote(document['folder'])}"),
        ],
        screen,
    )
    lines = [document["text"].rstrip("\n"), "", screen.paint("─" * 40, "dim"), where, ""]
    lines.append(screen.paint("next", "bold"))
    for each in document["next"]:
        lines += [f"  {each['command']}", screen.paint(f"      {each['shows']}", "dim")]
    return "\n".join(lines)
