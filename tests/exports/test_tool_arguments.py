"""The arguments of a tool's call are any text; every export has an object that JSON can hold."""

import json

import pytest

from uwf_core.api.tool_calls import tool_arguments


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"path": "x"}', {"path": "x"}),
        ("", {}),
        ("[1]", {"text": "[1]"}),
        ("no json", {"text": "no json"}),
        ('{"x": NaN}', {"text": '{"x": NaN}'}),
        (r'{"x": "\ud800"}', {"text": r'{"x": "\ud800"}'}),
        ("[" * 100_000, {"text": "[" * 100_000}),
        ('{"x": ' + "9" * 5_000 + "}", {"text": '{"x": ' + "9" * 5_000 + "}"}),
        ('{"x": "\\u0000"}', {"x": "\0"}),
    ],
)
def test_arguments_are_an_object_or_the_text_in_one(text: str, arguments: object) -> None:
    found = tool_arguments(text)
    assert found == arguments
    json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
