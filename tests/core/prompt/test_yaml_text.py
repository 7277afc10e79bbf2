"""What an agent is shown as YAML means exactly the value that was delivered."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.yaml.source import parse_yaml
from uwf_core.yaml.text import frontmatter, yaml_text

WORDS = """yes null 1.0 0x1f 12:30 --- *x &x !t %y a: ~ << [x {x > | é 'q' "q" \\n -1 .5 + ,"""
LINES = [
    "- a",
    "? b",
    "a: b",
    "a #b",
    " a",
    "a ",
    "\ta",
    "",
    "x" * 1500,
    "\x85",
    "\ufeff",
    "\u2028",
]
BLOCKS = ["a\nb", "a\n", "\na", "a\n\n", "a\n---\nb", "a\r\nb", "a\n  b\n c", "a\n \nb", "é\nü"]
NASTY = st.sampled_from([*WORDS.split(" "), *LINES, *BLOCKS])
TEXTS = NASTY | st.text(max_size=8) | st.tuples(NASTY, NASTY).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=400)
@given(VALUES)
def test_our_own_parser_reads_the_same_value_back(value: Any) -> None:
    read = parse_yaml(yaml_text(value), file="value")
    assert read == value
    assert repr(read) == repr(value)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_no_value_can_end_the_frontmatter_it_stands_in(output: dict[str, Any]) -> None:
    text = frontmatter(output, "body\n---\nmore")
    first, *lines = text.split("\n")
    assert first == "---"
    end = lines.index("---")
    assert (parse_yaml("".join(f"{line}\n" for line in lines[:end]), file="value") or {}) == output
    assert "\n".join(lines[end + 1 :]) == "body\n---\nmore"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"$status": "done", "n": 3}, "$status: done\nn: 3"),
        (
            {"a": {"b": [1, {"c": None, "d": True}, [], {}]}},
            "a:\n  b:\n    - 1\n    - c: null\n      d: true\n    - []\n    - {}",
        ),
        ({"t": "one\n\n  two\n"}, "t: |\n  one\n\n    two"),
        ({"t": ["one\ntwo", [1, 2]]}, "t:\n  - |-\n    one\n    two\n  - - 1\n    - 2"),
        (
            {"v": "1.0", "w": "true", "x": "a: b", "y": "https://x/#y", "z": ""},
            'v: "1.0"\nw: "true"\nx: "a: b"\ny: https://x/#y\nz: ""',
        ),
        ({"p": "<comments>", "q": "a\x00\ud800"}, 'p: <comments>\nq: "a\\u0000\ufffd"'),
    ],
)
def test_it_reads_as_a_person_would_write_it(value: Any, text: str) -> None:
    assert yaml_text(value) == text + "\n"
