"""Whether a prompt may render blank although no single name in it is to blame.

`{{#error}}Fix {{error}}{{/error}}` is blank without an error. Each section that may be skipped is
tried both ways, so that `{{#a}}…{{/a}}{{^a}}…{{/a}}` has text in every case.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum

from uwf_core.workflow.fields import Fields, Presence, WorkLeft
from uwf_core.workflow.template import (
    Path,
    Template,
    TemplateName,
    TemplateNode,
    TemplateSection,
    TemplateVariable,
)
from uwf_core.workflow.variants import BODY

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
