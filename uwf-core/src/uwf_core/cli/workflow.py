"""Workflows as people read them; `uwf workflow check`: every error, and how long they can run."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.findings import check_text
from uwf_core.cli.render.lines import changed_lines
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError
from uwf_core.fields.records import read_record, write_record

if TYPE_CHECKING:
    from uwf_core.workflow.bound import Bound
    from uwf_core.workflow.check import Checked
    from uwf_core.yaml.problem import Problem


_NO_WORKFLOWS = """\
no workflow can be started here by name
next: uwf workflow new .workflow/NAME.yaml
  or: uwf workflow add FILE"""


def workflows_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`workflow list`."""
    columns = (
        Column("name", "NAME", least=8),
        Column("source", "SOURCE", rank=2),
        Column("workflow", "REFERENCE", rank=3),
        Column("description", "DESCRIPTION", least=10, rank=1),
    )
    rows = document["workflows"]
    return table(columns, rows, screen) if rows else _NO_WORKFLOWS


def definition_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`workflow show`: the definition, with its bound in words."""
    from uwf_core.workflow.bound import Bound
    from uwf_core.yaml.text import yaml_text

    bound = read_record(Bound, document["bound"])
    words = {"bound": bound.words(), "attempts": bound.attempt_words()}
    return yaml_text({**document, **words}).rstrip()


def new_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`workflow new`."""
    if "examples" in document:
        return _examples_text(document, screen)
    from uwf_core.cli.render.table import in_order

    schema = f"JSON Schema for your editor: {document['schema']}"
    return "\n".join([*document["files"], schema, *in_order(document["next"])])


def _examples_text(document: Mapping[str, Any], screen: Screen) -> str:
    columns = (Column("name", "EXAMPLE"), Column("description", "DESCRIPTION", least=10))
    return table(columns, document["examples"], screen)


_FOR_TOOLS = ("sarif", "github")


def check(session: Session, files: tuple[str, ...], bound: bool, fix: bool) -> int:
    """Report every error in workflow files."""
    from uwf_core.views.workflows import check_document

    checked, fixes, unread = _checked(session, files, fix=fix)
    document = check_document(checked)
    document["valid"] &= not unread
    if fix:
        document["fixed"] = [each.document() for each in fixes]
    bounds = _bounds(session, checked) if bound else ()
    if bound:
        document["bounds"] = [
            {"file": each.file, "name": each.name, "bound": write_record(found)}
            for each, found in bounds
        ]
    lines = [f"fixed {each.place}: {each.message}" for each in fixes]
    for each, found in bounds:
        lines += [f"{each.name}: {found.words()}", f"  attempts: {found.attempt_words()}"]
    if session.format in _FOR_TOOLS:
        _for_tools(session, document["problems"], unread)
    elif checked:
        session.emit(document, lambda each, screen: check_text(each, screen, lines))
    if unread:
        raise _unreadable(unread)
    return ExitCode.DONE if document["valid"] else ExitCode.INVALID


def _checked(
    session: Session, files: tuple[str, ...], *, fix: bool
) -> "tuple[list[Checked], list[Problem], list[UsageError]]":
    """The checked files, the problems that were fixed, and the errors of files without a result."""
    from uwf_core.engine.workflows import check_workflow, fix_workflow

    checked: list[Checked] = []
    fixes: list[Problem] = []
    unread: list[UsageError] = []
    for file in files:
        try:
            if fix:
                gone, found = fix_workflow(session.engine, file, session.note)
                fixes += gone
            else:
                found = check_workflow(session.engine, file, session.note)
            checked.append(found)
        except UsageError as error:
            unread.append(error)
    return checked, fixes, unread


def _for_tools(session: Session, problems: Any, unread: Sequence[UsageError]) -> None:
    if session.format == "sarif":
        from uwf_core import __version__
        from uwf_core.cli.render.tools import sarif_text

        session.write(sarif_text(problems, unread, __version__))
    elif problems:
        from uwf_core.cli.render.tools import annotations

        session.write("\n".join(annotations(problems)))


def _bounds(session: Session, checked: Sequence["Checked"]) -> list[tuple["Checked", "Bound"]]:
    """The bound of each valid file."""
    from uwf_core.engine.workflows import bound_of_workflow

    return [
        (each, bound_of_workflow(session.engine, each.require())) for each in checked if each.valid
    ]


def _unreadable(errors: Sequence[UsageError]) -> UsageError:
    """One error for all files that could not be read."""
    first = errors[0]
    if len(errors) == 1:
        return first
    places = ", ".join(str(each.where) for each in errors)
    return UsageError(f"{len(errors)} files cannot be read", where=places, hint=first.hint)


_SHOWN = (
    "description-changed", "text-changed", "field-retyped", "field-described", "schema-changed",
    "prompt-changed", "location-changed", "player-changed", "input-changed",
)  # fmt: skip
"""Changes of which the differing lines are shown."""


def workflow_diff_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The comparison; changes that break something come with the reason."""
    parts = ["\n".join(_side(name, document) for name in ("a", "b"))]
    parts += [_change(each, screen) for each in document["changes"]]
    parts.append(_summary(document, screen))
    return "\n\n".join(parts)


def _side(name: str, document: Mapping[str, Any]) -> str:
    side = document[name]
    return f"{name.upper()}  {side['workflowName']} ({side['workflow'] or 'not published'})"


def _summary(document: Mapping[str, Any], screen: Screen) -> str:
    if document["same"]:
        return screen.paint("no difference", "ok")
    count = len(document["changes"])
    changes = "1 change" if count == 1 else f"{count} changes"
    verdicts = (
        f"{word}: {screen.paint(document[word], _STYLES[document[word]])}"
        for word in ("forks", "callers")
    )
    return f"{changes}; {', '.join(verdicts)}"


_STYLES = {"breaking": "error", "compatible": "ok"}


def _change(change: Mapping[str, Any], screen: Screen) -> str:
    is_breaking = "breaking" in (change["forks"], change["callers"])
    mark = screen.paint("breaking", "error") if is_breaking else "compatible"
    lines = [f"{mark}  {screen.paint(change['place'], 'bold')}  {_words(change)}"]
    for word in ("forks", "callers"):
        if change[f"{word}Reason"]:
            lines.append(f"  breaks {word}: {change[f'{word}Reason']}")
    if change["kind"] in _SHOWN:
        lines += changed_lines(change["a"], change["b"], screen)
    return "\n".join(lines)


def _words(change: Mapping[str, Any]) -> str:
    what = str(change["kind"]).replace("-", " ")
    if change["kind"] in _VALUES:
        return f"{what}: {_short(change['a'])} -> {_short(change['b'])}"
    return what


_VALUES = (
    "name-changed", "limit-changed", "role-renamed", "tools-changed", "timeout-changed",
    "reserve-changed", "field-required", "field-optional", "edge-retargeted",
    "branches-added", "branches-removed", "branches-changed",
    "workspace-changed",
)  # fmt: skip
"""Changes whose values are short."""


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)
