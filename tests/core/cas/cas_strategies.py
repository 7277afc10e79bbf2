"""Hypothesis strategies for what JSON can say, and what a payload becomes by being stored."""

from hypothesis import strategies as st

from uwf_core.cas.codec import SAFE_INTEGER
from uwf_core.cas.walk import stored_below

texts = st.text(max_size=8)
integers = st.integers(-SAFE_INTEGER, SAFE_INTEGER)
floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | integers | floats | texts
payloads = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=30), inner, max_size=5)
    ),
    max_leaves=20,
)


def stored_form(value):
    """The payload as it reads back: whole floats within the safe range are integers."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= SAFE_INTEGER:
        return int(value)
    if isinstance(value, list):
        return [stored_form(each) for each in value]
    if isinstance(value, dict):
        return {key: stored_form(each) for key, each in value.items()}
    return value


def same(one, other):
    """Equality that tells 1 from 1.0 from True."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def refs_below(store, roots):
    """The references of all nodes that `roots` lead to, the nearest first."""
    return [each.ref for each in stored_below(store, roots)]
