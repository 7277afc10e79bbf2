"""What `delays` has to do. Run it: `python3 test_delays.py`, or pytest."""

from delays import delays

EXAMPLES = [
    ((3,), [2, 4, 8]),
    ((1,), [2]),
    ((0,), []),
]


def test_examples() -> None:
    """Each call gives what it should."""
    for arguments, wanted in EXAMPLES:
        found = delays(*arguments)
        assert found == wanted, f"delays{arguments} gives {found!r} instead of {wanted!r}"


if __name__ == "__main__":
    test_examples()
    print("All tests pass.")
