"""Every step of both threads is in one row, beside the one of its role with the same count."""

from hypothesis import given
from hypothesis import strategies as st

from uwf_core.views.lines import line_diff
from uwf_explain.comparison.align import align
from uwf_explain.comparison.neutral import Sides, neutral_words


def keys(roles):
    """The keys of steps of one thread."""
    return [(role, (roles[: at + 1].count(role),)) for at, role in enumerate(roles)]


ROLES = st.lists(st.sampled_from(("writer", "reviewer", "tester")), max_size=12)


@given(ROLES, ROLES, ROLES)
def test_each_step_is_in_one_row_beside_its_counterpart(common, rest_a, rest_b):
    a, b = keys([*common, *rest_a]), keys([*common, *rest_b])
    pairs = list(align(a, b, len(common)))
    assert [left for left, _ in pairs if left is not None] == list(range(len(a)))
    assert sorted(right for _, right in pairs if right is not None) == list(range(len(b)))
    for left, right in pairs:
        if left is not None and right is not None:
            assert a[left] == b[right]
        else:
            alone = a[left] if right is None else b[right]
            assert alone not in (b if right is None else a)


@given(ROLES, ROLES)
def test_the_steps_of_one_side_alone_keep_their_order(rest_a, rest_b):
    a, b = keys(rest_a), keys(rest_b)
    alone = [right for left, right in align(a, b, 0) if left is None]
    assert alone == sorted(alone)


LINES = st.lists(st.sampled_from(("one", "two", "three")), max_size=8)


@given(LINES, LINES)
def test_the_lines_of_both_texts_can_be_read_from_their_difference(a, b):
    lines = line_diff("\n".join(a), "\n".join(b))
    assert [line.text for line in lines if line.mark != "+"] == a
    assert [line.text for line in lines if line.mark != "-"] == b
    assert all(line.text == a[line.number - 1] for line in lines if line.mark == "-")


def test_a_folder_is_replaced_only_as_a_whole_path():
    step, thread = "0123456789ABC", "01JD8ZK3000000000000000000"
    a = neutral_words({thread: ""}, "/tmp/a", {step: "3"})
    assert a(f"/tmp/a/x /tmp/ab /x/tmp/a /tmp/a. {thread} {step}") == (
        "<folder>/x /tmp/ab /x/tmp/a <folder>. <thread> <step 3>"
    )
    assert neutral_words({thread: ""}, "/", {})("/ and /tmp") == "/ and /tmp"
    other = "ZZZZZZZZZZZZZ"
    assert a(f"{other} {other}9") == f"{other} {other}9"


def test_ids_of_other_threads_are_a_difference():
    one, two = "01JD8ZK3000000000000000000", "01JD8ZK3000000000000000001"
    sides = Sides(neutral_words({one: ""}, "/a", {}), neutral_words({two: ""}, "/b", {}))
    assert sides.same(f"in /a: {one}", f"in /b: {two}")
    assert not sides.same(f"in /a: {two}", f"in /b: {two}")
    assert sides.line("x\ny\nz", "x\ny\nw") == 3
    assert sides.field({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == (("a", "1", "b"), 2, 3)
