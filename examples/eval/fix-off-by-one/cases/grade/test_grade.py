"""What `grade` has to do. Run it: `python3 test_grade.py`, or pytest."""

from grade import grade

EXAMPLES = [
    ((90,), "A"),
    ((89,), "B"),
    ((75,), "B"),
    ((74,), "C"),
    ((60,), "C"),
    ((59,), "D"),
]


def test_examples() -> None:
    """Each call gives what it should."""
    for arguments, wanted in EXAMPLES:
        found = grade(*arguments)
        assert found == wanted, f"grade{arguments} gives {found!r} instead of {wanted!r}"


if __name__ == "__main__":
    test_examples()
    print("All tests pass.")
