"""When something is seen often enough to be a finding, and what the texts of its steps share."""

import pytest

from uwf_improve.reflect.finding import is_habit, shared_phrase


@pytest.mark.parametrize(
    ("count", "of", "least", "found"),
    [
        (2, 2, 0.1, False),  # twice may be chance
        (3, 3, 0.5, True),  # the interval begins at 53 %
        (3, 3, 0.55, False),
        (3, 20, 0.05, True),  # at 6 %
        (3, 20, 0.1, False),  # though 15 % were seen
        (60, 400, 0.1, True),  # the same share of more cases: at 12 %
        (3, 3, 1.0, False),
    ],
)
def test_a_habit_is_seen_three_times_and_more_often_than_by_chance(count, of, least, found):
    assert is_habit(count, of, least) is found


def test_a_phrase_is_shared_by_six_of_ten_texts_and_as_long_as_possible():
    with_it = [[f"{number}: Who is the reader of it?"] for number in range(6)]
    without = [[f"something else, number {number}"] for number in range(5)]
    assert shared_phrase([*with_it, *without[:4]]) == "who is the reader of it"
    assert shared_phrase([*with_it, *without]) is None  # six of eleven
    assert shared_phrase([*with_it[:2]]) is None  # three texts at least
    assert shared_phrase([*with_it[:3]]) == "who is the reader of it"
    assert shared_phrase([["one two"]] * 5) is None  # three words at least


def test_a_phrase_of_one_step_counts_once_and_has_at_most_eight_words():
    assert shared_phrase([["a b c. a b c"], ["a b c"], ["x y z"], ["u v w"], ["r s t"]]) is None
    assert shared_phrase([["one two three four five six seven eight nine"]] * 3) == (
        "two three four five six seven eight nine"
    )
