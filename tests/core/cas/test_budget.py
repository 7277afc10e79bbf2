"""The budget of a schema is the same whether its places are looked for or not."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from uwf_core.cas.bounds import MAX_VALUES, Budget

_WORDS = st.sampled_from(["pattern", "patternProperties", "properties", "items"])
_SCHEMAS = st.recursive(
    st.sampled_from(["(", "[a-z]{3}", "(a{200}){5}", 3, None]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=20,
)


class WithPlaces(Budget):
    """Looks for the place of each value, as where something is beyond the budget."""

    def _takes(self, schema: Any) -> bool:
        return False


def charged(budget: Budget, schemas: list[Any]) -> tuple[Any, ...]:
    found = [[*budget.excesses(schema)] for schema in schemas]
    return found, budget.taken, budget.is_spent


@given(st.lists(_SCHEMAS, max_size=3))
def test_a_schema_is_charged_alike_with_and_without_its_places(schemas):
    assert charged(Budget(), schemas) == charged(WithPlaces(), schemas)


def test_a_schema_of_just_so_many_values_is_within_it():
    for count, spent in ((MAX_VALUES - 2, False), (MAX_VALUES - 1, True)):
        schema = {"enum": list(range(count))}
        found = charged(Budget(), [schema])
        assert found == charged(WithPlaces(), [schema])
        assert (found[2], len(found[0][0])) == (spent, spent)
