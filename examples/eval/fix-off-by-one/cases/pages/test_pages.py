"""What `pages` has to do. Run it: `python3 test_pages.py`, or pytest."""

from pages import pages

EXAMPLES = [
    ((0, 5), 0),
    ((1, 5), 1),
    ((10, 5), 2),
    ((11, 5), 3),
    ((3, 1), 3),
]


def test_examples() -> None:
    """Each call gives what it should."""
    for arguments, wanted in EXAMPLES:
        found = pages(*arguments)
        assert found == wanted, f"pages{arguments} gives {found!r} instead of {wanted!r}"


if __name__ == "__main__":
    test_examples()
    print("All tests pass.")
