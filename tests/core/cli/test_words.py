"""Words on the command line: texts from files and stdin, moments, quotas, answers."""

import io
import shlex
import time
from datetime import datetime, timedelta

import click
import pytest
from cli_kit import ASKS, WROTE

from uwf_core.cli.operation import Moment


def task_of(uwf) -> str:
    return uwf("thread", "read", "@last").out


def test_a_prompt_comes_from_a_file(uwf, project):
    (project.folder / "task.md").write_text("# Task\n\nRepair the total.\n")
    assert uwf("thread", "start", "pair", "-p", "@task.md").code == 0
    assert "Repair the total." in task_of(uwf)


def test_a_prompt_comes_from_stdin(uwf, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("Straße\n".encode())))
    assert uwf("thread", "start", "pair", "-p", "-").code == 0
    assert "Straße" in task_of(uwf)


@pytest.mark.parametrize("prompt", ["", "  \n", "@empty.md", "@latin.md"])
def test_a_prompt_that_is_blank_or_no_text_is_refused(uwf, project, prompt):
    (project.folder / "empty.md").write_text("\n")
    (project.folder / "latin.md").write_bytes(b"caf\xe9")
    assert uwf("thread", "start", "pair", "-p", prompt).code == 2


@pytest.mark.parametrize(
    ("text", "back"),
    [("7d", timedelta(days=7)), ("12h", timedelta(hours=12)), ("30m", timedelta(minutes=30))],
)
def test_a_span_counts_back_from_now(text, back):
    moment = Moment().convert(text, None, None)
    assert abs((time.time() - back.total_seconds()) * 1000 - moment) < 5_000


@pytest.fixture(params=["UTC0", "EAST-5:30", "WEST+8"])
def hours_east(request, monkeypatch):
    """How far the local time is ahead of UTC."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield {"UTC0": 0, "EAST-5:30": 5.5, "WEST+8": -8}[request.param]
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "in_utc", "is_local"),
    [
        ("2026-01-31", "2026-01-31T00:00:00.000", True),
        ("2026-01-31T10:30", "2026-01-31T10:30:00.000", True),
        ("2026-01-31 10:30:05.067", "2026-01-31T10:30:05.067", True),
        ("2026-01-31T10:30:00Z", "2026-01-31T10:30:00.000", False),
        ("2026-01-31T10:30:00.250+02:00", "2026-01-31T08:30:00.250", False),
    ],
)
def test_a_moment_is_an_iso_date_in_local_time_unless_it_says_otherwise(
    text, in_utc, is_local, hours_east
):
    wanted = datetime.fromisoformat(f"{in_utc}Z") - timedelta(hours=hours_east * is_local)
    assert Moment().convert(text, None, None) == round(wanted.timestamp() * 1000)


@pytest.mark.parametrize("text", ["soon", "7", "d", "-3d", "2026-13-01", "9999999d"])
def test_anything_else_is_no_moment(text):
    with pytest.raises(click.BadParameter):
        Moment().convert(text, None, None)


def test_the_statuses_of_a_list_can_be_chosen(uwf, project):
    for _ in range(2):
        uwf("thread", "start", "pair", "-p", "x")
    uwf("run", "pair", "-p", "x")
    statuses = [each["status"] for each in uwf("thread", "list").document["threads"]]
    assert statuses == ["idle", "idle"]
    counts = {
        "--all": 3,
        "--status completed": 1,
        "--status active": 2,
        "--all --limit 1": 1,
        "--all --limit 1 --offset 3": 0,
        "--after 1h": 2,
        "--before 1h": 0,
        "--all --workflow pair": 3,
    }
    for words, count in counts.items():
        assert len(uwf("thread", "list", *words.split()).document["threads"]) == count, words


def test_answers_come_as_json_file_or_fields(uwf, project):
    for given in (
        ['{"$status": "done", "summary": "s"}'],
        ["@answer.json"],
        ["$status=done", "summary=s"],
        ["status=done", "summary=s"],
    ):
        (project.folder / "answer.json").write_text('{"$status": "done", "summary": "s"}')
        assert uwf("run", "pair", "-p", "x", "--agent", "human").code == 3
        options = [word for each in given for word in ("--answer", each)]
        answer = uwf("thread", "resume", "@last", *options)
        assert answer.document["steps"][0]["failure"] is None, answer.err
        assert answer.document["status"] == "idle"
        assert answer.document["steps"][0]["step"]


def test_status_is_short_for_that_field_of_an_answer(uwf):
    assert uwf("run", "pair", "-p", "x", "--agent", "human").code == 3
    both = uwf("thread", "resume", "@last", "--status", "done", "--answer", '{"$status": "done"}')
    assert both.code == 2 and "--status" in both.err
    answer = uwf("thread", "resume", "@last", "--status", "done", "--answer", "summary=s")
    assert answer.document["steps"][0]["failure"] is None, answer.err


@pytest.mark.parametrize("background", [(), ("--background",)])
def test_a_call_has_its_own_working_folder(uwf, project, tmp_path, background):
    project.script([ASKS, WROTE])
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    (tmp_path / "elsewhere").mkdir()
    elsewhere = str(tmp_path / "elsewhere")
    uwf("thread", "exec", thread, "--cwd", elsewhere, *background)
    step = uwf("thread", "wait", thread).document["steps"][0]["step"]
    assert uwf("step", "show", step).document["attempt"]["cwd"] == elsewhere
    for words in (("resume", "-p", "a"), ("poke", "-p", "b")):
        done = uwf("thread", words[0], thread, *words[1:], "--cwd", "nowhere")
        assert done.code == 2 and "nowhere" in done.err


def test_a_role_that_asks_suspends_the_thread_with_code_three(uwf, project):
    project.script([ASKS, WROTE])
    answer = uwf("run", "pair", "-p", "x")
    assert answer.code == 3
    assert answer.document["steps"][0]["suspendMessage"] == "Which one?"
    text = uwf("thread", "show", "@last", "--format", "text").out
    assert "Which one?" in text


def test_the_next_command_of_a_new_workflow_can_be_pasted(uwf, project):
    (project.folder / "my flows").mkdir()
    told = uwf("workflow", "new", "my flows/fix-bug", "--from", "fix-bug", "--format", "text")
    (line,) = [line for line in told.out.splitlines() if line.startswith("next: uwf ")]
    checked = uwf(*shlex.split(line.removeprefix("next: uwf ")))
    assert (checked.code, checked.document["problems"]) == (0, [])


def test_a_configuration_that_ends_in_yml_is_not_ignored(uwf, project):
    project.home.mkdir(exist_ok=True)
    (project.home / "config.yml").write_text("defaultAgent: human\n")
    told = uwf("agent", "list")
    assert told.code == 2 and "config.yml" in told.error["where"]
    assert "config.yaml" in told.error["hint"]
    project.config("defaultAgent: human\n")
    assert uwf("agent", "list").code == 0
    (project.folder / ".uwf").mkdir()
    (project.folder / ".uwf" / "config.yml").write_text("defaultAgent: human\n")
    assert uwf("agent", "list").code == 2
