"""What people read, at the widths that terminals have."""

import re

import pytest
from cli_kit import check_golden
from hypothesis import example, given, settings
from hypothesis import strategies as st

from uwf_core.cli import thread_list
from uwf_core.cli.error_report import error_text
from uwf_core.cli.outcome import exec_text
from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen, cells, wrap
from uwf_core.cli.render.findings import check_lines, problem_lines
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.step import answer_text, step_text, steps_text, turns_text
from uwf_core.cli.thread import form_text, thread_text
from uwf_core.cli.thread_list import threads_text
from uwf_core.errors import UsageError

NOW = 1_767_225_600_000
USAGE = {
    "turns": 3,
    "inputTokens": 12_345,
    "outputTokens": 890,
    "cacheReadTokens": 4_000,
    "cacheWriteTokens": None,
    "costUsd": 0.0123,
    "atLeast": [],
    "durationMs": 61_000,
}
UNKNOWN = {**dict.fromkeys(USAGE), "atLeast": []}


def thread(number, status, **changes):
    return {
        "thread": f"01JD8ZK3QW7V5N2B4C6D8E0F{number:02}",
        "workflow": "3FQ8K1M2N4P5Q",
        "workflowName": "write-document",
        "cwd": "/home/me/shop",
        "head": "7GQ8K1M2N4P5Q",
        "depth": 0,
        "tags": {},
        "parent": None,
        "status": status,
        "currentRole": "reviewer" if status in ("idle", "running") else None,
        "suspendedRole": "approver" if status == "suspended" else None,
        "suspendMessage": "May it be published?\nSee the draft." if status == "suspended" else None,
        "suspendReason": "role" if status == "suspended" else None,
        "waitingFor": None,
        "waitingUntil": None,
        "done": status == "completed",
        "steps": number * 3,
        "usage": USAGE,
        "running": {"pid": 4711, "host": "desk", "startedAtMs": NOW}
        if status == "running"
        else None,
        "original": None,
        "startedAtMs": NOW - 7_200_000,
        "updatedAtMs": NOW - number * 3_700_000,
        "task": "Sum the orders up.",
        **changes,
    }


STATUSES = ["idle", "running", "suspended", "completed", "cancelled", "corrupt"]
THREADS = {"threads": [thread(number, status) for number, status in enumerate(STATUSES)]}
STEPS = {
    "steps": [
        {"step": "94TZ6D62C8493", "number": 0, "role": "$START", "agent": None,
         "alias": None, "status": None,
         "durationMs": None, "attempts": 0, "denials": [], "answered": False,
         "childThread": None, "branches": None},
        {"step": "2WM89S4EYMP2F", "number": 1, "role": "developer", "agent": "claude-code",
         "alias": None, "status": "done", "durationMs": 199, "attempts": 1,
         "denials": [], "answered": False,
         "childThread": None, "branches": None},
        {"step": "BYHRRC4X2J4SH", "number": 2, "role": "security-reviewer", "agent": "hermes",
         "alias": None, "status": "needs-clarification", "durationMs": 3_700_000, "attempts": 3,
         "denials": ["run_command: rm -rf /"], "answered": False,
         "childThread": None, "branches": None},
        {"step": "0V3ZC9K1M2N4P", "number": 3, "role": "approver", "agent": "human",
         "alias": None, "status": "approved", "durationMs": 12, "attempts": 1,
         "denials": [], "answered": True,
         "childThread": None, "branches": None},
    ]
}  # fmt: skip
TURN = {
    "step": None,
    "number": 2,
    "role": "developer",
    "index": 4,
    "speaker": "assistant",
    "text": "I read the file.",
    "reasoning": "It must be the loop.",
    "toolCalls": [
        {"name": "read_file", "arguments": '{"path":\n "a.py"}', "isError": False},
        {"name": "run_command", "arguments": "x" * 300, "isError": True},
    ],
    "usage": None,
}
STEP = {
    "step": "2WM89S4EYMP2F",
    "thread": THREADS["threads"][0]["thread"],
    "number": 1,
    "role": "developer",
    "agent": "claude-code",
    "alias": None,
    "agentVersion": "2.0.1",
    "model": "sonnet",
    "session": {"id": "abc-1", "kept": True, "continuation": "continued", "mark": None},
    "attempt": {
        "cwd": "/home/me/shop",
        "replaces": None,
        "said": "Use tabs.",
        "answer": {"env": "prod"},
        "by": {"user": "ada", "host": "engine", "via": "cli"},
        "skills": None,
    },
    "status": "done",
    "output": {"$status": "done", "files": ["a.py", "b.py"]},
    "body": "\nI changed two files.\n",
    "failure": None,
    "startedAtMs": NOW,
    "durationMs": 61_000,
    "usage": USAGE,
    "denials": ["run_command: rm -rf /"],
    "notices": ["the program ended with exit code 1 after its reply"],
    "corrections": [{"prompt": "…", "raw": "…", "errors": ["files: must be a list"]}],
    "previousAttempts": ["7GQ8K1M2N4P5Q"],
    "answered": False,
    "childThread": None,
    "call": None,
    "files": None,
    "delivered": [],
    "turns": [TURN],
}
FAILED = {
    "thread": THREADS["threads"][0]["thread"],
    "status": "suspended",
    "suspendReason": "failure",
    "suspendMessage": "the key was refused",
    "waitingFor": None,
    "waitingUntil": None,
    "notices": [],
    "steps": [
        {"step": "2WM89S4EYMP2F", "role": "developer", "agent": "hermes",
         "thread": THREADS["threads"][0]["thread"], "alias": None, "durationMs": 61_000,
         "failure": None, "suspendMessage": None, "notices": [], "answered": False,
         "childThread": None, "branches": None},
        {"step": "7GQ8K1M2N4P5Q", "role": "reviewer", "agent": "hermes",
         "thread": THREADS["threads"][0]["thread"], "alias": None, "durationMs": 900,
         "failure": {"kind": "auth", "message": "the key was refused", "until": None},
         "suspendMessage": "the key was refused", "notices": [], "answered": False},
    ],
}  # fmt: skip
WAITING = {
    "suspendedRole": "reviewer",
    "currentRole": "reviewer",
    "next": [f"uwf thread exec {THREADS['threads'][0]['thread']}"],
}
PROBLEMS = [
    {"severity": "error", "code": "unknown-role", "file": "a.yaml", "line": 3, "column": 9,
     "message": "there is no role 'revewer'", "hint": "did you mean reviewer?"},
    {"severity": "warning", "code": "version", "file": "a.yaml", "line": 1, "column": 1,
     "message": "version is missing", "hint": ""},
]  # fmt: skip
CHECKS = [
    {"name": "store", "state": "ok", "message": "/home/me/.uwf/store.db", "hint": None},
    {"name": "home", "state": "warning", "message": "others can read it", "hint": "chmod 700 it"},
    {"name": "agents x", "state": "error", "message": "it does not load", "hint": "repair it"},
]


@pytest.fixture(autouse=True)
def still_clock(monkeypatch):
    monkeypatch.setattr(thread_list, "now_ms", lambda: NOW)
    monkeypatch.setattr(amounts, "moment", lambda ms: "2026-01-01 00:00")


SHOWN = {
    "thread-list": lambda screen: threads_text(THREADS, screen),
    "thread-show": lambda screen: thread_text(
        thread(
            2,
            "suspended",
            task="Sum it up.",
            form={"type": "object"},
            next=["uwf thread resume 01JD8 --status approved", "uwf thread resume 01JD8 …"],
            hint="answers approver",
        ),
        screen,
    ),
    "step-list": lambda screen: steps_text(STEPS, screen),
    "step-show": lambda screen: step_text(STEP, screen),
    "step-turns": lambda screen: turns_text({"turns": [TURN]}, screen),
    "exec": lambda screen: exec_text(FAILED, WAITING, screen),
    "answer": lambda screen: answer_text(
        {"answer": "Because.\n", "role": "developer", "agent": "mock", "continuation": "original"},
        screen,
    ),
    "problems": lambda screen: "\n".join(problem_lines(PROBLEMS, screen)),
    "checks": lambda screen: "\n".join(check_lines(CHECKS, screen)),
}


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("width", [40, 80, 120])
def test_what_people_read_is_as_it_was_agreed(name, width):
    check_golden(f"{name}-{width}.txt", SHOWN[name](Screen(width, False)))


@pytest.mark.parametrize("name", SHOWN)
def test_colours_change_nothing_but_the_colour(name):
    plain, coloured = SHOWN[name](Screen(80, False)), SHOWN[name](Screen(80, True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert "\x1b[" in coloured


@pytest.mark.parametrize("name", ["thread-list", "step-list"])
@pytest.mark.parametrize("width", [40, 60])
def test_tables_fit_into_narrow_terminals(name, width):
    assert all(cells(line) <= width for line in SHOWN[name](Screen(width, False)).splitlines())


@pytest.mark.parametrize("width", [40, 80])
def test_an_id_is_never_cut(width):
    shown = SHOWN["thread-list"](Screen(width, False))
    assert all(each["thread"] in shown for each in THREADS["threads"])


@settings(max_examples=60)
@given(
    st.lists(
        st.fixed_dictionaries({"a": st.text(max_size=30), "b": st.text(max_size=30)}), max_size=4
    ),
    st.integers(min_value=12, max_value=60),
)
def test_a_table_that_can_shrink_never_exceeds_its_room(rows, width):
    columns = (Column("a", "A", least=4), Column("b", "B", least=4, rank=1))
    for line in table(columns, rows, Screen(width, False)).split("\n"):
        assert cells(line) <= width


@pytest.mark.parametrize(
    ("ms", "text"),
    [(None, "–"), (0, "0ms"), (999, "999ms"), (4_200, "4.2s"), (59_999, "60.0s"),
     (190_000, "3m10s"), (7_500_000, "2h05m"), (273_600_000, "3d04h")],
)  # fmt: skip
def test_durations_are_short_words(ms, text):
    assert amounts.duration(ms) == text


def test_unknown_usage_is_left_out_and_never_zero():
    assert amounts.usage(UNKNOWN) == ""
    assert amounts.usage({**UNKNOWN, "costUsd": 0.0}) == "$0.0000"


def test_a_form_says_each_way_to_answer_and_what_its_fields_are():
    approved = {"properties": {"$status": {"const": "approved"}}, "required": ["$status"]}
    comments = {"type": "string", "description": "What must change."}
    rejected = {
        "properties": {"$status": {"const": "rejected"}, "comments": comments},
        "required": ["$status", "comments"],
    }
    assert form_text({"type": "object", "oneOf": [approved, rejected]}).splitlines() == [
        "$status=approved",
        "$status=rejected",
        "- `comments` (text): What must change.",
    ]
    assert form_text({"properties": {"leave": {"type": "boolean"}}, "required": ["leave"]}) == (
        "- `leave` (true or false)"
    )


def test_a_thread_that_can_go_on_says_who_is_next_and_how():
    step = {**FAILED["steps"][0], "answered": True}
    idle = {"status": "idle", "suspendReason": None, "suspendMessage": None}
    after = {"suspendedRole": None, "currentRole": "reviewer", "next": ["uwf a", "uwf b"]}
    shown = exec_text({**FAILED, **idle, "steps": [step]}, after, Screen(80, False))
    assert shown.splitlines() == [
        "2WM89S4EYMP2F  developer  hermes  answered",
        f"{FAILED['thread']} idle: reviewer",
        "next: uwf a",
        "  or: uwf b",
    ]


def test_threads_are_told_apart_by_their_tasks_on_the_narrowest_terminal():
    """Their ids begin alike, and a column of a few cells cuts tasks before they differ."""
    tasks = [f"Fix the total of the cart number {number}" for number in range(6)]
    rows = [{**row, "task": task} for row, task in zip(THREADS["threads"], tasks, strict=True)]
    for width in (40, 60, 80, 100):
        screen = Screen(width, False)
        lines = threads_text({"threads": rows}, screen).splitlines()
        assert all(cells(line) <= width for line in lines)
        assert all(any(task in line for line in lines) for task in tasks), width


def test_a_reason_can_be_read_on_every_terminal():
    """It says what to do at its end, so it is wrapped below its row and never cut to a column."""
    reason = "the program 'claude' is not there; install it: npm install -g @anthropic-ai/it"
    threads = {"threads": [thread(1, "suspended", suspendMessage=reason, suspendReason="failure")]}
    for width in (40, 60, 80, 100, 120):
        lines = threads_text(threads, Screen(width, False)).splitlines()
        assert all(cells(line) <= width for line in lines)
        assert f"failure: {reason}" in " ".join(" ".join(lines).split()), width
    whole = threads_text(threads, Screen(1_000_000, False)).splitlines()
    assert len(whole) == 2
    assert f"failure: {reason}" in whole[1]


def test_a_long_reason_is_cut_after_some_lines():
    threads = {"threads": [thread(1, "suspended", suspendMessage="word " * 500)]}
    lines = threads_text(threads, Screen(60, False)).splitlines()
    assert len(lines) < 10
    assert lines[-1].endswith("…")


@example(text="aaa中\u0301", width=4, most=2)
@given(text=st.text("ab 中\u0301e", max_size=80), width=st.integers(4, 30), most=st.integers(1, 5))
def test_wrapped_text_fits_and_keeps_its_words(text, width, most):
    lines = wrap(text, width, most)
    assert len(lines) <= most
    assert all(cells(line) <= width for line in lines)
    if not lines or not lines[-1].endswith("…"):
        assert "".join(lines).replace(" ", "") == "".join(text.split())


PLACES = {
    "severity": st.sampled_from(["error", "warning"]),
    "code": st.just("bad-shape"),
    "file": st.just("a.yaml") | st.none(),
    "line": st.just(3) | st.none(),
    "column": st.just(9) | st.none(),
    "hint": st.sampled_from(["", "write another"]) | st.none(),
}


@given(
    st.lists(
        st.fixed_dictionaries({"message": st.text("abc \x1b", min_size=1)}, optional=PLACES),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_every_reason_of_an_error_is_printed_whatever_its_problems_lack(problems, colour):
    error = UsageError(f"it is wrong: {problems[0]['message']}", problems=problems).document()
    text = error_text(error["error"], Screen(80, colour))
    for each in problems:
        assert each["message"].replace("\x1b", "\\x1b") in text
        if each.get("file"):
            assert "a.yaml" in text
    assert "None" not in text
