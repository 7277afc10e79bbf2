"""Check the templates of a workflow: their syntax, their fields, and whether a prompt is blank."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import partial
from itertools import islice

from uwf_core.cas.bounds import MAX_PROBLEMS
from uwf_core.fields.mismatch import short, suggestion
from uwf_core.workflow.definition import START
from uwf_core.workflow.fields import Fields, Presence, WorkLeft
from uwf_core.workflow.lattice import alternatives, properties_of
from uwf_core.workflow.load import FILE_STYLE
from uwf_core.workflow.outputs import Outputs
from uwf_core.workflow.parsed import ParsedEdge
from uwf_core.workflow.structure import kind_of
from uwf_core.workflow.template import (
    PRESENT,
    Path,
    Template,
    TemplateError,
    TemplateName,
    TemplateNode,
    TemplateSection,
    TemplateVariable,
    parse,
)
from uwf_core.workflow.variants import BODY, INPUT, STEPS
from uwf_core.yaml.nodes import YamlScalar
from uwf_core.yaml.problem import Place, Problem, error_at, warning_at

Presences = Mapping[ParsedEdge, Presence]
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
    fields = [outputs.fields(edge, is_argument=is_argument) for edge in edges]
    known = [(edge, each) for edge, each in zip(edges, fields, strict=True) if each is not None]
    names = template.names() if known and len(known) == len(edges) else []
    place = places.of_tags(scalar) if names else None
    for name in names:
        assert place is not None
        presences = {edge: each.presence(name) for edge, each in known}
        at = place(name.line, name.column)
        is_step = outputs.newest is not None and len(name.path) > 1 and name.path[0] == STEPS
        of_name = _of_step if is_step else _of_name
        problem = of_name(name, at, presences, outputs, is_argument=is_argument)
        if problem is not None:
            yield problem


def _of_name(
    name: TemplateName, place: Place, presences: Presences, outputs: Outputs, *, is_argument: bool
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


def _of_step(
    name: TemplateName, place: Place, presences: Presences, outputs: Outputs, *, is_argument: bool
) -> Problem | None:
    """As `_of_name`, for a field of the newest step of a role."""
    role, shown = name.path[1].removesuffix(PRESENT), dotted(name)
    least, is_never = min(presences.values()), max(presences.values()) is Presence.NEVER
    if is_never and role not in outputs.parsed.roles:
        hint = suggestion(role, [*outputs.parsed.roles])
        return error_at(
            place, "template-unknown-field", f"unknown role {role!r} in {shown!r}", hint
        )
    found = {edge: outputs.newest_of(role, edge, is_argument=is_argument) for edge in presences}
    statuses = dict.fromkeys(each for some in found.values() for each in some if each)
    whose = f"the newest step of {role!r} ({' or '.join(statuses)})"
    lacking = " or ".join(edge.place for edge, some in found.items() if "" in some or not some)
    if is_never and not statuses:
        hint = "a step is available after its role has run, and only in its own thread"
        message = f"{shown} is never available at {lacking}: {role!r} has not run there"
        return error_at(place, "template-unknown-field", message, hint)
    if is_never:
        message = f"{whose} has no field {'.'.join(name.path[2:])!r}"
        return error_at(place, "template-unknown-field", message)
    if least is Presence.ALWAYS or name.kind != "variable":
        return None
    message = f"{whose} may lack {shown!r} or have null for it; it may render empty"
    if lacking:
        message = f"{role!r} may not have run at {lacking}; {shown} may render empty"
    hint = _if_present(name, least, is_own=False)
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


# -- blank prompts ---------------------------------------------------------------------------------
# A prompt may be blank although no single name in it is to blame: `{{#a}}Fix {{a}}{{/a}}` is blank
# without `a`. Each section that may be skipped is tried both ways, so that `{{#a}}…{{/a}}{{^a}}…
# {{/a}}` has text in every case.

MAX_VISITS = 5_000
"""Nodes of one template that are looked at; beyond it the prompt counts as blank in some case."""
MAX_VISITS_TOGETHER = 50_000
"""The same, of all templates of a file."""

_Key = tuple[tuple[Path, ...], Path]
_Known = Mapping[_Key, bool]


class Text(IntEnum):
    """Whether a template renders text: never, in some cases, always."""

    NEVER = 0
    PERHAPS = 1
    ALWAYS = 2


def text_of(template: Template, fields: Fields, work: WorkLeft, *, has_body: bool) -> Text:
    """Whether a template renders text.

    A value that is present counts as text, unless it is `_body`, which may be empty (always is
    without `has_body`). So does a variable that may be missing or null, which has a separate
    warning.
    """
    cases = _Cases(fields, min(MAX_VISITS, work.left), has_body=has_body)
    found = cases.of_nodes(template.nodes, (), {})
    work.left -= cases.visits
    return found


def skippable(template: Template, fields: Fields) -> list[str]:
    """The names on which the text of a template depends, for a message."""
    found = {".".join(each.path) or "." for each in template.names() if _may_skip(each, fields)}
    return sorted(found)


def _may_skip(name: TemplateName, fields: Fields) -> bool:
    is_body = name.path[-1:] == (BODY,) and name.kind == "variable"
    is_section = name.kind != "variable" and not name.section_stack
    return is_body or (is_section and fields.is_true((), name.path) is None)


class _Cases:
    def __init__(self, fields: Fields, most: int, *, has_body: bool) -> None:
        self.fields = fields
        self.most = most
        self.has_body = has_body
        self.visits = 0

    def of_nodes(
        self, nodes: "Sequence[TemplateNode]", stack: tuple[Path, ...], known: _Known
    ) -> Text:
        best = max((self._of_node(each, stack, known) for each in nodes), default=Text.NEVER)
        if best is not Text.PERHAPS or self.visits > self.most:
            return best
        for path in _sections(nodes):
            if self._is_true(stack, path, known) is None:
                tried = {
                    self.of_nodes(nodes, stack, {**known, (stack, path): each})
                    for each in (True, False)
                }
                return tried.pop() if len(tried) == 1 else Text.PERHAPS
        return best

    def _of_node(self, node: "TemplateNode", stack: tuple[Path, ...], known: _Known) -> Text:
        self.visits += 1
        if isinstance(node, str):
            return Text.ALWAYS if node.strip() else Text.NEVER
        if isinstance(node, TemplateVariable):
            return self._of_variable(node, stack)
        return self._of_section(node, stack, known)

    def _of_variable(self, node: TemplateVariable, stack: tuple[Path, ...]) -> Text:
        if node.path[-1:] == (BODY,):
            is_own = len(node.path) == 1 and not stack
            return Text.NEVER if is_own and not self.has_body else Text.PERHAPS
        name = TemplateName(node.path, stack, 0, 0, "variable")
        return Text.NEVER if self.fields.presence(name) is Presence.NEVER else Text.ALWAYS

    def _of_section(self, node: TemplateSection, stack: tuple[Path, ...], known: _Known) -> Text:
        is_true = self._is_true(stack, node.path, known)
        if is_true is node.inverted or self.visits > self.most:
            return Text.NEVER if is_true is node.inverted else Text.PERHAPS
        within = stack if node.inverted else (*stack, node.path)
        inner = self.of_nodes(node.children, within, known)
        return inner if is_true is not None else min(inner, Text.PERHAPS)

    def _is_true(self, stack: tuple[Path, ...], path: Path, known: _Known) -> bool | None:
        sure = self.fields.is_true(stack, path)
        return known.get((stack, path)) if sure is None else sure


def _sections(nodes: Iterable[TemplateNode]) -> Iterator[Path]:
    """The names of sections in one context: an inverted section does not begin another."""
    for node in nodes:
        if isinstance(node, TemplateSection):
            yield node.path
            if node.inverted:
                yield from _sections(node.children)
