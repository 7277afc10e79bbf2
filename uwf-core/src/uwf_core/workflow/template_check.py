"""Check the templates of a workflow's edges: their syntax and their fields."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from uwf_core.cas.bounds import MAX_PROBLEMS
from uwf_core.fields.mismatch import short, suggestion
from uwf_core.workflow.alternatives import alternatives, as_mapping
from uwf_core.workflow.blank_prompt import BlankWork, Text, skippable, text_of
from uwf_core.workflow.definition import END, START, SUSPEND
from uwf_core.workflow.fields import Fields, Presence
from uwf_core.workflow.load import FILE_STYLE
from uwf_core.workflow.parsed import ParsedEdge, ParsedWorkflow
from uwf_core.workflow.problem import Place, Problem, error_at, warning_at
from uwf_core.workflow.structure import kind_of
from uwf_core.workflow.template import Template, TemplateError, TemplateName, parse
from uwf_core.workflow.variants import BODY, INPUT, Analysis, Variant, variant_of
from uwf_core.workflow.yaml_nodes import YamlScalar

_BREAK = "\r\n?|\n"
"""The end of a line of a file."""


def check_templates(
    parsed: ParsedWorkflow,
    analyses: Mapping[str, Analysis],
    input_schema: dict[str, Any] | None = None,
) -> Iterator[Problem]:
    """Every error in prompts and locations."""
    places, work = Places(parsed.sources), BlankWork()
    for edge in parsed.edges():
        for scalar in (edge.prompt, edge.location):
            if scalar is None:
                continue
            template = read_template(scalar, places)
            if isinstance(template, Problem):
                yield template
                continue
            yield from _liquid(scalar, places)
            names = [*placed_names(template, scalar, places)]
            analysis = analyses.get(edge.source)
            variant = variant_of(analysis, edge.status)
            fields = Fields(variant, input_schema) if variant or edge.source == START else None
            found = _names(edge, names, fields, analysis, input_schema)
            problems = [*islice(found, MAX_PROBLEMS + 1)]  # the check lists no more
            yield from problems
            if scalar is edge.prompt:
                where = f"the prompt of {edge.source}.{edge.status}"
                prompt = Prompt(where, scalar, template, fields, work, _has_body(edge, parsed))
                yield from blank_problems(prompt, problems, runs=_leads_to_role(edge))


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


class Prompt(NamedTuple):
    """A prompt: its name in messages, its text, and the names that it can use, None if they are
    unknown because of another error. `work`: what is left for the file. `has_body`: whether there
    can be a `_body`.
    """

    where: str
    scalar: YamlScalar
    template: Template
    fields: Fields | None
    work: BlankWork
    has_body: bool = True


def blank_problems(
    prompt: Prompt, others: Iterable[Problem], *, runs: bool = True
) -> Iterator[Problem]:
    """The error of a prompt that is always blank, or the warning for one that may be.

    Args:
        prompt: it. others: the problems of its names: after an error its text is not known.
        runs: whether a role gets it, which needs an instruction.
    """
    template, place, hint = prompt.template, prompt.scalar.place, "describe what to do next"
    names = template.names()
    if not names and not template.render({}).strip():
        yield error_at(place, "blank-prompt", f"{prompt.where} is blank", hint)
    if not names or not runs or prompt.fields is None:
        return
    if any(each.severity == "error" for each in others):
        return
    text = text_of(template, prompt.fields, prompt.work, has_body=prompt.has_body)
    if text is Text.NEVER:
        yield error_at(place, "blank-prompt", f"{prompt.where} always renders blank", hint)
    elif text is Text.PERHAPS:
        names_of_text = " and ".join(skippable(template, prompt.fields))
        message = f"{prompt.where} may render blank; its text depends on {names_of_text}"
        hint = "add text outside of its sections, or a section {{^name}} … {{/name}} for that case"
        yield warning_at(place, "may-be-blank", message, hint)


def _has_body(edge: ParsedEdge, parsed: ParsedWorkflow) -> bool:
    """Whether the output that takes an edge can have a text: programs and branches deliver none."""
    role = parsed.roles.get(edge.source)
    return role is not None and kind_of(role) != "program"


def _leads_to_role(edge: ParsedEdge) -> bool:
    return edge.role is not None and edge.role.text not in (END, SUSPEND)


def placed_names(
    template: Template, scalar: YamlScalar, places: "Places"
) -> Iterator[tuple[TemplateName, Place]]:
    """Each name that a template uses, and its place in the file."""
    names = template.names()
    if names:
        place = places.of_tags(scalar)
        yield from ((name, place(name.line, name.column)) for name in names)


def _names(
    edge: ParsedEdge,
    names: Iterable[tuple[TemplateName, Place]],
    fields: Fields | None,
    analysis: Analysis | None,
    input_schema: dict[str, Any] | None,
) -> Iterator[Problem]:
    variants = analysis.variants if analysis else ()
    for name, place in names:
        if fields is None:
            continue
        presence = fields.presence(name)
        if input_schema is not None and name.path[:1] == (INPUT,):
            yield from input_field(name, place, presence, input_schema)
        elif edge.source != START:
            yield from _field(edge, name, place, presence, variants, input_schema)
        elif presence is Presence.NEVER or input_schema is None:
            yield warning_at(
                place,
                "template-at-start",
                f"{dotted(name)} renders empty at {START}: there is no output yet",
                _undeclared(name, input_schema)
                or "write plain text; every role gets the task anyway",
            )
        elif presence < Presence.ALWAYS and name.kind == "variable":
            message = f"the input {doubt_of(presence)} {dotted(name)!r}; it may render empty"
            yield warning_at(place, "template-optional-field", message, if_present(name, presence))


def input_field(
    name: TemplateName, place: Place, presence: Presence, schema: dict[str, Any]
) -> Iterator[Problem]:
    """The problem of a name of the typed input."""
    if presence is Presence.NEVER:
        known = {key for each in alternatives(schema) for key in as_mapping(each.get("properties"))}
        hint = "" if name.path[1] in known else suggestion(name.path[1], sorted(known))
        message = f"the input has no field {_in_input(name)!r}"
        yield error_at(place, "template-unknown-field", message, hint)
    elif presence < Presence.ALWAYS and name.kind == "variable":
        doubt = doubt_of(presence)
        message = f"the input {doubt} {_in_input(name)!r}; it may render empty"
        yield warning_at(place, "template-optional-field", message, if_present(name, presence))


def _field(
    edge: ParsedEdge,
    name: TemplateName,
    place: Place,
    presence: Presence,
    variants: tuple[Variant, ...],
    input_schema: dict[str, Any] | None,
) -> Iterator[Problem]:
    variant = next(each for each in variants if each.status == edge.status)
    if presence is Presence.NEVER:
        yield error_at(
            place,
            "template-unknown-field",
            f"the status {edge.status!r} of {edge.source!r} has no field {dotted(name)!r}",
            _where_else(name, edge, variants)
            or _undeclared(name, input_schema)
            or _nearest(name.path[0], variant),
        )
    elif presence < Presence.ALWAYS and name.kind == "variable":
        yield warning_at(
            place,
            "template-optional-field",
            f"the status {edge.status!r} of {edge.source!r} {doubt_of(presence)} "
            f"{dotted(name)!r}; it may render empty",
            if_present(name, presence, is_own="/" not in edge.source),
        )


def doubt_of(presence: Presence) -> str:
    """Why a value may render empty, in words."""
    return "can have null for" if presence is Presence.NULLABLE else "does not require"


def if_present(name: TemplateName, presence: Presence, *, is_own: bool = True) -> str:
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


def _undeclared(name: TemplateName, input_schema: dict[str, Any] | None) -> str:
    is_input = input_schema is None and name.path[:1] == (INPUT,)
    return "declare the typed input with `input:` at the top" if is_input else ""


def _where_else(name: TemplateName, edge: ParsedEdge, variants: tuple[Variant, ...]) -> str:
    if any(each.status == edge.status and name.path[0] in each.properties for each in variants):
        return ""
    others = [each.status for each in variants if name.path[0] in each.properties]
    others = [status for status in others if status != edge.status]
    return f"only the status {', '.join(others)} has this field" if others else ""


def _nearest(word: str, variant: Variant) -> str:
    known = [*variant.properties, BODY]
    return "" if word in known else suggestion(word, known)


def dotted(name: TemplateName) -> str:
    """The name as it is written."""
    return ".".join(name.path) or "."


def _in_input(name: TemplateName) -> str:
    return ".".join(name.path[1:])


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
