"""The outputs that lead to a role, by edges and branches, as templates and typed inputs see them.

A name in a branch is looked up in the item of the list first, then in the output that took the
edge.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.workflow.alternatives import (
    alternatives,
    as_list,
    as_mapping,
    properties_of,
    required_of,
)
from uwf_core.workflow.definition import START
from uwf_core.workflow.fields import Fields, ValueShape, item_shape, output_schema
from uwf_core.workflow.parsed import ParsedEdge, ParsedFanOut, ParsedWorkflow
from uwf_core.workflow.variants import BODY, INDEX, Analysis, Items, Variant, variant_of
from uwf_core.workflow.yaml_nodes import types_of

if TYPE_CHECKING:
    from uwf_core.workflow.role_schema import RoleSchema


class ListType(NamedTuple):
    """What is known of the list of a `forEach`.

    Attributes:
        alternatives: its schema, flat; none if the output has no such field.
        required: whether every such output has it.
        known: the fields of the mapping that should have it.
    """

    alternatives: Sequence[dict[str, Any]]
    required: bool
    known: tuple[str, ...]

    @property
    def is_typed(self) -> bool:
        """Whether it declares its items, in every alternative."""
        return bool(self.alternatives) and all(
            types_of(each) == {"array"}
            and bool(as_mapping(each.get("items")) or as_list(each.get("prefixItems")))
            for each in self.alternatives
        )

    @property
    def items(self) -> Items:
        """How many items it can have."""
        least = [_bound(each.get("minItems", 0)) or 0 for each in self.alternatives]
        most = [_bound(each.get("maxItems")) for each in self.alternatives]
        known = [each for each in most if each is not None]
        return Items(min(least, default=0), max(known) if known and known == most else None)


def _bound(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None


def listed_in(path: str, variant: Variant) -> ListType:
    """The list at a path of an output, through mappings alone."""
    required, known = sorted(variant.required), tuple[str, ...]()
    found = [{"type": "object", "properties": variant.properties, "required": required}]
    is_sure = True
    for part in path.split("."):
        known = tuple(dict.fromkeys(name for each in found for name in properties_of(each)))
        is_sure = is_sure and all(
            types_of(each) == {"object"} and part in required_of(each) for each in found
        )
        inner = (properties_of(each)[part] for each in found if part in properties_of(each))
        found = [shape for each in inner for shape in alternatives(each)]
    return ListType(found, is_sure, known)


def branch_fields(
    variant: Variant, items: ValueShape | None, input_schema: dict[str, Any] | None = None
) -> Fields:
    """The names in a branch; `items` is the item of a list, None for `parallel`."""
    inner = () if items is None else (items,)
    return Fields(variant, input_schema, {INDEX: {"type": "integer"}}, inner)


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
        self._fields: dict[ParsedEdge, Fields | None] = {}

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
        return variant_of(self._analyses.get(edge.source), edge.status)

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

    def fields(self, edge: ParsedEdge) -> Fields | None:
        """The names that the templates of an edge can use; None if they are unknown because of
        another error. Computed once for all of its templates.
        """
        if edge not in self._fields:
            self._fields[edge] = self._fields_of(edge)
        return self._fields[edge]

    def _fields_of(self, edge: ParsedEdge) -> Fields | None:
        variant = self.variant(edge)
        if edge.branch is None:
            is_known = variant is not None or edge.source == START
            return Fields(variant, self.own) if is_known else None
        items = self.items(edge)
        if variant is None or items == ():
            return None
        return branch_fields(variant, items, self.own)

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


def is_mapping(schema: Mapping[str, Any]) -> bool:
    """Whether every value of a schema is a mapping, as far as its alternatives are known."""
    found = alternatives(schema)
    return bool(found) and all("object" in types_of(each) for each in found)
