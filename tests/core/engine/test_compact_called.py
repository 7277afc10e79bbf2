"""compact in called threads, after damage, and when the call of its agent is cancelled."""

import threading
import time
from collections.abc import Iterator

import pytest
from tests.core.calling import ACCEPTED, GOOD, INNER, OUTER, PLANNED, REFUSED, WRITTEN, children
from tests.core.engine.compacting import Compacting

from uwf_core.client import Cancel, Client
from uwf_core.errors import AgentInterrupted
from uwf_core.ids import Ref, ThreadId
from uwf_core.testing.project import Project

COST = {"output": "They wrote roses.", "usage": {"inputTokens": 1000, "costUsd": 0.25}}


@pytest.fixture
def compacting(project: Project) -> Compacting:
    project.workflow("inner", INNER)
    project.workflow("outer", OUTER)
    project.script([PLANNED, WRITTEN, GOOD, REFUSED, WRITTEN, GOOD, ACCEPTED], by_role=True)
    made = Compacting(project)
    made.summarize(COST)
    return made


@pytest.fixture
def uwf(compacting: Compacting, project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


def begun(uwf: Client, count: int) -> tuple[str, str]:
    """A thread after so many leaf steps, and the one that it called."""
    thread = uwf.start("outer", "The task.")["thread"]
    uwf.exec(thread, count=count)
    [child] = children(uwf, thread)
    return thread, child


def check_sums(uwf: Client, thread: str, cost: float) -> None:
    """The ledger of a thread is the sum of all that it and the threads below it used."""
    assert uwf.unattended.ledger(thread)["usage"]["costUsd"] == cost
    assert uwf.usage(thread=thread)["total"]["usage"]["costUsd"] == cost
    assert uwf.verify()["problems"] == []


def test_a_called_thread_is_compacted_by_its_id_and_its_caller_counts_it_once(uwf: Client) -> None:
    thread, child = begun(uwf, 2)
    uwf.compact(child, agent="me")
    check_sums(uwf, thread, 2 * 0.5 + 0.25)
    uwf.exec(thread)
    assert len(uwf.steps(thread)) == 3, "the call is recorded"
    check_sums(uwf, thread, 3 * 0.5 + 0.25)


def test_a_summary_after_the_result_counts_for_the_caller_too(uwf: Client) -> None:
    thread, child = begun(uwf, 3)
    uwf.compact(child, agent="me")
    check_sums(uwf, thread, 3 * 0.5 + 0.25)
    [writer] = [step["step"] for step in uwf.steps(child) if step["role"] == "writer"]
    uwf.exec(thread, count=3)
    assert children(uwf, thread) == [child], "the same thread is called again"
    check_sums(uwf, thread, 6 * 0.5 + 0.25)
    last = uwf.steps(child)[-2]["step"]
    assert last != writer
    assert uwf.replay(thread)["verdict"] == "same"


def test_a_limit_of_the_caller_counts_a_late_summary(uwf: Client) -> None:
    thread = uwf.start("outer", "The task.", limits={"maxCostUsd": 1.7})["thread"]
    uwf.exec(thread, count=3)
    [child] = children(uwf, thread)
    uwf.compact(child, agent="me")
    assert uwf.exec(thread).exit_code == 5
    assert "1.75" in str(uwf.show(thread)["suspendMessage"])


def test_a_question_after_the_result_counts_for_the_caller_too(uwf: Client) -> None:
    thread, child = begun(uwf, 3)
    uwf.ask(uwf.steps(child)[1]["step"], "Why roses?", agent="me", fork=False)
    check_sums(uwf, thread, 3 * 0.5 + 0.25)


def test_a_late_summary_travels_with_the_caller(
    uwf: Client, project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    thread, child = begun(uwf, 3)
    uwf.compact(child, agent="me")
    root = tmp_path_factory.mktemp("other")
    uwf.export_thread(thread, root / "t.tar")
    with Project(root).client() as other:
        other.import_bundle(root / "t.tar")
        check_sums(other, thread, 3 * 0.5 + 0.25)
    uwf.cancel(thread)
    uwf.remove(thread)
    assert uwf._engine.store.rows("@uwf/asked/") == []


@pytest.mark.parametrize("lost", ["summary", "event", "tags"])
def test_repair_brings_a_summary_back(
    compacting: Compacting, project: Project, lost: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bundle = tmp_path_factory.mktemp("bundle") / "t.tar"
    with compacting.client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=2)
        uwf.compact(thread, "They wrote roses.")
        uwf.export_thread(thread, bundle)
        store = uwf._engine.store
        event = Ref(uwf.thread(thread).events()[-1].ref)
        if lost == "tags":
            name = f"@uwf/thread/{ThreadId(thread)}"
            row = store.variable(name)
            assert row is not None
            tags = {key: text for key, text in row.tags.items() if key != "compacted"}
            store.set_variable(name, row.value, tags, row)
        else:
            store.delete([event if lost == "event" else store.payload(event)["summary"]], 1 << 62)
    with compacting.client() as uwf:
        assert not uwf.verify()["valid"]
        repaired = uwf.verify(repair=True, bundle=str(bundle))
        assert repaired["valid"], repaired
        uwf.exec(thread)
        assert "They wrote roses." in uwf.prompt(uwf.steps(thread)[-1]["step"])


def test_a_cancelled_call_of_the_agent_stores_nothing_and_frees_the_thread(
    compacting: Compacting,
) -> None:
    agent = compacting.project.folder.parent / "agent.py"
    agent.write_text(
        agent.read_text().replace(
            'if words["--mode"] == "ask":',
            'if words["--mode"] == "ask":\n    __import__("time").sleep(60)',
        )
    )
    with compacting.client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=2)
        before, cancel = uwf.show(thread), Cancel()
        timer = threading.Timer(1, cancel.set, ["Ctrl-C"])
        timer.start()
        began = time.monotonic()
        with pytest.raises(AgentInterrupted):
            uwf.compact(thread, agent="me", cancel=cancel)
        assert time.monotonic() - began < 30
        assert uwf.show(thread) == before
        uwf.compact(thread, "They wrote roses.")
