"""Check the templates of a workflow, their syntax and their fields: of prompts and locations, and
of the programs of roles, with their exit codes.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from uwf_core.cas.bounds import MAX_PROBLEMS
from uwf_core.fields.mismatch import nearest, short, suggestion
from uwf_core.workflow.blank_prompt import MAX_VISITS_TOGETHER, Text, skippable, text_of
from uwf_core.workflow.definition import START
from uwf_core.workflow.fields import Fields, Presence, WorkLeft
from uwf_core.workflow.lattice import alternatives, properties_of
from uwf_core.workflow.load import FILE_STYLE
from uwf_core.workflow.parsed import Outputs, ParsedEdge
from uwf_core.workflow.structure import kind_of
from uwf_core.workflow.template import Template, TemplateError, TemplateName, parse
from uwf_core.workflow.variants import INPUT, Analysis
from uwf_core.yaml.nodes import YamlMapping, YamlScalar, YamlSequence
from uwf_core.yaml.problem import Place, Problem, error_at, warning_at

_BREAK = "\r\n?|\n"
"""The end of a line of a file."""


def check_templates(outputs: Outputs) -> Iterator[Problem]:
    """Every error in prompts and locations, of branches as well."""
    places, work = Places(outputs.parsed.sources), WorkLeft(MAX_VISITS_TOGETHER)
    for edge in outputs.edges():
        for scalar in (edge.prompt, edge.location):
            template = None if scalar is None else read_template(scalar, places)
            if isinstance(template, Problem):
                yield template
            elif scalar is not None and template is not None:
                yield from _liquid(scalar, places)
                found = name_problems(template, scalar, places, outputs, [edge])
                problems = [*islice(found, MAX_PROBLEMS + 1)]  # the check lists no more
                yield from problems
                is_wrong = any(each.severity == "error" for each in problems)
                if scalar is edge.prompt:
                    fields = None if is_wrong else outputs.fields(edge)
                    yield from _blank(edge, scalar, template, fields, work, outputs)


def read_template(scalar: YamlScalar, places: "Places") -> Template | Problem:
    """The template of a text, or the error in its syntax at its place."""
    try:
        return parse(scalar.text)
    except TemplateError as error:
        place = places.of_tags(scalar)(error.line, error.column)
        return error_at(place, "template-syntax", error.message, error.hint or "")


def _liquid(scalar: YamlScalar, places: "Places") -> Iterator[Problem]:
    """A warning for a tag of Liquid, in which the original uwf writes templates."""
    if "{%" not in scalar.text:
        return
    found = re.search(r"{%-?\s*(?:if|unless|for|case|assign|capture)\b[^%]*%}", scalar.text)
    if found is not None:
        before = scalar.text[: found.start()]
        line, column = before.count("\n") + 1, found.start() - before.rfind("\n")
        yield warning_at(
            places.of_tags(scalar)(line, column),
            "template-liquid",
            f"{short(found[0])} is a tag of Liquid, and stays plain text",
            "write {{#name}} … {{/name}} for what may be absent, or for each item of a list",
        )


def _blank(
    edge: ParsedEdge,
    scalar: YamlScalar,
    template: Template,
    fields: Fields | None,
    work: WorkLeft,
    outputs: Outputs,
) -> Iterator[Problem]:
    """The error of a prompt that is always blank, or the warning for one that may be."""
    where, hint = f"the prompt of {edge.place}", "describe what to do next"
    names = template.names()
    if not names and not template.render({}).strip():
        yield error_at(scalar.place, "blank-prompt", f"{where} is blank", hint)
    if not names or not edge.leads_to_role or fields is None:
        return
    text = text_of(template, fields, work, has_body=_has_body(edge, outputs))
    if text is Text.NEVER:
        yield error_at(scalar.place, "blank-prompt", f"{where} always renders blank", hint)
    elif text is Text.PERHAPS:
        names_of_text = " and ".join(skippable(template, fields))
        message = f"{where} may render blank; its text depends on {names_of_text}"
        hint = "add text outside of its sections, or a section {{^name}} … {{/name}} for that case"
        yield warning_at(scalar.place, "may-be-blank", message, hint)


def _has_body(edge: ParsedEdge, outputs: Outputs) -> bool:
    """Whether the output that takes an edge can have a text: programs and branches deliver none."""
    role = outputs.parsed.roles.get(edge.source)
    return role is not None and kind_of(role) != "program"


def name_problems(
    template: Template,
    scalar: YamlScalar,
    places: "Places",
    outputs: Outputs,
    edges: Sequence[ParsedEdge],
    *,
    is_argument: bool = False,
) -> Iterator[Problem]:
    """The problems of the names in a template that is rendered for the outputs of some edges; none
    if one of these is unknown because of another error. `is_argument`: of a program.
    """
    fields = [outputs.fields(edge) for edge in edges]
    known = [(edge, each) for edge, each in zip(edges, fields, strict=True) if each is not None]
    names = template.names() if known and len(known) == len(edges) else []
    place = places.of_tags(scalar) if names else None
    for name in names:
        assert place is not None
        presences = {edge: each.presence(name) for edge, each in known}
        at = place(name.line, name.column)
        problem = _of_name(name, at, presences, outputs, is_argument=is_argument)
        if problem is not None:
            yield problem


def _of_name(
    name: TemplateName,
    place: Place,
    presences: Mapping[ParsedEdge, Presence],
    outputs: Outputs,
    *,
    is_argument: bool,
) -> Problem | None:
    least, edge = min(presences.values()), next(iter(presences))
    is_input = outputs.own is not None and name.path[:1] == (INPUT,)
    field, where = dotted(name), outputs.words(edge)
    if is_input:
        field, where = ".".join(name.path[1:]), "the input"
    elif len(presences) > 1 or (is_argument and edge.source == START):
        lacking = [each.place for each, found in presences.items() if found < Presence.ALWAYS]
        where = f"the output that takes {' or '.join(lacking)}"
    is_never = max(presences.values()) is Presence.NEVER
    is_start = not is_argument and all(each.source == START for each in presences)
    if is_start and not is_input and (is_never or outputs.own is None):
        message = f"{field} renders empty at {START}: there is no output yet"
        hint = _undeclared(name, outputs) or "write plain text; every role gets the task anyway"
        return warning_at(place, "template-at-start", message, hint)
    if is_never:
        hint = _in_input(name, outputs) if is_input else _elsewhere(name, [*presences], outputs)
        return error_at(place, "template-unknown-field", f"{where} has no field {field!r}", hint)
    if least is Presence.ALWAYS or name.kind != "variable":
        return None
    doubt = "can have null for" if least is Presence.NULLABLE else "does not require"
    message = f"{where} {doubt} {field!r}; it may render empty"
    is_own = all("/" not in each.source for each in presences)
    hint = _if_present(name, least, is_own=is_own)
    return warning_at(place, "template-optional-field", message, hint)


def _if_present(name: TemplateName, presence: Presence, *, is_own: bool) -> str:
    """The hint for a name whose value may be missing or null. `is_own`: whether a role of the file
    declares it, and not a joint result.
    """
    shown = dotted(name)
    within = (
        f"put it within {{{{#{shown}?}}}} … {{{{/{shown}?}}}} "
        f"({{{{#{shown}}}}} … {{{{/{shown}}}}} also skips 0, false and an empty text)"
    )
    if not is_own or not name.path:
        return within
    if presence is Presence.NULLABLE:
        return f"declare its type without null, or {within}"
    nested = " (and `type: object` to the mapping with it)" if len(name.path) > 1 else ""
    return f"add it to `required`{nested}, or {within}"


def _undeclared(name: TemplateName, outputs: Outputs) -> str:
    is_input = outputs.own is None and name.path[:1] == (INPUT,)
    return "declare the typed input with `input:` at the top" if is_input else ""


def _in_input(name: TemplateName, outputs: Outputs) -> str:
    known = {key for each in alternatives(outputs.own) for key in properties_of(each)}
    return "" if name.path[1] in known else suggestion(name.path[1], sorted(known))


def _elsewhere(name: TemplateName, edges: Sequence[ParsedEdge], outputs: Outputs) -> str:
    """The hint for an unknown field: the statuses that have it, or the nearest name."""
    word = name.path[0]
    known = dict.fromkeys(each for edge in edges for each in outputs.names(edge))
    if word in known:
        return ""
    sources = dict.fromkeys(edge.source for edge in edges)
    others = [
        ", ".join(having) + (f" of {source!r}" if len(sources) > 1 else "")
        for source in sources
        if (having := [each.status for each in outputs.variants(source) if word in each.properties])
    ]
    if others:
        return f"only the status {' and '.join(others)} has this field"
    return _undeclared(name, outputs) or suggestion(word, known)


def dotted(name: TemplateName) -> str:
    """The name as it is written."""
    return ".".join(name.path) or "."


class Places:
    """The places of tags in their files. Scans each file and each template once."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._lines: dict[str, list[int]] = {}

    def of_tags(self, scalar: YamlScalar) -> Callable[[int, int], Place]:
        """Find the place of the tag that begins at a line and a column of a template's text.

        Counts `{{` from the start of the scalar, which folding and indentation do not
        change; returns the place of the scalar if escapes make that impossible.
        """
        file = scalar.place.file
        if scalar.style == FILE_STYLE:
            return partial(Place, file)
        source = self._sources.get(file, "")
        if file not in self._lines:
            self._lines[file] = [0, *(each.end() for each in re.finditer(_BREAK, source))]
        starts, text_starts = self._lines[file], _line_starts(scalar.text)
        tags = [match.start() for match in re.finditer(r"\{\{", scalar.text)]
        begin = starts[scalar.place.line - 1] + scalar.place.column - 1
        if scalar.style in ("|", ">"):
            found_break = re.compile(_BREAK).search(source, begin)
            begin = begin if found_break is None else found_break.end()
        found = re.compile(r"\{\{").finditer(source, begin)
        written = [match.start() for match in islice(found, len(tags))]

        def place(line: int, column: int) -> Place:
            index = bisect_left(tags, text_starts[line - 1] + column - 1)
            if index >= len(written):
                return scalar.place
            row = bisect_right(starts, written[index])
            return Place(file, row, written[index] - starts[row - 1] + 1)

        return place


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


# -- programs --------------------------------------------------------------------------------------


_HIGHEST_CODE = 255


def check_programs(outputs: Outputs) -> Iterator[Problem]:
    """Every error in the programs of roles."""
    places = Places(outputs.parsed.sources)
    for name, role in outputs.parsed.roles.items():
        program = None if role.node is None else role.node.values.get("program")
        if not isinstance(program, YamlMapping):
            continue
        argv, env = program.values.get("argv"), program.values.get("env")
        if isinstance(argv, YamlSequence):
            yield from _program(name, argv)
            edges = outputs.leading_to(name)
            for each in argv.items[1:]:
                if isinstance(each, YamlScalar) and isinstance(each.value, str):
                    yield from _argument(each, places, outputs, edges)
        if isinstance(env, YamlMapping):
            yield from _variables(name, env)
        yield from _statuses(name, program, outputs.analysis(name))


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


def _argument(
    scalar: YamlScalar, places: Places, outputs: Outputs, edges: Sequence[ParsedEdge]
) -> Iterator[Problem]:
    template = read_template(scalar, places)
    if isinstance(template, Problem):
        yield template
    else:
        yield from name_problems(template, scalar, places, outputs, edges, is_argument=True)


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
