"""`uwf watch`: follow a run as it happens, without disturbing it."""

import json
import signal

import pytest
from cli_kit import APPROVED, ASKS, WORKFLOW, WROTE, check_golden, on_terminal
from tests.document_schemas import check

from uwf_core.api.sums import NOTHING_USED
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.watch_screen import live_lines
from uwf_core.views.activity import Running, activity_of
from uwf_core.views.following import BranchesSeen, Follower, Look

TURNS = [
    {"role": "assistant", "text": "I read it.\nThen I write."},
    {"role": "assistant", "text": "Done."},
]
SLOW = {**WROTE, "turns": TURNS, "untilFile": "go"}
ROOT = "01JD8ZK3QW7V5N2B4C6D8E0F00"


def lines_of(stdout):
    return [json.loads(line) for line in stdout.splitlines()]


def started(project, *script):
    """A thread that runs in the background."""
    project.script([*script])
    with project.client() as uwf:
        thread = uwf.start("pair", "x")["thread"]
        uwf.exec(thread, until_done=True, background=True)
    return thread


def test_in_a_pipe_it_prints_lines_of_json_and_exits_as_wait(project):
    thread = started(project, SLOW, APPROVED)
    process, lines = project.start_uwf("watch", thread), []
    for line in map(json.loads, process.stdout):
        lines.append(line)
        if line["event"] == "turn":
            (project.folder / "go").touch()
    assert process.wait(60) == 0, process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert {each["root"] for each in lines} == {thread}
    for line in lines:
        check("watch", line)
    steps = [each for each in lines if each["event"] == "step"]
    assert [(each["role"], each["status"], each["leadsTo"]) for each in steps] == [
        ("writer", "done", "reviewer"), ("reviewer", "approved", "$END"),
    ]  # fmt: skip
    turns = [(each["number"], each["index"]) for each in lines if each["event"] == "turn"]
    assert turns == sorted(set(turns)) and {(1, 0), (1, 1)} <= set(turns)
    assert lines[-1]["event"] == "end" and lines[-1]["status"] == "completed"
    assert lines[-1]["exitCode"] == 0
    statuses = [each["status"] for each in lines if each["event"] == "status"]
    assert statuses == ["running", "completed"]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ([{"role": "writer", "fail": {"kind": "auth", "message": "no"}}], 6),
        ([ASKS], 3),
        ([WROTE, APPROVED], 0),
    ],
)
def test_it_ends_with_the_code_of_the_run(uwf, project, script, code):
    project.script(script)
    thread = uwf("run", "pair", "-p", "x").document["thread"]
    watched, waited = uwf("watch", thread), uwf("thread", "wait", thread)
    assert (watched.code, waited.code) == (code, code)
    last = lines_of(watched.out)[-1]
    assert {key: last[key] for key in waited.document} == waited.document
    again = uwf("watch", thread, "--format", "text")
    assert again.code == code
    assert "#1 writer" in again.out or "writer" in again.out


def test_an_unknown_thread_is_an_error(uwf):
    assert uwf("watch", "no-such-thread").code == 2


def test_a_terminal_shows_finished_lines_once_and_the_end(project):
    thread = started(project, SLOW, {**APPROVED, "untilFile": "went"})
    go, went = (project.folder / each for each in ("go", "went"))
    seen = {"Then I write": go.touch, "#2 reviewer · mock · ": went.touch}
    shown = on_terminal(project, ["watch", thread], columns=100, shown=seen)
    assert shown.code == 0, shown.plain
    final = shown.plain
    for line in ("I read it.", "Then I write.", "#1 writer: done → reviewer ("):
        assert final.count(f"{line}") == 1, line
    assert f"{thread} pair · running · " in final
    assert "#2 reviewer · mock · " in final
    assert f"{thread} completed" in final


def test_ctrl_c_leaves_and_the_run_continues(project):
    thread = started(project, WROTE, {**APPROVED, "untilFile": "go"})
    process = project.start_uwf("watch", thread)
    assert json.loads(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    process.stdout.close()
    process.stderr.close()
    with project.client() as uwf:
        assert uwf.show(thread)["status"] == "running"
        (project.folder / "go").touch()
        assert uwf.wait(thread, 60).document["done"]


def test_a_question_is_answered_where_it_is_watched(project):
    project.script([WROTE, {**APPROVED, "delayMs": 500}])
    with project.client() as uwf:
        thread = uwf.start("pair", "x", bindings={"writer": "human"})["thread"]
        uwf.exec(thread)
        shown = on_terminal(project, ["watch", thread], typed="1\nit\n")
        assert shown.code == 0, shown.plain
        assert shown.plain.count("Begin.") == 1
        assert "#1 writer: done → reviewer (answered by a person)" in shown.plain
        assert uwf.show(thread)["status"] == "completed"


def test_a_question_that_is_left_stays_pending(project):
    with project.client() as uwf:
        thread = uwf.start("pair", "x", agent="human")["thread"]
        uwf.exec(thread)
    shown = on_terminal(project, ["watch", thread], typed="\n")
    assert shown.code == 3, shown.plain
    assert "--status done --answer summary=<text>" in shown.plain
    assert shown.plain.count("Begin.") == 1


def test_without_a_thread_it_follows_all_that_run_until_ctrl_c(project):
    process = project.start_uwf("watch")
    assert process.stderr is not None and process.stdout is not None
    assert process.stderr.readline().startswith("nothing runs")  # it looks from now on
    both = [started(project, {**WROTE, "untilFile": "go"}, APPROVED) for _ in range(2)]
    steps: dict[str, list[str]] = {each: [] for each in both}
    seen = set()
    for line in map(json.loads, process.stdout):
        seen.add(line["root"])
        if seen >= set(both):
            (project.folder / "go").touch()
        if line["event"] == "step":
            steps[line["root"]].append(line["role"])
        if all(len(found) == 2 for found in steps.values()):
            break
    assert list(steps.values()) == [["writer", "reviewer"]] * 2
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr


def test_who_watches_while_nothing_runs_is_told_so(project):
    process = project.start_uwf("watch")
    assert process.stderr is not None
    assert process.stderr.readline() == "nothing runs: waiting for a run; Ctrl-C leaves\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


def test_watchers_take_no_lock(uwf, project):
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    with project.client() as opened:
        follower = Follower(opened._engine, thread)
        follower.look()
        assert uwf("thread", "exec", thread).code == 0
        (step,) = follower.look().events[-1:]
        assert step.role == "writer"
        assert follower.look().events == []


def test_steps_of_long_before_are_counted_and_not_shown(uwf, project):
    again = WORKFLOW.replace("{role: $END, prompt: Done.}", "{role: writer, prompt: More.}")
    ends = again.replace('{role: writer, prompt: "Repair: {{why}}"}', "{role: $END, prompt: Done.}")
    project.workflow("pair", ends.replace("    goal:", "    limits: {maxUnchanged: 0}\n    goal:"))
    project.script([WROTE, APPROVED] * 8)
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    uwf("thread", "exec", thread, "-c", "15")
    with project.client() as opened:
        look = Follower(opened._engine, thread).look()
    finished = [each.number for each in look.events if type(each).__name__ == "StepFinished"]
    assert (finished, look.skipped) == (list(range(6, 16)), 5)


def test_a_poked_step_is_shown_again(uwf, project):
    project.script([{"role": "writer", "outputs": [WROTE["output"]]}])
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    uwf("thread", "exec", thread)
    with project.client() as opened:
        follower = Follower(opened._engine, thread)
        follower.look()
        uwf("thread", "poke", thread, "-p", "Shorter")
        (event,) = [each for each in follower.look().events if hasattr(each, "leads_to")]
    assert (event.number, event.role) == (1, "writer")


# -- the live part ---------------------------------------------------------------------------------


def look(**others):
    from uwf_core.thread.state import ThreadState

    state = ThreadState(
        ROOT, 9, "running", "3FQ8K1M2N4P5Q", "fix-bug", "2WM89S4EYMP2F", "/shop", 1_000_000, "x",
        steps=3,
    )  # fmt: skip
    used = {**NOTHING_USED, "inputTokens": 12_300, "outputTokens": 1_100, "costUsd": 0.0213}
    attempt = Running(
        "4", 2, "reviewer", "claude-code", 1_288, 1_296, 3, 1200,
        activity_of("I compare the\x1b[2J rounding of both sides", ()), False,
    )  # fmt: skip
    found = Look([], state, used, [attempt], [], ["fix-bug", "review"], True, 0)
    return found._replace(**others)


@pytest.mark.parametrize("columns", [60, 100])
def test_the_live_part_of_two_threads(columns):
    branches = look(
        branches=[BranchesSeen("planner/planned", {"completed": 2, "running": 1})],
        attempts=[Running(f"2.{n}", 1, "worker", "mock", 1_290, 1_300) for n in (0, 2)],
        stack=["map-reduce"],
    )
    shown = live_lines({ROOT: look(), ROOT[:-1] + "1": branches}, 1_300_000, Screen(columns, False))
    check_golden(f"watch-{columns}.txt", "\n".join(shown))
    assert all(len(line) <= columns for line in shown)


def test_a_small_terminal_keeps_room_for_what_stays():
    many = [look().attempts[0]._replace(number=str(n)) for n in range(30)]
    shown = live_lines({ROOT: look(attempts=many)}, 1_300_000, Screen(60, False, 10))
    assert len(shown) == 6 and shown[-1] == "+ 26 more"


def test_a_reader_that_leaves_ends_nothing(project):
    thread = started(project, WROTE, {**APPROVED, "delayMs": 1500})
    process = project.start_uwf("watch", thread)
    process.stdout.close()
    process.wait(30)
    process.stderr.close()
    with project.client() as uwf:
        assert uwf.wait(thread, 60).document["done"]
