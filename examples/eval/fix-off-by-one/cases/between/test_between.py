"""What `between` has to do. Run it: `python3 test_between.py`, or pytest."""

from between import between

EXAMPLES = [
    ((1, 3), [1, 2, 3]),
    ((4, 4), [4]),
    ((5, 4), []),
]


def test_examples() -> None:
    """Each call gives what it should."""
    for arguments, wanted in EXAMPLES:
        found = between(*arguments)
        assert found == wanted, f"between{arguments} gives {found!r} instead of {wanted!r}"


if __name__ == "__main__":
    test_examples()
    print("All tests pass.")
