"""Threads that call threads, as trees: whatever fails, dies, is stopped, cancelled, poked or
forked, each call is recorded once, nothing that was used is lost, and the run ends where it would
have without all that.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from random import Random
from threading import current_thread, main_thread
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.core.calling import descendants, open_threads
from tests.core.engine.call_worlds import made_project, random_workflows, route
from tests.faults.calls import miscounted, own_steps, recorded_by
from tests.forms import form
from tests.step_parts import call_of

from uwf_core.client import Cancel, Client
from uwf_core.errors import UsageError, WrongStateError
from uwf_core.testing.crashes import at_points
from uwf_core.testing.project import Project

POINTS = ["call", "return", "calls", "join", "begin", "record", "advance", "fail", "question",
          "recover", "commit", "committed", "variable", "transaction", "locked",
          "keep"]  # fmt: skip
"""Crash points that the main thread of a process reaches."""
TREES = settings(
    max_examples=form(short=2, long=60), deadline=None, suppress_health_check=list(HealthCheck)
)
SEEDS = st.integers(min_value=0, max_value=1 << 20)
NUMBERS = count()


class Death(BaseException):
    """The end of a process at a crash point."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = made_project(tmp_path_factory.mktemp("trees"))
    Tree(project, 0).finish()  # imports the agent
    return project


class Tree:
    """A thread and all that it calls, in a store of its own."""

    def __init__(self, project: Project, seed: int, *, durable: bool = False) -> None:
        self._durable = durable  # else branches run in turn, in this process
        self.project, self.chance = project, Random(seed)
        texts = random_workflows(self.chance)
        for name, text in texts.items():
            project.workflow(name, text)
        self._store = f"sqlite:{project.home}/tree-{next(NUMBERS)}.db"
        self._open()
        self.root = self.uwf.start(f"w{len(texts) - 1}", f"P:{seed}")["thread"]

    def _open(self) -> None:
        self.uwf: Client = self.project.client(store=self._store, durable=self._durable)

    @property
    def threads(self) -> list[str]:
        """The root and all below."""
        return [self.root, *descendants(self.uwf, self.root)]

    @property
    def open(self) -> list[str]:
        """The root and the threads of open calls."""
        return open_threads(self.uwf, self.root)

    def act(self, thread: str, **how: Any) -> None:
        """Let a thread go on as it can: exec, or what it waits for."""
        asking = [item["thread"] for item in self.uwf.inbox(thread)]
        waiting = self.uwf.show(thread)["suspendReason"]
        if not asking or waiting not in ("role", "limit"):
            self.uwf.exec(thread, **how)
            return
        each = self.chance.choice(asking)
        through = thread if len(asking) == 1 else each
        if self.uwf.show(each)["form"]:
            self.uwf.resume(through, answer="word=x")
        else:
            self.uwf.resume(through, "go on")

    def finish(self) -> None:
        """Go on until it is completed."""
        for _ in range(600):
            if self.uwf.show(self.root)["status"] == "completed":
                return
            self.act(self.root, until_done=True)
        raise AssertionError(f"it does not end: {self.uwf.show(self.root)}")

    def dying(self, act: Callable[[], None]) -> None:
        """Act, and die at some point of it, or not."""
        wanted, reached = self.chance.choice(POINTS), count(1)
        last = self.chance.choice([1, 1, 2, 3, 5, 8])

        def reach(name: str) -> None:
            is_main = current_thread() is main_thread()  # an agent's would survive
            if is_main and name == wanted and next(reached) == last:
                raise Death

        died = False
        try:
            at_points(reach)
            act()
        except Death:
            died = True
        finally:
            at_points(None)
        if died:
            self.uwf.close()
            self._open()

    def check(self) -> None:
        """Everything that must hold at any time."""
        for thread in self.threads:
            self._check_calls(thread)
        assert miscounted(self.uwf, self.root) is None
        found = self.uwf.verify()
        assert found["valid"], found["problems"]

    def _check_calls(self, thread: str) -> None:
        """Each call of this thread is recorded once, or open."""
        called = [
            (event.payload["parent"], event.payload["number"])
            for event in self.uwf.thread(thread).events()
            if event.kind == "called"
        ]
        callers = {parent for parent, _ in called}
        steps = [step for each in callers for step in own_steps(self.uwf, each)]
        recorded = [step["thread"] for step in steps if thread in recorded_by(step)]
        opened = [(each, self.uwf.thread(each).open_calls) for each in callers]
        recorded += [each for each, calls in opened for call in calls if call.thread == thread]
        assert Counter(recorded) == Counter(parent for parent, _ in called)
        for step in own_steps(self.uwf, thread):
            if call_of(step)["child"] is not None and step["failure"] is None:
                below = self.payload(call_of(step)["child"])
                assert (step["output"], step["body"]) == (below["output"], below["body"])
                assert below["next"]["status"] == "completed"
            if call_of(step)["children"] is not None:
                self._check_join(step)

    def _check_join(self, step: Any) -> None:
        """The step of a fan-out has the results of its branches in their order."""
        output = self.payload(step["output"])
        ends = zip(
            call_of(step)["branches"], call_of(step)["children"], output["results"], strict=True
        )
        for index, (branch, child, result) in enumerate(ends):
            delivered = {"$status": "$cancelled"}
            if branch["status"] != "$cancelled":
                last = self.payload(child)
                assert last["next"]["status"] == "completed"
                delivered = self.payload(last["output"])
            assert result == {**delivered, "$index": index, "_body": ""}
            assert branch["name"] is None or output[branch["name"]] == result
            assert branch["status"] == result["$status"]

    def payload(self, ref: str) -> Any:
        return self.uwf.node(ref)["payload"]


@contextmanager
def failing() -> Iterator[None]:
    """Let some attempts of the agent fail the first time."""
    loaded = [
        each for each in list(sys.modules.values()) if {"FAILED", "Tree"} <= vars(each).keys()
    ]
    [agent] = loaded  # the plugin of the project, under a name that uwf made
    agent.FAILS[0] = 1
    try:
        yield
    finally:
        agent.FAILS[0] = 0


def stopped() -> Cancel:
    """The cancel token of a run that was stopped before its first step."""
    cancel = Cancel()
    cancel.set("stopped")
    return cancel


@TREES
@given(seed=SEEDS)
@example(seed=743343)  # a branch dies with the answer of a person
def test_a_run_that_is_killed_and_fails_ends_with_the_same_outputs_and_routes(
    project: Project, seed: int
) -> None:
    smooth = Tree(project, seed)
    smooth.finish()
    rough = Tree(project, seed)
    with failing():
        for _ in range(rough.chance.randint(5, 25)):
            word = rough.chance.choice(rough.open)
            how = rough.chance.choice(
                [{}, {}, {"count": 3}, {"until_done": True}, {"cancel": stopped()}]
            )
            rough.dying(lambda word=word, how=how: rough.act(word, **how))
        rough.check()
        rough.finish()
    rough.check()
    assert route(rough.uwf, rough.root) == route(smooth.uwf, smooth.root)
    smooth.uwf.close()
    rough.uwf.close()


@settings(TREES, max_examples=form(short=1, long=20))
@given(seed=SEEDS)
def test_branches_in_processes_of_their_own_give_the_same_outputs_and_routes(
    project: Project, seed: int
) -> None:
    one = Tree(project, seed)
    one.finish()
    several = Tree(project, seed, durable=True)
    several.finish()
    several.check()
    assert route(several.uwf, several.root) == route(one.uwf, one.root)
    one.uwf.close()
    several.uwf.close()


@TREES
@given(seed=SEEDS)
def test_whatever_people_do_to_threads_of_a_tree_nothing_is_lost_or_stuck(
    project: Project, seed: int
) -> None:
    tree = Tree(project, seed)
    forks: list[str] = []
    with failing():
        for _ in range(tree.chance.randint(5, 25)):
            try:
                tree.dying(any_act(tree, tree.chance.choice(tree.open), forks))
            except (WrongStateError, UsageError):
                continue
        tree.check()
        tree.finish()
        tree.check()
        for fork in forks[:2]:
            tree.root = fork
            tree.finish()
            tree.check()
    tree.uwf.close()


def any_act(tree: Tree, thread: str, forks: list[str]) -> Callable[[], Any]:
    """Something that a person can do to a thread of a tree, allowed or not; but the root, which is
    to end, is not cancelled.
    """
    uwf = tree.uwf
    acts: list[Callable[[], Any]] = [
        lambda: tree.act(thread),
        lambda: tree.act(thread, count=3),
        lambda: tree.act(tree.root, until_done=True),
        lambda: uwf.poke(thread, "again"),
        lambda: uwf.resume(thread, "more"),
        lambda: forks.append(uwf.fork(uwf.show(thread)["head"])["thread"]),
    ]
    if thread != tree.root:
        acts.append(lambda: uwf.cancel(thread))
    return tree.chance.choice(acts)
