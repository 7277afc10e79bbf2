"""Notices reach a person at least once, whatever dies, and no run waits for them."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from uwf_core.api import own_python
from uwf_core.ids import ThreadId
from uwf_core.notices.sending import MOST_A_MINUTE, NotSent, Sender
from uwf_core.testing.project import Project
from uwf_core.thread.lock import thread_lock

WORKFLOW = """\
version: 1
name: letter
roles:
  writer:
    goal: write
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: writer, prompt: Begin.}, resume: {role: writer, prompt: Again.}}
  writer: {done: {role: $END, prompt: Done.}}
"""
DONE = {"role": "writer", "output": {"$status": "done"}}
ASKS = {"role": "writer", "suspend": {"reason": "Which $(touch /tmp/x) one?"}}
FAILS = {"role": "writer", "fail": {"kind": "auth", "message": "the key was refused"}}
RECORDS = """\
import json, os, sys, time
message = json.load(sys.stdin)
values = {k: v for k, v in os.environ.items() if k.startswith("UWF_")}
with open(sys.argv[1], "a") as log:
    log.write(json.dumps({"message": message, "env": values}) + "\\n")
sys.exit(int(open(sys.argv[2]).read() or 0))
"""


class Notified(Project):
    """A project whose user has a command that writes each notice to a file."""

    def __init__(self, root: Path, more: str = "") -> None:
        super().__init__(root)
        self.workflow("letter", WORKFLOW)
        self.log, self.code, program = root / "log", root / "code", root / "record.py"
        self.code.write_text("0")
        program.write_text(RECORDS)
        words = [sys.executable, str(program), str(self.log), str(self.code)]
        self.config(f"notify:\n  command: {json.dumps(words)}\n{more}")

    def messages(self) -> list[dict]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line)["message"] for line in lines]

    def wait_for(self, count: int) -> list[dict]:
        deadline = time.monotonic() + 60
        while len(self.messages()) < count:
            assert time.monotonic() < deadline, (self.messages(), self.errors())
            time.sleep(0.05)
        return self.messages()

    def due(self) -> list[str]:
        folder = self.home / "notices" / "due"
        return [each.name for each in folder.iterdir()] if folder.is_dir() else []

    def rest(self) -> None:
        """Wait until the sender has ended."""
        deadline = time.monotonic() + 60
        while self.due():
            assert time.monotonic() < deadline, (self.due(), self.errors())
            time.sleep(0.05)

    def errors(self) -> str:
        file = self.home / "notices" / "errors"
        return file.read_text() if file.exists() else ""

    def run(self, *script: dict, task: str = "Write it.\nAll.") -> str:
        self.script([*script])
        done = self.uwf("run", "letter", "-p", task)
        return done.document["thread"]


@pytest.fixture
def project(tmp_path: Path) -> Notified:
    return Notified(tmp_path)


def test_what_stops_or_ends_reaches_the_command_by_stdin_and_environment(tmp_path):
    project = Notified(tmp_path, "web: {url: 'https://uwf.example/'}\n")
    asked = project.run(ASKS)
    (message,) = project.wait_for(1)
    assert message["id"].startswith(f"{asked}.")
    assert {key: message[key] for key in ("event", "thread", "workflow", "task", "role")} == {
        "event": "suspended", "thread": asked, "workflow": "letter", "task": "Write it.",
        "role": "writer",
    }  # fmt: skip
    assert message["message"] == "Which $(touch /tmp/x) one?"
    assert message["url"] == f"https://uwf.example/threads/{asked}"
    assert message["next"].startswith(f"uwf thread resume {asked}")
    values = json.loads(project.log.read_text().splitlines()[0])["env"]
    assert (values["UWF_EVENT_ID"], values["UWF_EVENT"]) == (message["id"], "suspended")
    assert (values["UWF_MESSAGE"], values["UWF_THREAD"]) == (message["message"], asked)
    failed, done = project.run(FAILS), project.run(DONE)
    events = [(each["event"], each["thread"]) for each in project.wait_for(3)[1:]]
    assert events == [("failed", failed), ("completed", done)]
    project.rest()
    assert len({each["id"] for each in project.messages()}) == 3
    assert project.errors() == ""


def test_a_run_that_is_stopped_in_the_middle_is_an_event(project):
    project.script([{**DONE, "delayMs": 60_000}])
    with project.client() as uwf:
        thread = uwf.start("letter", "Write it.")["thread"]
        running = project.start_uwf("thread", "exec", thread)
        assert running.stderr is not None
        assert running.stderr.readline() == "#1 writer: mock\n"  # it has begun
        uwf.stop(thread)
    running.communicate(timeout=60)
    (message,) = project.wait_for(1)
    assert (message["event"], message["title"]) == ("suspended", "letter: writer was interrupted")


def test_only_chosen_events_are_sent(tmp_path):
    project = Notified(tmp_path)
    file = project.home / "config.yaml"
    file.write_text(file.read_text() + "  events: [failed]\n")
    project.run(DONE)
    project.run(FAILS)
    assert [each["event"] for each in project.wait_for(1)] == ["failed"]
    project.rest()
    assert len(project.messages()) == 1


def test_a_command_that_fails_keeps_them_for_the_next_command(project):
    project.code.write_text("3")
    thread = project.run(DONE)
    project.wait_for(3)  # three tries
    deadline = time.monotonic() + 60
    while "exit code 3" not in project.errors():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert project.due()
    project.code.write_text("0")
    assert project.uwf("thread", "show", thread).exit_code == 0
    project.rest()
    ids = Counter(each["id"] for each in project.messages())
    assert list(ids.values()) == [4]


def test_a_slow_command_delays_no_run(project, tmp_path):
    (tmp_path / "record.py").write_text("import time; time.sleep(60)")
    began = time.monotonic()
    project.run(DONE)
    assert time.monotonic() - began < 30


def test_a_command_that_is_missing_fails_no_run(tmp_path):
    project = Notified(tmp_path)
    project.config("notify: {command: [/nowhere/at/all]}\n")
    project.script([DONE])
    done = project.uwf("run", "letter", "-p", "x")
    assert (done.exit_code, done.document["status"]) == (0, "completed")


def test_a_project_cannot_set_it_even_if_it_is_trusted(project):
    (project.folder / ".uwf").mkdir()
    (project.folder / ".uwf" / "config.yaml").write_text("notify: {command: [touch, hacked]}\n")
    assert project.uwf("config", "trust", ".").exit_code == 0
    shown = project.uwf("config", "get", "notify.command")
    assert "hacked" not in shown.stdout


def test_without_the_setting_nothing_is_marked(tmp_path):
    project = Project(tmp_path)
    project.workflow("letter", WORKFLOW)
    project.script([DONE])
    assert project.uwf("run", "letter", "-p", "x").exit_code == 0
    assert not (project.home / "notices").exists()


def test_known_secrets_are_not_sent(tmp_path):
    project = Notified(tmp_path)
    project.run({"role": "writer", "suspend": {"reason": "with tok-1234567890?"}})
    project.wait_for(1)
    project.rest()
    project.log.unlink()
    project.env["MY_TOKEN"] = "tok-1234567890"
    project.run({"role": "writer", "suspend": {"reason": "with tok-1234567890?"}})
    (message,) = project.wait_for(1)
    assert "tok-1234567890" not in json.dumps(message)


# -- in this process -------------------------------------------------------------------------------


class Clock:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = time.time_ns() // 1_000_000
        self.slept: list[float] = []

    def __call__(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += int(seconds * 1000)


def fill(project: Notified, count: int) -> list[str]:
    """Threads with an event each, which no sender has seen."""
    project.script([DONE])
    with project.client() as uwf:
        uwf._engine.process_env = lambda: None  # no sender is started
        threads = [uwf.start("letter", f"Task {n}")["thread"] for n in range(count)]
        for each in threads:
            uwf.exec(each)
    return threads


def test_after_twenty_in_a_minute_the_others_come_in_one_summary(project):
    threads, clock = fill(project, 50), Clock()
    with project.client() as uwf:
        Sender(uwf._engine, clock, clock.sleep).run()
    messages = project.messages()
    assert len(messages) == MOST_A_MINUTE + 1
    assert [each["thread"] for each in messages[:-1]] == threads[:MOST_A_MINUTE]
    summary = messages[-1]
    assert (summary["event"], summary["title"]) == ("summary", "30 events: 30 completed")
    assert [each["thread"] for each in summary["events"]] == threads[MOST_A_MINUTE:]
    assert 50 < sum(clock.slept) < 70
    assert project.due() == []


def test_a_second_sender_leaves_it_to_the_first(project):
    fill(project, 1)
    with project.client() as uwf, project.client() as other:
        first = Sender(uwf._engine)
        with first._lock() as is_ours:
            assert is_ours
            Sender(other._engine).run()
            assert project.messages() == []
        first.run()
    assert len(project.messages()) == 1


def test_a_run_that_ends_while_another_sender_works_is_not_left_due(project):
    (thread,), clock = fill(project, 1), Clock()
    project.code.write_text("1")
    with project.client() as uwf, project.client() as other:
        running = thread_lock(other._engine.store, ThreadId(thread), clock())
        running.__enter__()

        def the_run_ends(_seconds: float) -> None:  # between two tries of the first sender
            running.__exit__(None, None, None)
            Sender(other._engine).run()  # leaves it to the first
            project.code.write_text("0")

        Sender(uwf._engine, clock, the_run_ends).run()
    assert (len(project.messages()), project.due()) == (2, [])


def test_a_removed_thread_is_forgotten(project):
    (thread,) = fill(project, 1)
    with project.client() as uwf:
        uwf.remove(thread)
        Sender(uwf._engine).run()
    assert (project.messages(), project.due()) == ([], [])


def test_a_failing_command_is_tried_three_times_with_pauses(project):
    fill(project, 1)
    project.code.write_text("1")
    clock = Clock()
    with project.client() as uwf, pytest.raises(NotSent, match="exit code 1"):
        Sender(uwf._engine, clock, clock.sleep).run()
    assert len(project.messages()) == 3
    assert clock.slept == [1.0, 3.0]


def test_services_get_the_text_as_it_is():
    """Needs the extra `notify`."""
    pytest.importorskip("apprise")
    got: list[dict] = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        message = {
            "title": "letter: writer waits for you", "message": "Which $(id) `one`?",
            "next": "uwf inbox", "url": "", "task": "x",
            "services": [f"json://127.0.0.1:{server.server_port}/"],
        }  # fmt: skip
        argv = own_python("uwf_core.notices.services")
        done = subprocess.run(argv, input=json.dumps(message), text=True, capture_output=True)
        server.shutdown()
    assert done.returncode == 0, done.stderr
    assert [(each["title"], each["message"]) for each in got] == [
        ("letter: writer waits for you", "Which $(id) `one`?\nuwf inbox")
    ]


# -- killed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [int(os.environ.get("UWF_NOTICE_KILLS", "12"))])
def test_killed_senders_lose_nothing_and_repeat_at_most_once(project, count):
    """UWF_NOTICE_KILLS=500 is the long form; `tests/web/README.md` has its results."""
    moments, sent = random.Random(int(os.environ.get("UWF_NOTICE_SEED", "19"))), 0
    (project.home / "notices").mkdir(parents=True, exist_ok=True)
    env = {**project.env, "UWF_HOME": str(project.home), "UWF_STORE": "sqlite:store.db"}
    kills = 0
    while kills < count:
        batch = fill(project, 5)
        (project.home / "notices" / "times").unlink(missing_ok=True)
        repeats_allowed = 0
        while project.due():
            argv = list(own_python("uwf_core.notices"))
            sender = subprocess.Popen(argv, env=env, start_new_session=True)
            if kills < count:
                time.sleep(moments.uniform(0.15, 0.9))
                if sender.poll() is None:
                    sender.send_signal(signal.SIGKILL)
                    kills += 1
                    repeats_allowed += 1
            sender.wait()
        ids = Counter(each["thread"] for each in project.messages()[sent:])
        sent = len(project.messages())
        assert set(ids) == set(batch), "an event was lost"
        assert sum(ids.values()) - len(batch) <= repeats_allowed
        assert max(ids.values()) <= 1 + repeats_allowed


def test_a_person_is_reminded_at_half_and_at_nine_tenths_of_a_deadline(tmp_path):
    """By `tick`; once each, and not of a question that was answered."""
    project = Notified(tmp_path, "questions: {within: 100}\n")
    question = {"message": "Which one?", "form": {"properties": {"one": {"type": "string"}}}}
    asks = {**DONE, "question": question}
    asked, answered = project.run(asks), project.run(asks)
    project.wait_for(2)
    project.rest()
    done = project.uwf("thread", "resume", answered, "--answer", "one=blue")
    assert done.exit_code == 0, done
    project.wait_for(3)
    project.rest()
    titles = []
    with project.client() as uwf:
        begun_ms = uwf._engine.now_ms()
        for seconds in (1, 55, 60, 92, 95):
            uwf._engine.now_ms = lambda at=begun_ms + seconds * 1000: at
            uwf.tick(accept_clock=True)
            uwf.send_notices()
            project.rest()
            titles.append([each["title"] for each in project.messages()[3:]])
    half, most = (
        f"letter: writer waits for you; {text}"
        for text in (
            "half of the time for an answer has passed",
            "nine tenths of the time for an answer have passed",
        )
    )
    assert titles == [[], [half], [half], [half, most], [half, most]]
    reminder = project.messages()[3]
    assert (reminder["event"], reminder["thread"]) == ("suspended", asked)
    assert reminder["next"].startswith(f"uwf thread resume {asked}")


def test_a_schedule_that_is_skipped_as_its_thread_waits_for_a_person_is_a_notice(tmp_path):
    """Once for each thread."""
    project = Notified(tmp_path)
    project.script([ASKS])
    added = project.uwf("schedule", "add", "daily", "0 * * * *", "letter", "-p", "Write it.")
    with project.client() as uwf:
        at_ms = added.document["nextAtMs"]
        for number in range(3):
            uwf._engine.now_ms = lambda at=at_ms + number * 3_600_000: at
            fired = uwf.tick(accept_clock=True)["fired"]
            uwf.send_notices()
            assert len(fired) == (number == 0)
            project.wait_for(1 + (number > 0))
            project.rest()
    titles = [each["title"] for each in project.messages()]
    assert titles == [
        "letter: writer waits for you",
        "letter: writer waits for you; schedule daily was skipped",
    ]
