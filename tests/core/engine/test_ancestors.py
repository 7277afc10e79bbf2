"""Every step names earlier ones at powers of two, so that any step is a few reads away."""

from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.engine.conftest import ONE_ROLE

from uwf_core.errors import UnknownIdError
from uwf_core.ids import Ref, ThreadId
from uwf_core.testing.project import Project
from uwf_core.thread.decisions import with_ancestor
from uwf_core.thread.head import move_head, read_head
from uwf_core.thread.history import Step, read_step, step_at


class Chain:
    """A chain in memory that counts how many of its steps are read."""

    def __init__(self, length: int) -> None:
        self.steps: dict[str, Any] = {}
        self.reads = 0
        table: tuple[str, ...] = ()
        for number in range(1, length + 1):
            payload = {"number": number, "ancestors": [*table], "attempt": {}, "body": None}
            self.steps[f"s{number}"] = payload
            table = with_ancestor(table, number, f"s{number}")
        self.length = length

    def payload(self, ref: str) -> Any:
        self.reads += 1
        return self.steps[ref]

    def at(self, number: int) -> str:
        last: Any = f"s{self.length}"
        return step_at(self, Step(last, self.steps[last]), number).ref  # type: ignore[arg-type]


@given(st.integers(1, 10_000).flatmap(lambda top: st.tuples(st.just(top), st.integers(1, top))))
def test_any_step_of_10_000_is_at_most_27_reads_away(numbers: tuple[int, int]) -> None:
    length, number = numbers
    chain = CHAINS.setdefault(length, Chain(length)) if length % 1000 == 0 else Chain(length)
    chain.reads = 0
    assert chain.at(number) == f"s{number}"
    assert chain.reads <= 2 * length.bit_length() - 1


CHAINS: dict[int, Chain] = {}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("one-role", ONE_ROLE)
    project.script([{"role": "worker", "output": {"$status": "again"}}], repeat=True)
    return project


def test_steps_of_a_thread_its_fork_and_a_poke_name_the_steps_of_their_chain(
    project: Project,
) -> None:
    with project.client() as uwf:
        thread = uwf.start("one-role", "x")["thread"]
        for _ in range(9):
            uwf.exec(thread)
        uwf.poke(thread, "again")
        uwf.exec(thread)
        forked = uwf.fork(uwf.steps(thread)[6]["step"])["thread"]
        uwf.exec(forked)
        store = uwf._engine.store
        for each in (thread, forked):
            head = read_head(store, ThreadId(each))
            newest = read_step(store, head.ref)
            rows = [row["step"] for row in uwf.steps(each)]
            found = [step_at(store, newest, number).ref for number in range(1, len(rows))]
            assert found == rows[1:]
            assert head.state.ancestors[0] == head.ref
    assert project.uwf("cas", "verify").exit_code == 0


def test_verify_finds_an_ancestor_that_is_another_step(project: Project) -> None:
    with project.client() as uwf:
        thread = uwf.start("one-role", "x")["thread"]
        for _ in range(4):
            uwf.exec(thread)
        engine = uwf._engine
        store, head = engine.store, read_head(engine.store, ThreadId(thread))
        step = read_step(store, head.ref)
        wrong = [step.payload["ancestors"][0]] * 2  # type: ignore[index]
        with store.transaction():
            forged = engine.nodes.put("step", {**step.payload, "ancestors": wrong})
            state = head.state._replace(ancestors=with_ancestor(wrong, 4, forged))
            roles = {"worker": state.role("worker")._replace(step=forged)}
            move_head(store, head, Ref(forged), state._replace(roles=roles))
    outcome = project.uwf("cas", "verify")
    assert outcome.exit_code != 0
    assert "the ancestors of step" in outcome.stdout


def test_a_page_of_a_long_thread_is_read_from_the_place_where_it_begins(project: Project) -> None:
    with project.client() as uwf:
        thread = uwf.start("one-role", "x")["thread"]
        for _ in range(3):
            uwf.exec(thread, count=10)
        rows = uwf.steps(thread)
        page = uwf.read(thread, quota=200, before=rows[20]["step"])
        assert "Step 19:" in page and "Step 20:" not in page
        other = uwf.start("one-role", "y")["thread"]
        uwf.exec(other)
        with pytest.raises(UnknownIdError, match="not a step of thread"):
            uwf.read(thread, before=uwf.steps(other)[1]["step"])


@pytest.mark.parametrize("block", [1, 3, 5])
def test_the_steps_are_read_from_the_first_in_blocks(
    project: Project, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr("uwf_core.thread.history._BLOCK", block)
    with project.client() as uwf:
        thread = uwf.start("one-role", "x")["thread"]
        for _ in range(7):
            uwf.exec(thread)
            read = uwf.thread(thread)
            steps = [step.ref for step in read.steps("output")]
            assert steps[::-1] == [step.ref for step in read.newest_first()]


def test_a_long_thread_is_read_with_few_of_its_steps_in_memory(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uwf_core.thread.history._BLOCK", 5)
    with project.client() as uwf:
        thread = uwf.start("one-role", "x")["thread"]
        uwf.exec(thread, count=30)
        alive = WeakSet[Any]()
        most = 0
        for step in uwf.thread(thread).steps():
            alive.add(step)
            most = max(most, len(alive))
        assert most <= 2
