"""The process of a worker replaces itself: after many jobs, and when an agent does not end."""

import signal
import subprocess
import threading
import time
from typing import Self
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from test_dispatch import TWO, started
from test_threads import BOTH

from conftest import made_for_workers
from uwf_core.client import Client
from uwf_core.testing.project import Project

HANGS_ONCE = """
import os, time
from uwf_core.api import AgentReply, AgentSpec, hookimpl

@hookimpl
def uwf_agents():
    return [AgentSpec(name="hangs", summary="never ends", factory=f"{__name__}:Hangs")]

class Hangs:
    def __init__(self, options, context):
        pass

    def run(self, request, sink):
        try:
            os.close(os.open("hung", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return AgentReply(structured={"$status": "done"})
        while True:
            time.sleep(60)

    def fork(self, session, request):
        return None

    def ask(self, request, sink):
        raise NotImplementedError

    def close(self):
        pass
"""


class Process:
    """`uwf worker start` as a process, and the lines that it writes."""

    def __init__(self, project: Project, *options: str) -> None:
        self.lines: list[str] = []
        words = "worker", "start", "--engine", "none", *options
        self.child: subprocess.Popen[str] = project.start_uwf(*words)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        self.lines += iter(self.child.stderr.readline, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.wait(60)
        self._reader.join(10)
        self.child.stdout.close()
        self.child.stderr.close()

    def count(self, part: str) -> int:
        return sum(part in line for line in self.lines)

    def end(self) -> int:
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(60)
        return self.child.returncode


@pytest.fixture
def project(tmp_path, server) -> Project:
    made = Project(tmp_path)
    made.env["UWF_STORE"] = made_for_workers(server, lease="6")  # so it looks for work each second
    made.workflow("two", TWO)
    made.script(BOTH, repeat=True)
    return made


def until(condition, process: Process) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end and process.child.poll() is None, process.lines
        time.sleep(0.2)


def is_done(uwf: Client, thread: str) -> bool:
    return uwf.show(thread)["status"] == "completed"


def test_after_many_jobs_with_the_same_process_id_and_its_figures(project):
    """Five threads, two for each life of the process; the last life has one."""
    options = "--most-jobs", "2", "--metrics", "0"
    with project.client() as uwf, Process(project, *options) as worker:
        threads = [started(uwf, "two") for _ in range(5)]
        until(lambda: all(is_done(uwf, each) for each in threads), worker)
        until(lambda: worker.count("starts anew after 2 jobs") == 2, worker)
        until(lambda: worker.count("metrics: ") == 3, worker)
        assert [each.pid for each in uwf.queued.backend.workers()] == [worker.child.pid]
        url = [line for line in worker.lines if "metrics: " in line][-1].split()[-1]
        assert url.startswith("http://127.0.0.1:"), worker.lines
        figures = urlopen(url, timeout=30).read().decode()
        for line in (
            "uwf_worker_jobs_total 1.0",
            "uwf_worker_steps_total 2.0",
            "uwf_worker_failed_jobs_total 0.0",
            "uwf_worker_busy 0.0",
            "uwf_store_up 1.0",
            'uwf_workers{state="running"} 1.0',
            "uwf_threads_waiting 0.0",
        ):
            assert line in figures, figures
        assert worker.end() == 0, worker.lines
        assert uwf.queued.backend.workers() == []
        with pytest.raises(URLError):
            urlopen(url, timeout=5)


def test_when_an_agent_does_not_end_and_its_step_is_run_again(project):
    """The process that has the stuck thread is replaced; the next life of it repeats the step."""
    plugin = project.folder / ".uwf" / "plugins" / "agents" / "hangs.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(HANGS_ONCE)
    assert project.uwf("config", "trust", ".").exit_code == 0
    del project.env["UWF_DEFAULT_AGENT"]
    project.config("defaultAgent: hangs\nlimits: {runSeconds: 1, graceSeconds: 0.2}\n")
    with project.client() as uwf, Process(project) as worker:
        thread = started(uwf, "two")
        until(lambda: is_done(uwf, thread), worker)
        assert worker.count("still runs 0.2 s after it was asked to stop") >= 1, worker.lines
        assert worker.count("starts anew after 1 jobs") >= 1, worker.lines
        assert worker.end() == 0, worker.lines
        assert (project.folder / "hung").exists()
        assert uwf.show(thread)["steps"] == 2
