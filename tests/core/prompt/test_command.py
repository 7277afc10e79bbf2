"""The command of a program: rendered argument by argument, and clear as one text."""

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uwf_core.errors import RoutingFailed
from uwf_core.prompt.command import command_text, rendered_argv
from uwf_core.workflow.definition import RoleProgram

VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def argv_of(*argv: str, **data: object) -> tuple[str, ...]:
    return rendered_argv("tests", RoleProgram(argv, {"0": "done"}), data)


@given(st.lists(VALUES, max_size=5))
@example(["$(touch x)", "; rm -rf /", "'\"", "{{x}}", "a\nb", ""])
def test_whatever_an_output_contains_stays_one_argument(values: list[str]) -> None:
    data = {f"f{index}": value for index, value in enumerate(values)}
    argv = argv_of("make", *(f"x={{{{f{index}}}}}" for index in range(len(values))), **data)
    assert argv == ("make", *(f"x={value}" for value in values))


@given(st.lists(VALUES, min_size=1))
def test_the_text_of_a_command_can_be_read_back(argv: list[str]) -> None:
    assert shlex.split(command_text(argv)) == argv


@given(VALUES)
@example("-rf")
@example("--")
def test_an_output_cannot_become_an_option(value: str) -> None:
    assert argv_of("rm", "--file={{f}}", f=value)[1] == f"--file={value}"
    assert argv_of("rm", "-{{f}}", f=value)[1] == f"-{value}"
    if not value.startswith("-"):
        assert argv_of("rm", "{{f}}", f=value)[1] == value
        return
    with pytest.raises(RoutingFailed, match=r"roles\.tests\.program\.argv\[1\]") as failure:
        argv_of("rm", "{{f}}", f=value)
    assert "./{{f}}" not in str(failure.value)
    assert failure.value.kind.word == "routing"


def test_the_program_itself_is_never_rendered() -> None:
    """Check rejects it, but a bundle can contain such a workflow."""
    assert argv_of("{{f}}", "{{f}}", f="sh") == ("{{f}}", "sh")


def test_too_much_text_is_a_failure_of_routing() -> None:
    with pytest.raises(RoutingFailed, match="more than 1,000,000 characters"):
        argv_of("echo", "{{f}}", f="x" * 1_000_001)
