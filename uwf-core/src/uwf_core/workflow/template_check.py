"""Templates of a workflow's edges: their syntax, and whether their fields are there."""

from collections.abc import Iterator, Mapping

from uwf_core.workflow.fields import Fields, Presence
from uwf_core.workflow.load import FILE_STYLE
from uwf_core.workflow.problem import Place, Problem, error_at, warning_at
from uwf_core.workflow.sketch import START, Edge, Sketch, suggestion
from uwf_core.workflow.template import Name, Template, TemplateError, parse
from uwf_core.workflow.variants import BODY, Analysis, Variant
from uwf_core.workflow.yaml_nodes import YamlScalar


def check_templates(sketch: Sketch, analyses: Mapping[str, Analysis]) -> Iterator[Problem]:
    """Every fault of every prompt and location."""
    for edge in sketch.edges():
        for scalar in (edge.prompt, edge.location):
            if scalar is None:
                continue
            try:
                template = parse(scalar.text)
            except TemplateError as error:
                place = tag_place(scalar, sketch.sources, error.line, error.column)
                yield error_at(place, "template-syntax", error.message, error.hint or "")
                continue
            if scalar is edge.prompt and _is_blank(template):
                yield _blank_prompt(edge, scalar)
            yield from _names(edge, scalar, template, sketch, analyses.get(edge.source))


def _is_blank(template: Template) -> bool:
    return not template.names() and not template.render({}).strip()


def _blank_prompt(edge: Edge, scalar: YamlScalar) -> Problem:
    return error_at(
        scalar.place,
        "blank-prompt",
        f"the prompt of {edge.source}.{edge.status} is blank",
        "say what is to be done next",
    )


def _names(
    edge: Edge,
    scalar: YamlScalar,
    template: Template,
    sketch: Sketch,
    analysis: Analysis | None,
) -> Iterator[Problem]:
    variants = analysis.variants if analysis else ()
    variant = next((each for each in variants if each.status == edge.status), None)
    fields = Fields(variant) if variant else None
    for name in template.names():
        place = tag_place(scalar, sketch.sources, name.line, name.column)
        if edge.source == START:
            yield error_at(
                place,
                "template-at-start",
                f"{_dotted(name)} means nothing at {START}: there is no output yet",
                "write plain text; the task reaches every role by itself",
            )
        elif fields is not None:
            yield from _field(edge, name, place, fields, variants)


def _field(
    edge: Edge, name: Name, place: Place, fields: Fields, variants: tuple[Variant, ...]
) -> Iterator[Problem]:
    presence = fields.presence(name)
    if presence is Presence.NEVER:
        yield error_at(
            place,
            "template-unknown-field",
            f"the status {edge.status!r} of {edge.source!r} has no field {_dotted(name)!r}",
            _where_else(name, edge, variants) or _nearest(name.path[0], fields.variant),
        )
    elif presence is Presence.PERHAPS and name.kind == "variable":
        yield warning_at(
            place,
            "template-optional-field",
            f"the status {edge.status!r} of {edge.source!r} does not require {_dotted(name)!r}, "
            "which may render empty",
            f"add it to `required`, or write it within {{{{#{_dotted(name)}}}}} … "
            f"{{{{/{_dotted(name)}}}}}",
        )


def _where_else(name: Name, edge: Edge, variants: tuple[Variant, ...]) -> str:
    others = [each.status for each in variants if name.path[0] in each.properties]
    others = [status for status in others if status != edge.status]
    return f"it is a field of the status {', '.join(others)} only" if others else ""


def _nearest(word: str, variant: Variant) -> str:
    known = [*variant.properties, BODY]
    return "" if word in known else suggestion(word, known)


def _dotted(name: Name) -> str:
    return ".".join(name.path) or "."


def tag_place(scalar: YamlScalar, sources: Mapping[str, str], line: int, column: int) -> Place:
    """Where in its file a template's tag stands, which begins at `line`, `column` of the text.

    Found by counting `{{` from the scalar's beginning, which folding and indentation leave alone;
    the scalar's own place where escapes make that impossible.
    """
    if scalar.style == FILE_STYLE:
        return Place(scalar.place.file, line, column)
    source = sources.get(scalar.place.file, "")
    before = "".join(scalar.text.splitlines(keepends=True)[: line - 1])
    offset = len(before) + column - 1
    at = _offset(source, scalar.place)
    if scalar.style in ("|", ">"):
        at = source.find("\n", at) + 1
    for _ in range(scalar.text.count("{{", 0, offset) + 1):
        found = source.find("{{", at)
        if found < 0:
            return scalar.place
        at = found + 2
    start = at - 2
    return Place(
        scalar.place.file, source.count("\n", 0, start) + 1, start - source.rfind("\n", 0, start)
    )


def _offset(text: str, place: Place) -> int:
    start = 0
    for _ in range(place.line - 1):
        start = text.find("\n", start) + 1
    return start + place.column - 1
