"""What a person reads at the end of a run: each thing once, and the command that continues it."""

import errno
import os
import re
import shlex
import subprocess
import sys

import pytest
from cli_kit import ASKS, WORKFLOW, WROTE, on_terminal

from uwf_core.api.sums import NOTHING_USED
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.thread import closing_text
from uwf_core.views.form import answer_options

REJECTED = {"role": "reviewer", "output": {"$status": "rejected", "why": "no"}}
APPROVED = {"role": "reviewer", "output": {"$status": "approved"}}
FAILS = {"role": "reviewer", "fail": {"kind": "auth", "message": "the key was refused"}}
RUN = ["run", "pair", "-p", "x"]
GREEN, AMBER = "\x1b[32m", "\x1b[33m"


def paste(project, command):
    """Run a line in bash, as a person who pastes it unchanged."""
    uwf = f"{shlex.quote(sys.executable)} -m uwf_core"
    done = subprocess.run(
        ["bash", "-c", f'uwf() {{ {uwf} "$@"; }}; {command}'],
        cwd=project.folder, env=project.env, capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, done.stderr


def commands(shown):
    """The commands that a run names at its end."""
    return [
        line.partition(": ")[2] for line in shown.lines if line.startswith(("next: ", "  or: "))
    ]


@pytest.mark.parametrize("columns", [60, 100])
def test_a_terminal_shows_each_step_and_each_failure_once(project, columns):
    project.script([WROTE, FAILS])
    shown = on_terminal(project, RUN, columns=columns)
    assert shown.code == 6
    final = [line for line in shown.lines if line and " · " not in line]
    assert [line.split(" (")[0] for line in final[1:3]] == [
        "#1 writer: done → reviewer", "#2 reviewer: ✗ auth: the key was refused",
    ]  # fmt: skip
    assert "\n".join(final).count("the key was refused") == 1
    thread = project.uwf("thread", "list").document["threads"][0]["thread"]
    assert final[3:] == [
        f"{thread} suspended (failure): reviewer",
        f"next: uwf thread exec {thread} --until-done",
    ]


USED = {"inputTokens": 1200, "outputTokens": 300, "costUsd": 0.012}


@pytest.mark.parametrize("columns", [60, 100])
def test_a_completed_run_tells_what_came_out_what_it_took_and_how_to_read_it(project, columns):
    project.script([{**WROTE, "usage": USED}, {**APPROVED, "body": "Looks good.\nReally."}])
    shown = on_terminal(project, RUN, columns=columns)
    assert shown.code == 0
    thread = project.uwf("thread", "list", "--all").document["threads"][0]["thread"]
    start = shown.lines.index(f"{thread} completed")
    result, body, took, read, why = shown.lines[start + 1 :]
    assert (result, body) == ("result  reviewer: approved", "        Looks good. …")
    assert re.fullmatch(r"took    [\d.]+m?s, 2 steps, .*1\.2k in, 300 out, \$0\.0120", took)
    for line, name in ((read, "read"), (why, "why")):
        command = line.removeprefix(name).strip()
        assert command == f"uwf thread {name} {thread}"
        assert project.uwf(*shlex.split(command)[1:]).exit_code == 0


def test_the_result_can_be_read_later_as_the_run_showed_it(project):
    project.script([WROTE, {**APPROVED, "body": "Looks good.\nReally."}])
    thread = project.uwf("thread", "start", "pair", "-p", "x").document["thread"]
    project.uwf("thread", "exec", thread)
    assert project.uwf("thread", "show", thread).document["result"] is None
    ended = project.uwf("thread", "exec", thread, "--format", "text").stdout.splitlines()
    assert project.uwf("thread", "show", thread).document["result"] == {
        "role": "reviewer", "status": "approved", "output": {"$status": "approved"},
        "body": "Looks good.\nReally.",
    }  # fmt: skip
    shown = project.uwf("thread", "show", thread, "--format", "text").stdout.splitlines()
    at = next(at for at, line in enumerate(shown) if line.startswith("result"))
    lines = [" ".join(line.split()) for line in shown[at : at + 2]]
    first = ended.index("result  reviewer: approved")
    assert lines == [" ".join(line.split()) for line in ended[first : first + 2]]


def test_the_fields_of_a_result_are_shown_in_a_line_each():
    denied = [
        {"number": 1, "agent": "claude-code", "what": 'Bash {"command": "pytest"}'},
        {"number": 1, "agent": "claude-code", "what": 'Bash {"command": "ls"}'},
        {"number": 3, "agent": "claude-code", "what": "run_command: rm"},
    ]
    result = {
        "role": "wri\x1bter", "status": "done", "body": "not shown beside fields",
        "output": {
            "$status": "done", "summary": "one\ntwo", "files": ["a", "b"], "count": 3, "no": [],
            "more": {"a": 1}, "sixth": 1, "seventh": 1,
        },
    }  # fmt: skip
    usage = {**NOTHING_USED, "turns": None, "costUsd": None}
    thread = {
        "thread": "01JD", "steps": 1, "startedAtMs": 5000, "updatedAtMs": 9200, "usage": usage,
        "worktree": {"folder": "/w", "branch": "uwf/01JD", "base": "abc"}, "result": result,
    }  # fmt: skip
    notices = [{"number": 2, "agent": "builtin", "what": "work is in the stash"}]
    remarks = {"denied": denied, "notices": notices}
    assert closing_text(thread, remarks, Screen(80, False)).splitlines() == [
        "result  wri\\x1bter: done",
        "        summary: one …",
        "        files: a, b",
        "        count: 3",
        "        no: []",
        '        more: {"a": 1}',
        "        … 2 more",
        "branch  uwf/01JD in /w",
        "denied  Bash (#1), run_command (#3)",
        "        next: uwf agent check claude-code",
        "notice  #2 work is in the stash",
        "took    4.2s, 1 step",
        "read    uwf thread read 01JD",
        "why     uwf thread why 01JD",
    ]


def test_a_run_that_is_not_at_its_end_has_no_result(project):
    project.script([WROTE, APPROVED])
    thread = project.uwf("thread", "start", "pair", "-p", "x").document["thread"]
    shown = on_terminal(project, ["thread", "exec", thread])
    assert not [line for line in shown.lines if line.startswith("result")]
    shown = on_terminal(project, ["thread", "exec", thread])
    assert "result  reviewer: approved" in shown.lines


def test_a_missing_program_names_the_agent_to_check_before_the_next_run(project):
    project.config("agents: {gone: {command: ./not-there}}\n")
    shown = on_terminal(project, [*RUN, "--agent", "gone"])
    assert shown.code == 6
    thread = project.uwf("thread", "list").document["threads"][0]["thread"]
    assert shown.lines[-2:] == [
        "first: install what is missing, and check it: uwf agent check gone",
        f"next: uwf thread exec {thread} --until-done",
    ]
    shown = project.uwf("thread", "show", thread).document
    assert shown["hint"].startswith("runs writer again, once what is missing is installed; ")


REFUSED = {"role": "writer", "fail": {"kind": "bad_request", "message": "temperature is odd"}}


def test_a_request_that_was_rejected_whole_is_not_offered_again(project):
    project.script([REFUSED])
    shown = on_terminal(project, [*RUN])
    assert shown.code == 6
    thread = project.uwf("thread", "list").document["threads"][0]["thread"]
    other = f"next: uwf thread exec {thread} --until-done --agent <agent>"
    assert shown.lines[-1] == other
    hint = project.uwf("thread", "show", thread).document["hint"]
    assert hint.startswith("asks an agent of another service or model: ")
    assert on_terminal(project, ["thread", "exec", thread]).lines[-1] == other.replace(
        " --until-done", ""
    )


def test_a_request_that_was_rejected_in_an_older_session_is_made_in_a_fresh_one(project):
    project.script([WROTE, REJECTED, REFUSED])
    shown = on_terminal(project, [*RUN])
    thread = project.uwf("thread", "list").document["threads"][0]["thread"]
    assert shown.lines[-1] == f"next: uwf thread exec {thread} --until-done"


def test_the_text_lists_the_steps_where_the_progress_goes_elsewhere(project):
    project.script([WROTE, FAILS])
    done = project.uwf(*RUN, "--format", "text")
    assert [line.split("  ")[1:3] for line in done.stdout.splitlines()[:2]] == [
        ["writer", "mock"], ["reviewer", "mock"],
    ]  # fmt: skip
    assert done.stdout.count("the key was refused") == 1
    line = shlex.join([sys.executable, "-m", "uwf_core", *RUN, "--format", "text"])
    both = subprocess.run(
        ["bash", "-c", f"{line} 2>&1"], cwd=project.folder, env=project.env, capture_output=True
    )
    assert both.stdout.count(b"the key was refused") == 1


def test_a_limit_is_named_with_its_value_and_what_was_used(project):
    project.workflow("pair", WORKFLOW + "limits: {maxSteps: 1}\n")
    shown = on_terminal(project, RUN)
    assert shown.code == 5
    assert "maxSteps 1 of workflow pair is reached (1 used)" in shown.lines
    (command,) = commands(shown)
    assert paste(project, command)[0] == 0
    assert project.uwf("thread", "show", "@last").document["status"] == "completed"


def test_no_status_of_a_role_is_green_and_a_way_back_is_amber_with_an_arrow(project):
    project.script([WROTE, REJECTED, WROTE, APPROVED])
    raw = on_terminal(project, RUN).raw
    assert f"#2 reviewer: {AMBER}rejected ↩ writer" in raw
    for plain in ("#1 writer: done → reviewer (", "#3 writer: done → reviewer (",
                  "#4 reviewer: approved → $END ("):  # fmt: skip
        assert plain in raw
    steps = [line for line in raw.splitlines() if "reviewer: " in line or "writer: " in line]
    assert not any(GREEN in line for line in steps)


def test_a_question_names_every_way_to_answer_it(project):
    shown = on_terminal(project, [*RUN, "--agent", "human", "--no-input"])
    assert shown.code == 3
    thread = project.uwf("thread", "list").document["threads"][0]["thread"]
    assert shown.lines[-3:] == [
        f"{thread} suspended (role): writer",
        "Begin.",
        f"next: uwf thread resume {thread} --until-done --status done --answer summary=<text>",
    ]
    assert paste(project, commands(shown)[0])[0] != 0, "what is in <> must not become the answer"
    assert project.uwf("thread", "show", thread).document["steps"] == 0
    answered = commands(shown)[0].replace("<text>", "'It is written.'")
    assert paste(project, answered)[0] == 3, "the reviewer is asked next"
    waiting = on_terminal(project, ["thread", "exec", thread, "--no-input"])
    assert [command.partition(thread)[2] for command in commands(waiting)] == [
        " --status approved", " --status rejected --answer why=<text>",
    ]  # fmt: skip
    assert paste(project, commands(waiting)[0])[0] == 0
    assert project.uwf("thread", "show", thread).document["status"] == "completed"


def test_a_role_that_asks_without_a_form_is_answered_with_a_text(project):
    project.script([ASKS, WROTE])
    (command,) = commands(on_terminal(project, [*RUN, "--no-input"]))
    assert command.endswith(" --until-done -p <text>")
    assert paste(project, command)[0] != 0


def test_an_answer_reads_as_that_of_a_person(project):
    project.uwf(*RUN, "--agent", "human")
    answer = ["thread", "resume", "@last", "--status", "done", "--answer", "summary=s"]
    shown = on_terminal(project, answer)
    (line,) = [line for line in shown.lines if line.startswith("#1 writer: done")]
    assert "(answered by a person)" in line
    assert "attempt" not in shown.plain and "turns," not in shown.plain
    assert "answered" in project.uwf("step", "list", "@last", "--format", "text").stdout
    step = project.uwf("step", "show", "@last", "--format", "text").stdout
    assert "answered  by a person" in step
    assert not {"took", "used"} & {line.split(" ")[0] for line in step.splitlines()}
    assert "human · answered by a person" in project.uwf("thread", "read", "@last").stdout


def test_the_beginning_of_a_long_text_stays_in_the_live_line(project):
    long = "The beginning " + "and more " * 60
    project.script([{**WROTE, "turns": [long], "untilFile": "go"}, APPROVED])
    seen = {"· The beginning and more": (project.folder / "go").touch}
    assert "· The beginning and more" in on_terminal(project, RUN, shown=seen).plain


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ({"properties": {"colour": {"type": "string"}}}, ["--answer colour=<text>"]),
        ({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
         ["--answer a=<number>"]),
        ({"properties": {"x": {"enum": ["low", "high"]}}}, ["--answer x=<low|high>"]),
        ({"properties": {"x": {"enum": ["$(reboot)", "b"]}}}, ["--answer x=<text>"]),
        ({"properties": {"$(reboot)": {"type": "boolean"}}},
         ["--answer '$(reboot)'=<true|false>"]),
        ({"properties": {"list": {"type": "array"}}}, ["--answer list=<JSON>"]),
        ({}, ["--answer <JSON>"]),
        ({"properties": {"note": {}}, "required": ["id"]}, ["--answer id=<text>"]),
        ({"properties": {"n": {"type": "integer", "enum": [1, 2]}}}, ["--answer n=<1|2>"]),
        ({"oneOf": [{"properties": {each: {}}, "required": [each]} for each in "ab"]},
         ["--answer <JSON>"]),
    ],
)  # fmt: skip
def test_the_options_of_an_answer_follow_the_form_and_run_nothing_of_it(form, options):
    assert answer_options(form) == options


def test_a_run_whose_outcome_cannot_be_kept_is_whole_and_leaves_no_part_of_a_file(
    uwf, project, monkeypatch
):
    """A full disk takes only what `thread wait` would have printed."""
    project.script([WROTE, APPROVED])
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    replace = os.replace

    def full(source, target, **folders):
        if str(target).endswith(f"{thread}.json"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target, **folders)

    monkeypatch.setattr(os, "replace", full)
    done = uwf("thread", "exec", thread, "--until-done")
    assert (done.code, done.document["status"]) == (0, "completed")
    assert f"`uwf thread wait {thread}` will not know this run: " in done.err
    assert "No space left" in done.err
    assert [each.name for each in project.home.rglob(f"*{thread}*.json")] == []
    assert uwf("thread", "show", thread).document["status"] == "completed"
