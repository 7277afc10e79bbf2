"""Which paths a glob protects."""

from hypothesis import given
from hypothesis import strategies as st

from uwf_eval.task.globs import selected

NAMES = ["a.py", "tests", "tests/test_a.py", "tests/deep/test_b.py", "src/tests/x", "b.txt", "[x]"]


def of(*globs: str) -> list[str]:
    return selected(NAMES, globs)


def test_a_glob_means_what_people_expect() -> None:
    assert of("tests") == ["tests", "tests/test_a.py", "tests/deep/test_b.py"]
    assert of("tests/") == of("tests")
    assert of("tests/*.py") == ["tests/test_a.py"]
    assert of("tests/**") == ["tests/test_a.py", "tests/deep/test_b.py"]
    assert of("**/test_*.py") == ["tests/test_a.py", "tests/deep/test_b.py"]
    assert of("**/tests") == ["tests", "tests/test_a.py", "tests/deep/test_b.py", "src/tests/x"]
    assert of("*.py", "?.txt") == ["a.py", "b.txt"]
    assert of("[ab].*") == ["a.py", "b.txt"]
    assert of("[!a].*") == ["b.txt"]
    assert of("[") == [] and of() == []


@given(st.text(st.sampled_from("abcdef./-_ é\n"), min_size=1))
def test_a_plain_name_protects_itself_and_nothing_beside(name: str) -> None:
    plain = name.removeprefix("./").rstrip("/")
    if plain:
        assert selected([plain, plain + "x", "x" + plain], [name]) == [plain]
