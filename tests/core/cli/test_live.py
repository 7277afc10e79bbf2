"""Following a run: one line that is redrawn on a terminal, plain lines elsewhere."""

import io
import os

import pytest
from cli_kit import check_golden

from uwf_core.api.agent import ToolCall, Turn, Usage
from uwf_core.api.events import StepFailed, StepFinished, StepStarted, ThreadEnded, TurnTaken
from uwf_core.cli.outcome import LiveWatch, Running
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session

PLACE = {"thread": "01JD8ZK3QW7V5N2B4C6D8E0F00", "number": 2, "role": "developer"}
EVENTS = [
    StepStarted(**PLACE, attempt=2, agent="claude-code", at_ms=0),
    TurnTaken(**PLACE, turn=Turn(index=0, role="assistant", text="I \x1b[31mread\nthe code.")),
    StepFinished(
        **PLACE, step="2WM89S4EYMP2F", agent="claude-code", output={"$status": "do\x1bne"},
        usage=Usage(turns=3, input_tokens=1200, output_tokens=80), duration_ms=61_000, at_ms=0,
        denials=("shell\x1b[2J", "fetch"), leads_to="reviewer",
    ),
    StepStarted(**PLACE, attempt=1, agent="claude-code", at_ms=0),
    StepStarted(**PLACE, attempt=2, agent="human", at_ms=0, answers=True),
    StepFinished(
        **PLACE, step="0V3ZC9K1M2N4P", agent="human", output={"$status": "again"},
        usage=Usage(turns=0, cost_usd=0.0), duration_ms=77, at_ms=0, leads_to="dev\x1beloper",
        back=True,
    ),
    StepFailed(
        **PLACE, attempt=1, step=None, agent="claude-code", kind="auth",
        message="the key \x1b]0;x\x07 was refused", at_ms=0,
    ),
    ThreadEnded(
        thread=PLACE["thread"], workflow="3FQ8K1M2N4P5Q", workflow_name="x", status="completed",
        at_ms=0,
    ),
]  # fmt: skip


def shown(*, refresh, width=80):
    stream = io.StringIO()
    with LiveWatch(
        stream, Screen(width, False), lambda line: print(line, file=stream), refresh=refresh
    ) as watch:
        watch.notice("workflow x from \x1bhere")
        for event in EVENTS:
            watch.event(event)
    return stream.getvalue()


def test_where_nobody_looks_each_step_is_two_plain_lines():
    check_golden("live-plain.txt", shown(refresh=False).rstrip("\n"))


def test_on_a_terminal_the_line_is_redrawn_and_gone_at_the_end():
    text = shown(refresh=True, width=40)
    drawn = text.replace("\n", "\r").split("\r\x1b[2K")
    assert "#2 developer · claude-code · attempt 2…" in drawn
    assert text.endswith("\r\x1b[2K")
    assert all(len(line.split("\r")[0]) < 40 for line in drawn if line.startswith("#2 developer ·"))


def test_no_escape_of_an_agent_reaches_the_terminal():
    for refresh in (True, False):
        assert "\x1b" not in shown(refresh=refresh).replace("\x1b[2K", "")


def test_the_line_says_role_agent_attempt_turns_tokens_and_seconds_idle():
    running = Running(2, 1, "developer", "hermes", started=10.0, heard=10.0)
    usage = Usage(input_tokens=1000, output_tokens=200)
    running = running.after_turn(Turn(index=0, role="assistant", text="x", usage=usage), 12.0)
    call = ToolCall(id="1", name="read_file")
    running = running.after_turn(Turn(index=1, role="assistant", tool_calls=(call,)), 14.0)
    assert running.line(20.0) == (
        "#2 developer · hermes · 2 turns · 1.2k tokens · 10s · idle 6s · read_file"
    )
    newer_state_of_the_same_turn = running.after_turn(Turn(index=1, role="assistant"), 15.0)
    assert newer_state_of_the_same_turn.turns == 2


@pytest.mark.parametrize("events_before", range(len(EVENTS) + 1))
def test_a_terminal_that_goes_away_at_any_moment_does_not_stop_the_run(events_before):
    """Every write on a closed terminal raises EIO, the one that clears the live line as well."""
    keyboard, screen = os.openpty()
    session, written = Session(), []
    stream = session.stderr = os.fdopen(screen, "w", buffering=1)

    def write(line):
        written.append(line)
        session.write_error(line)

    with LiveWatch(stream, Screen(80, False), write, refresh=True) as watch:
        for event in EVENTS[:events_before]:
            watch.event(event)
        os.close(keyboard)
        for event in EVENTS[events_before:]:
            watch.event(event)
        watch.notice("the last line")
    assert written[-2:] == [
        "#2 developer: ✗ auth: the key \\x1b]0;x\\x07 was refused",
        "the last line",
    ]
    session.stderr.close()
    stream.close()
