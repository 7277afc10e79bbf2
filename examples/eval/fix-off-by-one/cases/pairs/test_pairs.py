"""What `pairs` has to do. Run it: `python3 test_pairs.py`, or pytest."""

from pairs import pairs

EXAMPLES = [
    (([1, 2, 3],), [(1, 2), (2, 3)]),
    (([1],), []),
    (([],), []),
]


def test_examples() -> None:
    """Each call gives what it should."""
    for arguments, wanted in EXAMPLES:
        found = pairs(*arguments)
        assert found == wanted, f"pairs{arguments} gives {found!r} instead of {wanted!r}"


if __name__ == "__main__":
    test_examples()
    print("All tests pass.")
