"""Threads that call others, and those that are called, as lists and documents show them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.core.calling import (
    ACCEPTED,
    GOOD,
    PLANNED,
    WRITTEN,
    calling_project,
    child_of,
)
from tests.core.views.test_thread_list import ONLY_IN_SHOW
from tests.step_parts import call_of

from uwf_core.client import Client, ThreadFilter
from uwf_core.testing.project import Project
from uwf_core.views.thread_list import thread_rows

EVERY = ThreadFilter(all=True, children=True)
ASKING = {**WRITTEN, "question": {"message": "Which colour?", "form": {"properties": {}}}}
FAILING = {"role": "writer", "fail": {"kind": "auth", "message": "no key"}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return calling_project(tmp_path)


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


@pytest.fixture
def root(uwf: Client) -> str:
    return uwf.start("outer", "Make a poem.")["thread"]


def listed(uwf: Client, wanted: ThreadFilter) -> list[str]:
    return [row["thread"] for row in uwf.list(wanted)]


def test_a_list_shows_called_threads_on_request(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    assert listed(uwf, ThreadFilter()) == [root]
    assert listed(uwf, EVERY) == [child, root]
    rows = {row["thread"]: (row["depth"], row["parent"]) for row in uwf.list(EVERY)}
    assert rows == {root: (0, None), child: (1, root)}
    uwf.exec(root, until_done=True)
    assert listed(uwf, ThreadFilter(all=True)) == [root]


def test_the_last_thread_is_one_that_no_other_called(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    assert uwf.show("@last")["thread"] == root


@pytest.mark.parametrize("below", [GOOD, ASKING, FAILING], ids=["idle", "asks", "fails"])
def test_rows_of_threads_in_a_call_are_the_documents_of_these(
    project: Project, uwf: Client, root: str, below: Any
) -> None:
    rest = [] if below is GOOD else [below]
    project.script([PLANNED, *(rest or [WRITTEN]), GOOD, ACCEPTED], by_role=True)
    uwf.start("outer", "Another one.")
    uwf.exec(root, count=2)
    rows = [json.loads(row) for row in thread_rows(uwf._engine, EVERY)]
    shown = [uwf.show(row["thread"]) for row in rows]
    assert rows == [
        {key: each[key] for key in each if key not in ONLY_IN_SHOW}  # type: ignore[literal-required]
        for each in shown
    ]
    assert len(rows) == 3


def test_a_list_of_suspended_threads_has_those_that_wait_below(
    project: Project, uwf: Client, root: str
) -> None:
    project.script([PLANNED, ASKING, GOOD, ACCEPTED], by_role=True)
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    suspended = ThreadFilter(statuses=("suspended",))
    assert listed(uwf, suspended) == [root]
    assert listed(uwf, suspended._replace(children=True)) == [child, root]
    assert listed(uwf, ThreadFilter(statuses=("active",))) == []


def test_a_list_of_running_threads_has_the_caller_of_one_that_runs(uwf: Client, root: str) -> None:
    from uwf_core.ids import ThreadId
    from uwf_core.thread.lock import thread_lock

    uwf.exec(root, count=2)
    store = uwf._engine.store
    with thread_lock(store, ThreadId(child_of(uwf, root)), uwf._engine.now_ms()):
        assert listed(uwf, ThreadFilter(statuses=("running",))) == [root]


def test_a_damaged_thread_below_leaves_the_list_readable(uwf: Client, root: str) -> None:
    from uwf_core.ids import ThreadId
    from uwf_core.thread.names import head_name

    uwf.exec(root, count=2)
    other = uwf.start("outer", "Another one.")["thread"]
    child = child_of(uwf, root)
    store = uwf._engine.store
    head = store.variable(head_name(ThreadId(child)))
    assert head is not None
    store.set_variable(head.name, head.value, {"depth": "1", "parent": root}, head)
    rows = {row["thread"]: row["status"] for row in uwf.list(EVERY)}
    assert rows == {other: "idle", child: "corrupt", root: "idle"}


def test_a_list_asks_the_store_no_more_for_each_thread_beside_a_call(
    project: Project, uwf: Client, root: str
) -> None:
    """Statements, counted."""
    uwf.exec(root, count=2)

    def statements() -> int:
        with project.client() as reader:
            seen: list[str] = []
            reader._engine.backend._database.reader().set_trace_callback(seen.append)  # type: ignore[attr-defined]
            reader.list(EVERY)
            return len(seen)

    before = statements()
    for _ in range(20):
        uwf.start("outer", "Another one.")
    assert statements() == before


def test_completion_offers_called_threads_after_the_others(
    project: Project, uwf: Client, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from uwf_core.cli.complete import candidates

    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    other = uwf.start("outer", "Another one.")["thread"]
    for name, value in project.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project.folder)
    assert [word for word, _ in candidates(["thread", "show"], "")] == ["@last", other, root, child]


# -- one thread ------------------------------------------------------------------------------------


def stack(uwf: Client, thread: str) -> list[tuple[str, str | None, int | None]]:
    return [
        (each["workflowName"], each["role"], each["step"]) for each in uwf.show(thread)["stack"]
    ]


def test_the_stack_of_a_thread_leads_to_the_role_that_runs_next(uwf: Client, root: str) -> None:
    assert stack(uwf, root) == [("outer", "planner", 1)]
    uwf.exec(root, count=2)
    assert stack(uwf, root) == [("outer", "work", 2), ("inner", "checker", 2)]
    shown = uwf.show(root)
    child = child_of(uwf, root)
    assert [each["thread"] for each in shown["stack"]] == [root, child]
    assert shown["children"] == [
        {"thread": child, "role": "work", "workflowName": "inner", "status": "idle"}
    ]
    assert (shown["next"], shown["hint"]) == ([f"uwf thread exec {root}"], "runs work/checker")
    assert stack(uwf, child) == [("inner", "checker", 2)]
    uwf.exec(root, until_done=True)
    assert stack(uwf, root) == [("outer", None, None)]
    assert [each["status"] for each in uwf.show(root)["children"]] == ["completed"]


def test_a_thread_that_waits_below_is_continued_through_its_root(
    project: Project, uwf: Client, root: str
) -> None:
    form = {"properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    asking = {**WRITTEN, "question": {"message": "Which colour?", "form": form}}
    project.script([PLANNED, asking, GOOD, ACCEPTED], by_role=True)
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    for thread, role in ((root, "work/writer"), (child, "writer")):
        shown = uwf.show(thread)
        assert shown["next"] == [f"uwf thread resume {thread} --answer colour=<text>"]
        assert shown["hint"] == f"answers {role}; `form` is the JSON Schema of an answer"


def test_a_failure_below_is_shown_with_its_attempt(
    project: Project, uwf: Client, root: str
) -> None:
    project.script([PLANNED, FAILING], by_role=True)
    uwf.exec(root, until_done=True)
    shown = uwf.show(root)
    failed = [step.ref for step in uwf.thread(child_of(uwf, root)).pending]
    assert shown["next"] == [f"uwf thread exec {root}"]
    assert shown["hint"] == (
        f"runs work/writer again; `uwf step show {failed[0]}` shows the failed attempt"
    )


def test_while_a_called_thread_runs_its_caller_waits_for_it(uwf: Client, root: str) -> None:
    from uwf_core.ids import ThreadId
    from uwf_core.thread.lock import thread_lock

    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    with thread_lock(uwf._engine.store, ThreadId(child), uwf._engine.now_ms()):
        shown = uwf.show(root)
    assert (shown["status"], shown["next"]) == ("running", [f"uwf thread wait {child}"])


def test_a_called_thread_that_has_ended_leads_to_its_caller_or_to_a_fork(
    uwf: Client, root: str
) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    uwf.exec(child)
    for thread in (root, child):
        shown = uwf.show(thread)
        assert shown["next"] == [f"uwf thread exec {root}"], shown["hint"]
        assert "records the result" in (shown["hint"] or "")
    uwf.exec(root)
    shown = uwf.show(child)
    assert shown["next"] == [f"uwf thread fork {shown['head']}"]
    assert shown["hint"] == (
        f"a new thread continues from its last step: its result is step 2 of thread {root}"
    )


def test_a_called_thread_below_a_cancelled_one_leads_to_a_fork(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    uwf.cancel(root)
    shown = uwf.show(child)
    assert (shown["status"], shown["next"]) == ("cancelled", [f"uwf thread fork {shown['head']}"])
    assert f"thread {root} is cancelled" in (shown["hint"] or "")
    assert uwf.fork(shown["head"])["thread"] not in (root, child)


def test_a_cancelled_call_leads_to_the_exec_of_its_caller(uwf: Client, root: str) -> None:
    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    uwf.cancel(child)
    shown = uwf.show(child)
    assert shown["next"] == [f"uwf thread exec {root}"]
    assert shown["hint"] == f"records the cancellation in thread {root}"


# -- its steps -------------------------------------------------------------------------------------


def test_the_step_of_a_call_leads_to_the_thread_that_it_called(uwf: Client, root: str) -> None:
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    rows = uwf.steps(root)
    assert [row["childThread"] for row in rows] == [None, None, child, None]
    step = uwf.step(rows[2]["step"])
    assert (step["agent"], step["childThread"]) == ("workflow", child)
    assert call_of(step)["child"] == uwf.show(child)["head"]
    assert call_of(step)["usage"] is not None
    assert (call_of(step)["usage"]["steps"], call_of(step)["usage"]["usage"]["inputTokens"]) == (
        2,
        20,
    )
    text = uwf.read(root)
    assert text.count(f"`uwf thread read {child}`") == 1
    assert "roses are red" in text


def test_the_texts_of_calls_fit_a_narrow_terminal(project: Project, uwf: Client, root: str) -> None:
    from uwf_core.cli.render.colours import Screen
    from uwf_core.cli.step import step_text, steps_text
    from uwf_core.cli.thread import thread_text
    from uwf_core.cli.thread_list import threads_text

    uwf.exec(root, count=2)
    child = child_of(uwf, root)
    screen = Screen(60, colour=False)
    text = thread_text(uwf.show(root), screen)
    assert f"{root} outer #2 work\n" in text
    assert f"{child} inner #2 checker\n" in text
    assert "caller" not in text
    assert f"caller    {root}" in thread_text(uwf.show(child), screen)
    listed = threads_text({"threads": uwf.list(EVERY)}, Screen(200, colour=False))
    assert "CALLED BY" in listed.splitlines()[0]
    uwf.exec(root, until_done=True)
    assert f"called    {child} work completed" in thread_text(uwf.show(root), screen)
    rows = steps_text({"steps": uwf.steps(root)}, Screen(100, colour=False))
    assert rows.count(child) == 1
    [step] = [row["step"] for row in uwf.steps(root) if row["childThread"]]
    text = step_text(uwf.step(step), screen)
    assert f"called  {child}; next: uwf thread read {child}" in text
