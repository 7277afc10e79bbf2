"""What `shorten` has to do. Run it: `python3 test_shorten.py`, or pytest."""

from shorten import shorten

EXAMPLES = [
    (("abc", 3), "abc"),
    (("abcd", 3), "ab\u2026"),
    (("", 3), ""),
    (("abcdefgh", 5), "abcd\u2026"),
]


def test_examples() -> None:
    """Each call gives what it should."""
    for arguments, wanted in EXAMPLES:
        found = shorten(*arguments)
        assert found == wanted, f"shorten{arguments} gives {found!r} instead of {wanted!r}"


if __name__ == "__main__":
    test_examples()
    print("All tests pass.")
