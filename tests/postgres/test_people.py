"""Two people with a home each share a store: both see the same, whoever runs what."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_dispatch import work

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

from web_site import WebSite

from uwf_core.api.dispatch import WorkerRow
from uwf_core.client import Client, ThreadFilter


class Person(WebSite):
    """The pages and the commands of one home."""

    def __init__(self, root: Path, url: str) -> None:
        self.opened: list[Client] = []
        super().__init__(root)
        self.project.env["UWF_STORE"] = url

    def open(self) -> Client:
        self.opened.append(super().open())
        return self.opened[-1]


@pytest.fixture
def people(tmp_path, url) -> Iterator[tuple[Person, Person]]:
    sites = Person(tmp_path / "ada", url), Person(tmp_path / "bob", url)
    yield sites
    for client in (*sites[0].opened, *sites[1].opened):
        client.close()


def seen(uwf: Client) -> object:
    """What a person sees of all threads."""
    rows = uwf.list(ThreadFilter(all=True))
    threads = [row["thread"] for row in rows]
    shown = [uwf.show(each) for each in threads]
    return rows, shown, uwf.inbox(), [uwf.usage(each) for each in threads], uwf.usage()


def live(uwf: Client, *labels: str) -> None:
    """A worker with these labels reports that it lives."""
    row = WorkerRow(f"w{len(labels)}", "vm", 1, "", labels, "running", 0, None, 0, 0)
    uwf.queued.backend.beat(row)


def test_both_see_the_same_and_either_answers(people):
    """A question of a worker's thread, and a thread that no worker can run."""
    ada, bob = people
    with ada.project.client() as first, bob.project.client() as second:
        asked = first.start("letter", "Invite her.", queue=True)["thread"]
        assert work(first) == [asked]
        tags = {"needs": "gpu,large one"}
        unserved = first.start("letter", "Invite him.", queue=True, tags=tags)["thread"]
        assert work(first) == []
        assert seen(first) == seen(second)

        question, waiting = second.inbox()
        assert (question["thread"], question["kind"]) == (asked, "question")
        assert (waiting["thread"], waiting["kind"]) == (unserved, "worker")
        assert waiting["message"].startswith("no worker is live; the thread needs agent:mock, gpu")
        assert waiting["commands"] == [
            "uwf worker start --label gpu --label 'large one'",
            f"uwf thread exec {unserved} --until-done",
        ]
        live(first, *first.queued.own_labels(), "gpu")
        [waiting] = [each for each in second.inbox() if each["kind"] == "worker"]
        assert waiting["message"] == (
            "no live worker has large one; start a worker with --label 'large one'"
        )
        pages = [each.visitor.get("/inbox.json").json() for each in people]
        assert pages == [{"items": list(second.inbox())}] * 2
        assert "waits for a worker" in bob.visitor.get("/").text

        answered = second.resume(asked, answer={"$status": "approved"})
        assert answered.document["status"] == "completed"
        assert seen(first) == seen(second)
        live(first, *first.queued.own_labels(), "gpu", "large one")
        assert list(first.inbox()) == []


def test_status_says_what_is_missing(people):
    ada, bob = people
    with ada.project.client() as uwf:
        thread = uwf.start("letter", "Do it.", queue=True, tags={"needs": "gpu"})["thread"]
        live(uwf, *uwf.queued.own_labels())
    shown = bob.project.uwf("worker", "status")
    [row] = shown.document["waiting"]
    assert (row["thread"], row["canRun"], row["missing"]) == (thread, False, ["gpu"])
    text = bob.project.uwf("worker", "status", "--format", "text").stdout
    assert f"{thread} waits for" in text
    assert "no live worker has gpu" in text and "next: uwf worker start --label gpu" in text


def test_a_failure_that_workers_repeat_waits_for_nobody(people):
    ada, _ = people
    limited = {"role": "writer", "fail": {"kind": "rate_limited", "message": "later"}}
    ada.project.script([limited], repeat=True)
    with ada.project.client() as uwf:
        live(uwf, *uwf.queued.own_labels())
        thread = uwf.start("letter", "Do it.", queue=True)["thread"]
        assert work(uwf) == [thread]
        shown = uwf.show(thread)
        assert (shown["status"], shown["waitingFor"]) == ("idle", "limit")
        assert list(uwf.inbox()) == []


def test_watch_follows_a_queued_thread_until_it_rests(people):
    """From another home, before a worker has begun; it says why nothing happens."""
    ada, bob = people
    with ada.project.client() as uwf:
        thread = uwf.start("letter", "Do it.", queue=True)["thread"]
        errors = bob.project.folder.parent / "errors"
        command = bob.project.command("watch", thread, "--format", "json")
        with (
            errors.open("w") as stderr,
            subprocess.Popen(
                command, cwd=bob.project.folder, env=bob.project.env, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
            ) as watch,
        ):  # fmt: skip
            said = f"thread {thread} waits: no worker is live"
            until = time.monotonic() + 60
            while said not in errors.read_text():
                assert time.monotonic() < until and watch.poll() is None, errors.read_text()
                time.sleep(0.05)
            assert work(uwf) == [thread]
            printed, _ = watch.communicate(timeout=60)
    assert watch.returncode == 3, errors.read_text()
    assert errors.read_text().count(said) == 1
    assert '"event": "step"' in printed or '"event":"step"' in printed
