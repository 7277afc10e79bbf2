"""What `days` has to do. Run it: `python3 test_days.py`, or pytest."""

from days import days

EXAMPLES = [
    ((1, 1), 1),
    ((1, 2), 2),
    ((10, 16), 7),
]


def test_examples() -> None:
    """Each call gives what it should."""
    for arguments, wanted in EXAMPLES:
        found = days(*arguments)
        assert found == wanted, f"days{arguments} gives {found!r} instead of {wanted!r}"


if __name__ == "__main__":
    test_examples()
    print("All tests pass.")
