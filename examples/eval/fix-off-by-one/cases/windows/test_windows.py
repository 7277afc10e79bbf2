"""What `windows` has to do. Run it: `python3 test_windows.py`, or pytest."""

from windows import windows

EXAMPLES = [
    (([1, 2, 3], 2), [[1, 2], [2, 3]]),
    (([1, 2, 3], 3), [[1, 2, 3]]),
    (([7], 1), [[7]]),
    (([], 2), []),
]


def test_examples() -> None:
    """Each call gives what it should."""
    for arguments, wanted in EXAMPLES:
        found = windows(*arguments)
        assert found == wanted, f"windows{arguments} gives {found!r} instead of {wanted!r}"


if __name__ == "__main__":
    test_examples()
    print("All tests pass.")
