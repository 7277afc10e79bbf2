import pytest

from uwf_core.api.agent import ToolCall
from uwf_llm.arguments import ToolArgumentsError, parse_arguments


def call(arguments):
    return ToolCall(id="1", name="read_file", arguments=arguments)


@pytest.mark.parametrize("text", ["", "  ", "null", "{}"])
def test_no_arguments_at_all_are_none(text):
    assert parse_arguments(call(text)) == {}


def test_arguments_are_a_mapping():
    assert parse_arguments(call(' {"path": "ä", "n": 1}\n')) == {"path": "ä", "n": 1}


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "a"',
        "[1]",
        '"text"',
        "7",
        '{"x": NaN}',
        '{"x": Infinity}',
        "{'a': 1}",
        "[" * 100_000,
        '{"a": 1}{"b": 2}',
        "1" * 5000,
        "\x00",
    ],
    ids=range(11),
)
def test_anything_else_is_an_answer_to_the_model_and_no_crash(text):
    with pytest.raises(ToolArgumentsError) as refused:
        parse_arguments(call(text))
    said = str(refused.value)
    assert "read_file" in said
    assert "Nothing was done" in said
    assert len(said) < 700
