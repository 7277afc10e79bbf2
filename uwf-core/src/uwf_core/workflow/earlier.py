"""`steps` in templates: the newest output of each role of the thread, and which outputs these can
be at each place of a graph. Pure.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from uwf_core.workflow.definition import END, START, SUSPEND
from uwf_core.workflow.fields import output_schema
from uwf_core.workflow.variants import BODY, Variant
from uwf_core.workflow.walk_graph import postorder

MOST_PASSED: Final = 100_000
"""How often what is known may be passed along an edge, in one file; beyond it, the newest output of
a role can be any of them.
"""


class Passage(NamedTuple):
    """An edge: `status` is that of the output that its templates read."""

    source: str
    status: str
    target: str


class Newest:
    """The outputs that can be the newest of each role, at each place of a graph: a forward flow
    from the edges of `$START` over sets of (role, status), each a bit of an integer.
    """

    def __init__(self, passages: Iterable[Passage], names: Iterable[str]) -> None:
        self._after: dict[str, list[Passage]] = {}
        self._bits: dict[str, dict[str, int]] = {name: {} for name in names}
        self._count = 0
        for name in self._bits:
            self._bit(name, "")
        for each in passages:
            target = each.source if each.target == SUSPEND else each.target
            self._after.setdefault(each.source, []).append(each._replace(target=target))
            if each.source in self._bits and not each.status.startswith("$"):
                self._bit(each.source, each.status)
        self._masks = {name: sum(bits.values()) for name, bits in self._bits.items()}
        self._at = {START: sum(bits[""] for bits in self._bits.values())}
        self._spread()

    def after(self, source: str, status: str) -> int:
        """What can be the newest outputs after an output, or at an edge of `$START`; 0 where no
        path leads.
        """
        if source == START:
            return self._at.get(END if status == "resume" else START, 0)
        at, bits = self._at.get(source, 0), self._bits.get(source)
        if not at or bits is None or status not in bits:
            return at
        return at & ~self._masks[source] | bits[status]

    def before(self, role: str) -> int:
        """The same when a role begins, also again after a person."""
        return self._at.get(role, 0)

    def knows(self, role: str) -> bool:
        """Whether it is a role whose outputs are followed."""
        return role in self._bits

    def statuses(self, at: int, role: str) -> list[str]:
        """The statuses of the outputs of a role among these; "" is none yet."""
        return [status for status, bit in self._bits[role].items() if at & bit]

    def _bit(self, role: str, status: str) -> None:
        bits = self._bits[role]
        if status not in bits:
            bits[status] = 1 << self._count
            self._count += 1

    def _spread(self) -> None:
        """Pass on what is known of each place until nothing changes; almost always in few rounds,
        since each begins at `$START`.
        """
        targets = defaultdict(list)
        for name, passages in self._after.items():
            targets[name] = [each.target for each in passages]
        order = [*postorder([START], targets)][::-1]
        left, is_changed = MOST_PASSED, True
        while is_changed and left > 0:
            is_changed = False
            for each in (each for name in order for each in self._after.get(name, ())):
                left -= 1
                after, known = self.after(each.source, each.status), self._at.get(each.target, 0)
                if after & ~known:
                    self._at[each.target] = after | known
                    is_changed = True
        if is_changed:
            self._at = dict.fromkeys(self._at, sum(self._masks.values()))


def steps_schema(
    newest: Newest,
    at: int,
    names: Iterable[str],
    variants: Callable[[str], Sequence[Variant]],
) -> dict[str, Any]:
    """The type of `steps` at a place, with these names alone.

    Args:
        newest: the outputs that can be the newest. at: those at the place.
        names: of roles, if there are such.
        variants: the variants of a role; none if they are unknown because of another error.
    """
    fields, required = dict[str, Any](), list[str]()
    for name in filter(newest.knows, names):
        statuses, known = newest.statuses(at, name), variants(name) if at else ()
        types = [_type_of(each) for each in known if each.status in statuses]
        if types or not known:
            fields[name] = {"anyOf": types} if types else {}
        if name in fields and "" not in statuses:
            required.append(name)
    return {
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _type_of(variant: Variant) -> dict[str, Any]:
    schema = output_schema(variant)
    properties = {**schema["properties"], BODY: {"type": "string"}}
    return {**schema, "properties": properties, "required": [*schema["required"], BODY]}
