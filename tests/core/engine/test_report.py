"""What the process of a branch reports reaches the one that started it, whatever is printed."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from uwf_core.api import events
from uwf_core.api.agent import ToolCall, Turn, Usage
from uwf_core.api.events import StepFinished, TurnTaken
from uwf_core.engine.report import Reporter, relay_line

USAGE = Usage(turns=1, input_tokens=10, cost_usd=0.5, at_least=("costUsd",))
FINISHED = StepFinished(
    thread="01JD0000000000000000000000", number=1, step="6DJBC8QPVHWTA", role="writer",
    agent="mock", output={"$status": "done", "n": [1, {"x": None}]}, usage=USAGE, duration_ms=5,
    at_ms=7, denials=("bash",), leads_to="$END", back=False,
)  # fmt: skip


def relayed(event: object) -> list[object]:
    lines: list[str] = []
    found: list[object] = []
    Reporter(lines.append).event(event)
    for line in lines:
        assert relay_line(line.encode(), found.append, lambda text: found.append(text)) is None
    return found


def test_an_event_arrives_as_it_was_sent() -> None:
    assert relayed(FINISHED) == [FINISHED]


def test_a_turn_arrives_with_short_texts_and_says_which_tool_has_no_result_yet() -> None:
    call = ToolCall(id="1", name="read", arguments="a" * 5_000, result=None)
    turn = Turn(index=0, role="assistant", text="b" * 5_000, tool_calls=(call,))
    [found] = relayed(TurnTaken(thread="t", number=1, role="writer", turn=turn))
    assert isinstance(found, TurnTaken)
    assert (len(found.turn.text), len(found.turn.tool_calls[0].arguments)) == (2_000, 2_000)
    assert found.turn.tool_calls[0].result is None


def test_a_text_without_a_line_end_spoils_no_event() -> None:
    lines: list[str] = []
    found: list[object] = []
    Reporter(lambda text: lines.append(f"{text}\n")).event(FINISHED)
    for line in f"printed{''.join(lines)}".splitlines():
        relay_line(line.encode(), found.append, found.append)
    assert found == ["printed", FINISHED]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["event", "fields", "notice", "outcome", "x", *vars(events)]), inner,
        max_size=3,
    ),
)  # fmt: skip


@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
def test_a_line_that_a_plugin_prints_is_a_notice_and_no_error(line: bytes) -> None:
    said: list[Any] = []
    assert relay_line(line, said.append, said.append) is None
    assert len(said) == (1 if line.strip() else 0)
