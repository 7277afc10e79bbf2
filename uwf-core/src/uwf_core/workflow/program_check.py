"""Check the programs of roles: the command with its templates, exit codes and environment.

The templates of an argument are rendered with the output that led to the role, so the statuses
whose edges lead there decide which fields exist.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.shape.mismatch import nearest, suggestion
from uwf_core.workflow.definition import START
from uwf_core.workflow.fields import Fields, Presence
from uwf_core.workflow.parsed import ParsedEdge, ParsedWorkflow
from uwf_core.workflow.problem import Place, Problem, error_at, warning_at
from uwf_core.workflow.template import TemplateError, TemplateName, parse
from uwf_core.workflow.template_check import (
    Places,
    dotted,
    if_present,
    input_field,
    placed_names,
)
from uwf_core.workflow.variants import BODY, INPUT, Analysis, Variant
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlScalar, YamlSequence

_HIGHEST_CODE = 255


def check_programs(
    parsed: ParsedWorkflow,
    analyses: Mapping[str, Analysis],
    input_schema: dict[str, Any] | None = None,
) -> Iterator[Problem]:
    """Every error in the programs of roles."""
    places = Places(parsed.sources)
    for name, role in parsed.roles.items():
        program = None if role.node is None else role.node.values.get("program")
        if not isinstance(program, YamlMapping):
            continue
        argv, env = program.values.get("argv"), program.values.get("env")
        if isinstance(argv, YamlSequence):
            yield from _program(name, argv)
            leading = _Leading(name, parsed, analyses, input_schema)
            for each in argv.items[1:]:
                if isinstance(each, YamlScalar) and isinstance(each.value, str):
                    yield from _argument(each, places, leading)
        if isinstance(env, YamlMapping):
            yield from _variables(name, env)
        yield from _statuses(name, program, analyses.get(name))


def _program(name: str, argv: YamlSequence) -> Iterator[Problem]:
    """The first element: the program itself is fixed, whatever a role delivers."""
    place, first = f"roles.{name}.program.argv", argv.items[0] if argv.items else None
    if first is None:
        hint = "write the program and its arguments: [make, test]"
        yield error_at(argv.place, "program-name", f"{place} is empty", hint)
    elif isinstance(first, YamlScalar) and not first.text.strip():
        yield error_at(first.place, "program-name", f"{place}[0] is blank", "name the program")
    elif isinstance(first, YamlScalar) and "{{" in first.text:
        message = f"{place}[0] holds a template; an output must not choose the program"
        hint = "write the name of the program, and the template as an argument"
        yield error_at(first.place, "program-name", message, hint)


class _Leading:
    """The outputs that lead to a role: its edges; none if one of them is not known."""

    def __init__(
        self,
        role: str,
        parsed: ParsedWorkflow,
        analyses: Mapping[str, Analysis],
        input_schema: dict[str, Any] | None,
    ) -> None:
        self.role = role
        self.input_schema = input_schema
        self.names: list[str] = []
        self._edges: list[tuple[str, Fields]] = []
        for edge in parsed.edges():
            if edge.role is None or edge.role.text != role:
                continue
            variant = _variant(edge, analyses)
            if variant is None and edge.source != START:
                self._edges.clear()
                return
            self.names += [] if variant is None else [*variant.properties, BODY]
            self._edges.append((f"{edge.source}.{edge.status}", Fields(variant, input_schema)))

    def presences(self, name: TemplateName) -> list[tuple[str, Presence]]:
        """Whether the value of a name is present after each of them."""
        return [(edge, fields.presence(name)) for edge, fields in self._edges]


def _variant(edge: ParsedEdge, analyses: Mapping[str, Analysis]) -> Variant | None:
    analysis = analyses.get(edge.source)
    found = analysis.variants if analysis else ()
    return next((each for each in found if each.status == edge.status), None)


def _argument(scalar: YamlScalar, places: Places, leading: _Leading) -> Iterator[Problem]:
    try:
        template = parse(scalar.text)
    except TemplateError as error:
        place = places.of_tags(scalar)(error.line, error.column)
        yield error_at(place, "template-syntax", error.message, error.hint or "")
        return
    for name, place in placed_names(template, scalar, places):
        yield from _name(name, place, leading)


def _name(name: TemplateName, place: Place, leading: _Leading) -> Iterator[Problem]:
    found, field = leading.presences(name), dotted(name)
    if not found:
        return
    if leading.input_schema is not None and name.path[:1] == (INPUT,):
        yield from input_field(name, place, found[0][1], leading.input_schema)
    elif all(presence is Presence.NEVER for _, presence in found):
        yield error_at(
            place,
            "template-unknown-field",
            f"no output that leads to {leading.role!r} has a field {field!r}",
            suggestion(name.path[0], dict.fromkeys(leading.names)),
        )
    elif name.kind == "variable":
        lacking = [edge for edge, presence in found if presence < Presence.ALWAYS]
        if lacking:
            yield warning_at(
                place,
                "template-optional-field",
                f"{field!r} may render empty: the output of {' and '.join(lacking)}, which leads "
                f"to {leading.role!r}, need not have it",
                if_present(name),
            )


def _variables(name: str, env: YamlMapping) -> Iterator[Problem]:
    for variable, key in env.keys.items():
        if not (variable.isascii() and variable.isidentifier()):
            message = f"roles.{name}.program.env: {variable!r} is not the name of a variable"
            yield error_at(key.place, "bad-name", message, "use letters, digits and _")


def _statuses(name: str, program: YamlMapping, analysis: Analysis | None) -> Iterator[Problem]:
    """The exit codes, and their statuses, which must be those of the schema."""
    statuses = program.values.get("statuses")
    if not isinstance(statuses, YamlMapping):
        return
    where = f"roles.{name}.program.statuses"
    for code, key in statuses.keys.items():
        if not _is_exit_code(code):
            message = f"{where}: {code!r} is not an exit code"
            yield error_at(key.place, "exit-code", message, f"0 to {_HIGHEST_CODE}")
    if analysis is None or not analysis.complete:
        return
    known = [each.status for each in analysis.variants]
    given = [each for each in statuses.values.values() if isinstance(each, YamlScalar)]
    for each in given:
        if each.text not in known:
            message = f"{where}: the schema has no status {each.text!r}"
            hint = suggestion(each.text, known)
            yield error_at(each.place, "program-status", message, hint)
    meant = {each.text if each.text in known else nearest(each.text, known) for each in given}
    for status in known:
        if status not in meant:  # a misspelt one is one error
            message = f"{where}: no exit code has the status {status!r} of the schema"
            hint = "add its exit code, or remove the status from the schema and the graph"
            yield error_at(program.keys["statuses"].place, "program-status", message, hint)


def _is_exit_code(text: str) -> bool:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(_HIGHEST_CODE))):
        return False
    return text == str(int(text)) and int(text) <= _HIGHEST_CODE
