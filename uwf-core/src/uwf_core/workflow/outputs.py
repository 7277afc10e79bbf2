"""The output that leads to each edge and branch, as templates and typed inputs see it.

A name in a branch is looked up in the item of the list first, then in the output that took the
edge.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from uwf_core.workflow.definition import ANY, EXPIRED, FAILED, START
from uwf_core.workflow.earlier import Newest, Passage, steps_schema
from uwf_core.workflow.failed import failed_variant
from uwf_core.workflow.fan_out import ListType, branch_fields, listed_in
from uwf_core.workflow.fields import Fields, ValueShape, item_shape, output_schema
from uwf_core.workflow.lattice import properties_of
from uwf_core.workflow.parsed import ParsedEdge, ParsedFanOut, ParsedWorkflow
from uwf_core.workflow.step_names import named_steps
from uwf_core.workflow.variants import BODY, INDEX, INPUT, STEPS, Analysis, Variant, variant_of
from uwf_core.yaml.nodes import YamlScalar

if TYPE_CHECKING:
    from uwf_core.workflow.role_check import RoleSchema


class Outputs:
    """The outputs of a file. `schemas`: of its roles and fan-outs; `own`: of its typed input.
    `is_read`: with what templates can read besides.
    """

    def __init__(
        self,
        parsed: ParsedWorkflow,
        schemas: "Mapping[str, RoleSchema]",
        own: dict[str, Any] | None = None,
        *,
        is_read: bool = False,
    ) -> None:
        self.parsed = parsed
        self.schemas = schemas
        self.own = own
        self._analyses = {
            name: each.as_read if is_read else each.analysis for name, each in schemas.items()
        }
        self._fields: dict[tuple[ParsedEdge, bool], Fields | None] = {}

    def edges(self) -> Iterator[ParsedEdge]:
        """All edges, and all branches."""
        yield from self.parsed.edges()
        yield from self.parsed.branches()

    def leading_to(self, role: str) -> list[ParsedEdge]:
        """The edges and branches to a role."""
        return [each for each in self.edges() if each.role is not None and each.role.text == role]

    def analysis(self, role: str) -> Analysis | None:
        """The statuses of a role; None if its schema is unknown."""
        return self._analyses.get(role)

    def variants(self, role: str) -> Sequence[Variant]:
        """Its variants; none if its schema is unknown."""
        return self._analyses[role].variants if role in self._analyses else ()

    def statuses(self, role: str) -> list[str]:
        """The statuses of these."""
        return [each.status for each in self.variants(role)]

    def variant(self, edge: ParsedEdge | ParsedFanOut) -> Variant | None:
        """The output that takes an edge; None at $START, and if it is unknown."""
        status = edge.status if isinstance(edge, ParsedFanOut) else edge.output_status
        if status == FAILED:
            return failed_variant(FAILED)
        return variant_of(self._analyses.get(edge.source), status)

    def listed(self, fan_out: ParsedFanOut) -> ListType | None:
        """The list of a `forEach` in the output that takes its edge; None if that is unknown."""
        variant = self.variant(fan_out)
        if not fan_out.is_list or fan_out.for_each is None or variant is None:
            return None
        return listed_in(fan_out.for_each.text, variant)

    def items(self, edge: ParsedEdge) -> ValueShape | None:
        """The item of a branch of a `forEach`; empty if it has an error, None for other edges."""
        if edge.branch != "":
            return None
        listed = self.listed(self.parsed.fan_out_of(edge))
        return item_shape(listed.alternatives) if listed is not None and listed.is_typed else ()

    @cached_property
    def newest(self) -> Newest | None:
        """The newest output of each role whose step a template names; None if none does."""
        named = {each for edge in self.edges() for each in _named(edge.prompt, edge.location)}
        for role in self.parsed.roles.values():
            named.update(_named(*role.arguments))
        if not named:
            return None
        passages = [
            Passage(edge.source, edge.output_status, edge.role.text)
            for edge in self.parsed.edges()
            if edge.role is not None
        ]
        if ANY in self.parsed.graph:
            passages += [Passage(name, FAILED, ANY) for name in self.parsed.roles]
        return Newest(passages, named & self.parsed.roles.keys())

    def fields(self, edge: ParsedEdge, *, is_argument: bool = False) -> Fields | None:
        """The names that the templates of an edge can use; None if they are unknown because of
        another error. Computed once for all of its templates.

        `is_argument`: those of the arguments of the program to which it leads.
        """
        key = edge, is_argument
        if key not in self._fields:
            self._fields[key] = self._fields_of(edge, is_argument=is_argument)
        return self._fields[key]

    def _fields_of(self, edge: ParsedEdge, *, is_argument: bool) -> Fields | None:
        variant, others = self.variant(edge), self._steps(edge, is_argument=is_argument)
        if edge.branch is None:
            is_known = variant is not None or edge.source == START or edge.status == EXPIRED
            return Fields(variant, self.own, others) if is_known else None
        items = self.items(edge)
        if variant is None or items == ():
            return None
        return branch_fields(variant, items, self.own, others)

    def _steps(self, edge: ParsedEdge, *, is_argument: bool) -> dict[str, Any]:
        """The type of `steps`, if a template names one."""
        if self.newest is None:
            return {}
        texts: Sequence[YamlScalar | None] = (edge.prompt, edge.location)
        if is_argument and edge.role is not None:
            texts = self.parsed.roles[edge.role.text].arguments
        at = self._place(edge, is_argument=is_argument)
        return {STEPS: steps_schema(self.newest, at, _named(*texts), self.variants)}

    def _place(self, edge: ParsedEdge, *, is_argument: bool) -> int:
        """What can be newest where a template is rendered. A program runs again after a person, and
        so do branches; the thread of a branch begins without steps.
        """
        newest = self.newest
        assert newest is not None
        if edge.branch is not None:
            name = f"{edge.source}/{edge.status}"
            return newest.after(START, "new") if is_argument else newest.before(name)
        if is_argument and edge.role is not None:
            return newest.before(edge.role.text)
        return newest.after(edge.source, edge.output_status)

    def newest_of(self, role: str, edge: ParsedEdge, *, is_argument: bool) -> list[str]:
        """The statuses that the newest step of a role can have there; "" is none yet."""
        at = self._place(edge, is_argument=is_argument)
        return [] if self.newest is None else self.newest.statuses(at, role)

    @cached_property
    def reserved(self) -> dict[str, str]:
        """The names in templates that no output may have as a field, and what they are."""
        found = {} if self.own is None else {INPUT: "the typed input of this workflow"}
        return found if self.newest is None else {**found, STEPS: "the earlier steps in templates"}

    def names(self, edge: ParsedEdge) -> list[str]:
        """The names at the top, for suggestions."""
        variant = self.variant(edge)
        own = [] if variant is None else [*variant.properties, BODY]
        of_items = [name for each in self.items(edge) or () for name in properties_of(each)]
        return [*of_items, *own, *([] if edge.branch is None else [INDEX])]

    def words(self, edge: ParsedEdge) -> str:
        """The output that leads to an edge, for messages."""
        if edge.source == START:
            return "the input"
        output = f"the status {edge.status!r} of {edge.source!r}"
        if edge.branch != "":
            return output
        listed = self.parsed.fan_out_of(edge).for_each
        return output if listed is None else f"{output} (or an item of {listed.text!r})"

    def given(self, edge: ParsedEdge) -> Any:
        """The schema of what an edge gives to the typed input of a workflow; None if unknown."""
        items, variant = self.items(edge), self.variant(edge)
        if items is not None:
            return {"anyOf": [*items]} if items else None
        if edge.source == START:
            return output_schema(None) if self.own is None else self.own
        return None if variant is None else output_schema(variant)


def _named(*texts: YamlScalar | None) -> set[str]:
    """The roles whose steps templates name."""
    return {name for each in texts if each is not None for name in named_steps(each.text)}
