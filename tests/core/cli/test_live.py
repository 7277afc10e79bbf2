"""Following a run: one line that is redrawn on a terminal, plain lines elsewhere."""

import io
import os
import re

import pytest
from cli_kit import check_golden

from uwf_core.api.agent import ToolCall, Turn, Usage
from uwf_core.api.events import (
    StepAsked,
    StepFailed,
    StepFinished,
    StepStarted,
    ThreadEnded,
    TurnTaken,
)
from uwf_core.cli.outcome import LiveWatch, running_line
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.views.activity import Running, activity_of

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


def shown(events=EVENTS, *, refresh, width=80):
    stream = io.StringIO()
    with watch_on(stream, width=width, refresh=refresh) as watch:
        watch.notice("workflow x from \x1bhere")
        for event in events:
            watch.event(event)
    return stream.getvalue()


def watch_on(stream, *, width=80, height=24, refresh):
    screen = Screen(width, False, height)
    return LiveWatch(stream, screen, lambda line: print(line, file=stream), refresh=refresh)


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


def test_the_line_says_role_agent_seconds_what_it_does_turns_and_tokens():
    running = Running("2", 1, "developer", "hermes", started=10.0, heard=10.0)
    assert running_line(running, 10.4) == "#2 developer · hermes · 0s"
    assert running_line(running, 12.0) == "#2 developer · hermes · 2s · waiting 2s for the agent"
    usage = Usage(input_tokens=1000, output_tokens=200)
    running = running.after_turn(Turn(index=0, role="assistant", text="x", usage=usage), 12.0)
    call = ToolCall(id="1", name="read_file")
    running = running.after_turn(Turn(index=1, role="assistant", tool_calls=(call,)), 14.0)
    assert running_line(running, 20.0) == (
        "#2 developer · hermes · 10s · running read_file 6s · 2 turns · 1.2k tokens"
    )
    partly = ToolCall(id="1", name="read_file", result="te", started_ms=14_000)
    growing = running.after_turn(Turn(index=1, role="assistant", tool_calls=(partly,)), 16.0)
    assert running_line(growing, 20.0) == (
        "#2 developer · hermes · 10s · running read_file 4s · 2 turns · 1.2k tokens"
    )
    done = ToolCall(id="1", name="read_file", result="text")
    running = running.after_turn(Turn(index=1, role="assistant", tool_calls=(done,)), 22.0)
    assert running_line(running, 100.0) == (
        "#2 developer · hermes · 1m30s · waiting 1m18s for the model · 2 turns · 1.2k tokens"
        " · read_file"
    )
    newer_state_of_the_same_turn = running.after_turn(Turn(index=1, role="assistant"), 15.0)
    assert newer_state_of_the_same_turn.turns == 2


@pytest.mark.parametrize("agent", ["program", "workflow"])
def test_a_program_and_a_called_thread_wait_for_no_model(agent):
    running = Running("2", 1, "tester", agent, 10.0, 10.0)
    assert running_line(running, 70.0) == f"#2 tester · {agent} · 1m00s"
    answered = Running("2", 1, "approver", "human", 10.0, 10.0, answers=True)
    assert running_line(answered, 15.0) == "#2 approver · human · a person's answer · 5s"


REPLY = '---\n"$status": done\nsummary: it\n---\n\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (REPLY + "I changed two files.\nBoth are tested.", "done: I changed two files."),
        (REPLY, "done"),
        (REPLY[:26], "done"),
        ("\n---\nsumm", "its fields"),
        ("---", "its fields"),
        ("I read it.\nThen I write.", "I read it."),
        ("a \x1b[2J b", "a \\x1b[2J b"),
        ("", ""),
    ],
)
def test_a_reply_is_shown_by_its_status_and_its_text(text, line):
    """Its fields begin with a line `---`, which says nothing to a reader."""
    assert activity_of(text, ()).said == line


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


def in_branch(record, branch, **fields):
    """An event of the role `worker` in a branch of step 2."""
    place = {"thread": f"01JD8ZK3QW7V5N2B4C6D8E0F{branch:0>2}", "number": 1, "agent": "mock"}
    label = fields.pop("label", f"2.{branch}")
    return record(**place, role=fields.pop("role", "worker"), label=label, at_ms=0, **fields)


def started(branch, **fields):
    return in_branch(StepStarted, branch, attempt=1, **fields)


def finished(branch, **fields):
    return in_branch(
        StepFinished, branch, step=f"2WM89S4EYMP{branch:0>2}", output={"$status": "done"},
        usage=Usage(turns=3), duration_ms=1000, leads_to="$END", **fields,
    )  # fmt: skip


BRANCHES = [
    *map(started, range(3)),
    finished(1),
    in_branch(StepFailed, 0, attempt=1, step=None, kind="auth", message="the key was refused"),
    started("3", label="2.style", role="style-reviewer"),
    started("4", label="3.1.2.0.1", role="fixer"),
    in_branch(StepAsked, 2, attempt=1, message="Which one?"),
    finished("3", label="2.style", role="style-reviewer"),
    StepFinished(
        **PLACE | {"role": "planner/planned"}, step="0V3ZC9K1M2N4P", agent="workflow",
        output={"$status": "$mixed"}, usage=Usage(turns=0), duration_ms=5000, at_ms=0,
        leads_to="planner", back=True,
    ),
]  # fmt: skip


class Terminal(io.StringIO):
    """What a terminal shows: the lines, and how many of them were drawn over."""

    def lines(self):
        lines, at = [""], 0
        for part in re.split(r"(\r|\n|\x1b\[2K|\x1b\[1A)", self.getvalue()):
            if part == "\n":
                at += 1
                lines += [""] * (at == len(lines))
            elif part == "\x1b[1A":
                at -= 1
                assert at >= 0
            elif part == "\x1b[2K":
                lines[at] = ""
            elif part not in ("", "\r"):
                assert not lines[at]
                lines[at] = part
        return [
            re.sub(r" · \d+s( · waiting for the \w+ \d+s)?", " · 0s", line)
            for line in lines
            if line
        ]


def test_where_nobody_looks_the_lines_of_branches_can_be_told_apart():
    check_golden("live-branches-plain.txt", shown(BRANCHES, refresh=False).rstrip("\n"))


def test_on_a_terminal_each_running_branch_has_a_line_below_those_that_stay():
    terminal = Terminal()
    with watch_on(terminal, width=60, refresh=True) as watch:
        screens = []
        for event in BRANCHES:
            watch.event(event)
            screens.append("\n".join(terminal.lines()))
    check_golden("live-branches.txt", "\n---\n".join([*screens, "\n".join(terminal.lines())]))


@pytest.mark.parametrize(("height", "drawn"), [(24, 16), (10, 7), (4, 1), (2, 1), (1, 1)])
def test_more_branches_than_lines_of_the_screen_are_counted(height, drawn):
    terminal = Terminal()
    with watch_on(terminal, height=height, refresh=True) as watch:
        for branch in range(16):
            watch.event(started(branch))
        lines = terminal.lines()
        watch.event(finished(0))
        after = terminal.lines()
    assert len(lines) == drawn
    assert lines[-1] == f"+ {17 - drawn} more" if drawn < 16 else lines[-1].startswith("#2.15 ")
    assert after[0].startswith("#2.0 worker: done → $END")
    assert after[1].startswith("#2.1 worker · mock" if drawn > 1 else "+ 15 more")


def test_a_turn_counts_for_its_own_branch():
    terminal = Terminal()
    with watch_on(terminal, refresh=True) as watch:
        for branch in range(2):
            watch.event(started(branch))
        thread = started(1).thread
        watch.event(TurnTaken(thread, 1, "worker", Turn(index=0, role="assistant", text="Hm.")))
        lines = terminal.lines()
    assert lines == ["#2.0 worker · mock · 0s", "#2.1 worker · mock · 0s · 1 turn · Hm."]
