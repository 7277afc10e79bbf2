"""Bundles, verify, repair and usage of threads with branches: both ends of each branch agree."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.calling import children
from tests.core.obeying import branches, for_each, obeying_project, task
from tests.step_parts import call_of

from uwf_core.client import Client, ThreadFilter
from uwf_core.errors import BundleError, CorruptNodeError, UwfError
from uwf_core.ids import Ref

EVERY = ThreadFilter(all=True, children=True)
DOES = ("", "say=stuck", "fail=1", "fail=9", "ask", "say=suspend", "cost=0.25")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    project = obeying_project(
        tmp_path_factory.mktemp("project"),
        nested=for_each("nested", worker="\n    workflow: ./each.yaml\n")
        .replace("        done: {", "        approved: {")
        .replace("{{$index}} {{{summary}}} ", "{{$index}} "),
    )

    def client() -> Client:
        return project.client(store="memory:", durable=False)

    yield client


@pytest.fixture
def uwf(opened: Any) -> Iterator[Client]:
    with opened() as client:
        yield client


@pytest.fixture
def other(opened: Any) -> Iterator[Client]:
    with opened() as client:
        yield client


def problems(uwf: Client, *, repair: bool = False) -> list[tuple[str, str]]:
    found = uwf.verify(repair=repair)["problems"]
    return [(each["kind"], each["message"]) for each in found]


def opened_root(uwf: Client, *does: str) -> str:
    """A root whose branches are open: those that fail."""
    root = uwf.start("each", task(*does))["thread"]
    uwf.exec(root, until_done=True)
    return root


def assert_adds_up(uwf: Client, root: str) -> None:
    """The groups of the usage are the ledger of the root, whatever they are grouped by."""
    ledger = uwf.unattended.ledger(root)
    for by in ("role", "agent", "model", "workflow"):
        found = uwf.usage(root, by=by)
        for name in ("costUsd", "inputTokens", "outputTokens"):
            rows = sum(row["usage"][name] or 0 for row in found["rows"])  # type: ignore[literal-required]
            assert rows == (ledger["usage"][name] or 0), (by, name)
        assert sum(row["steps"] for row in found["rows"]) == ledger["steps"]


ACTS = st.lists(
    st.tuples(st.sampled_from(("exec", "all", "branch", "cancel", "resume")), st.integers(0, 3)),
    max_size=6,
)


def play(uwf: Client, root: str, acts: list[tuple[str, int]]) -> None:
    """What persons do to a root and its branches; what is rejected changes nothing."""
    for act, number in acts:
        below = children(uwf, root)
        branch = below[number % len(below)] if below else root
        try:
            if act == "exec":
                uwf.exec(root, count=number + 1)
            elif act == "all":
                uwf.exec(root, until_done=True)
            elif act == "branch":
                uwf.exec(branch)
            elif act == "cancel" and branch != root:
                uwf.cancel(branch)
            elif act == "resume":
                uwf.resume(branch, "DO go", answer='{"word": "w"}')
        except UwfError:
            continue


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(does=st.lists(st.sampled_from(DOES), max_size=4), acts=ACTS, nested=st.booleans())
def test_caller_and_branches_verify_and_replay_in_an_empty_home(
    opened: Any, tmp_path: Path, does: list[str], acts: list[tuple[str, int]], nested: bool
) -> None:
    bundle = tmp_path / "thread.tar"
    with opened() as uwf, opened() as other:
        text = task(*does)
        if nested:  # each branch is a thread that has branches
            text = task(*(task(each).replace("Do it. ", "") for each in does[:2]))
        root = uwf.start("nested" if nested else "each", text)["thread"]
        play(uwf, root, acts)
        written = uwf.export_thread(root, bundle)
        below = [row["thread"] for row in uwf.list(EVERY) if row["thread"] != root]
        taken = other.import_bundle(bundle)
        assert (taken["threads"], written["threads"]) == (len(below), len(below))
        for client in (uwf, other):
            assert problems(client) == []
            found = client.replay(root)
            assert found["verdict"] == "same", found["first"]
            assert_adds_up(client, root)
        for thread in (root, *below):
            assert uwf.thread(thread).root == other.thread(thread).root
            assert other.replay(thread)["verdict"] == "same"
        play(other, root, [*acts[::-1], ("all", 0)])
        assert problems(other) == []
        assert other.replay(root)["verdict"] == "same"
        if other.show(root)["status"] == "completed":
            other.remove(root)
            assert other.list(EVERY) == []


def test_a_renamed_root_leaves_its_open_branches_and_takes_recorded_ones(
    uwf: Client, other: Client, tmp_path: Path
) -> None:
    root, bundle = uwf.start("each", task("", "fail=1"))["thread"], tmp_path / "thread.tar"
    uwf.exec(root)
    uwf.export_thread(root, bundle)
    other.import_bundle(bundle)  # its id is taken, and those of its branches are free
    uwf.exec(root, until_done=True)
    assert [uwf.show(each)["status"] for each in branches(uwf, root)] == ["completed", "suspended"]
    uwf.export_thread(root, bundle)
    again = other.import_bundle(bundle, as_new=True)
    assert again["threads"] == 0, "not the branch that has ended, but is not recorded"
    assert problems(other) == []
    uwf.exec(root, until_done=True)
    assert uwf.show(root)["status"] == "completed"
    uwf.export_thread(root, bundle)
    ended = other.import_bundle(bundle, as_new=True)
    assert ended["threads"] == 2
    assert problems(other) == []
    assert other.replay(ended["thread"])["verdict"] == "same"


def test_the_lost_name_of_an_open_branch_is_reported_and_written_again(uwf: Client) -> None:
    root = opened_root(uwf, "fail=1", "fail=1", "fail=9")
    first, second, third = branches(uwf, root)
    uwf.cancel(third)
    store = uwf._engine.store
    for branch in (second, third):  # also that of a cancelled one, since the root has not moved
        [name] = [each for each in store.variables("@uwf/call/") if each.name.endswith(branch)]
        store.delete_variable(name)
        [(kind, message)] = problems(uwf)
        assert kind == "call"
        assert branch in message or f"step 2 of thread {root}" in message
        assert problems(uwf, repair=True) == []
        assert branches(uwf, root) == [first, second, third]
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    assert problems(uwf) == []


def test_no_result_is_recorded_without_a_branch_whose_name_was_lost(uwf: Client) -> None:
    root = opened_root(uwf, "fail=1", "fail=1", "")
    store = uwf._engine.store
    done = branches(uwf, root)[2]
    [name] = [each for each in store.variables("@uwf/call/") if each.name.endswith(done)]
    store.delete_variable(name)
    outcome = uwf.exec(root, until_done=True)
    assert isinstance(outcome.error, CorruptNodeError)
    assert "the names of 2 of 3 branches" in outcome.error.message
    with pytest.raises(CorruptNodeError):
        uwf.exec(root)
    assert problems(uwf, repair=True) == []
    assert uwf.exec(root, until_done=True).document["status"] == "completed"


def test_the_stray_name_of_an_ended_branch_is_reported(uwf: Client) -> None:
    root = opened_root(uwf, "", "")
    first = children(uwf, root)[0]
    store = uwf._engine.store
    [called] = [each for each in uwf.thread(first).events() if each.kind == "called"]
    store.set_variable(f"@uwf/call/{root}/00000002/{first}", Ref(called.ref), {}, None)
    assert ("call", f"its call is open, but thread {root} has moved since") in problems(uwf)


def forge(uwf: Client, root: str, **fields: Any) -> None:
    """Store the step of a fan-out, the head of its thread, with other fields."""
    engine = uwf._engine
    head = engine.store.variable(f"@uwf/thread/{root}")
    assert head is not None
    node = engine.store.payload(head.value)
    with engine.store.transaction():
        ref = engine.nodes.put("step", {**node, "call": {**node["call"], **fields}})
        engine.store.set_variable(head.name, ref, head.tags, head)


@pytest.mark.parametrize("field", ["name", "role", "thread", "status", "last step"])
def test_a_branch_that_its_caller_records_otherwise_is_reported(
    uwf: Client, other: Client, tmp_path: Path, field: str
) -> None:
    root = opened_root(uwf, "", "say=stuck")  # mixed: the fan-out is the last step
    step = uwf.node(uwf.show(root)["head"])["payload"]
    first, second = call_of(step)["branches"]
    assert problems(uwf) == []
    if field == "last step":
        forge(uwf, root, children=call_of(step)["children"][::-1])
    else:
        wrong = {"status": "$cancelled", "thread": second["thread"]}.get(field, "other")
        forge(uwf, root, branches=[{**first, field: wrong}, second])
    found = [message for kind, message in problems(uwf) if kind == "call"]
    assert any(f"records another {field} of branch 0" in each for each in found), problems(uwf)
    with pytest.raises(BundleError):
        uwf.export_thread(root, tmp_path / "thread.tar")
        other.import_bundle(tmp_path / "thread.tar")


def test_a_damaged_branch_is_named(uwf: Client) -> None:
    root = opened_root(uwf, "", "fail=9")
    branch = branches(uwf, root)[0]
    step = next(uwf.thread(branch).steps())
    uwf._engine.store.delete([step.node["output"]], 1 << 62)
    found = uwf.verify()
    assert branch in found["damaged"]


def test_removing_the_root_removes_its_branches(uwf: Client) -> None:
    for does in (("", ""), ("", "fail=9")):
        root = opened_root(uwf, *does)
        assert len(uwf.list(EVERY)) == 3
        if does[1]:
            uwf.cancel(root)
        uwf.remove(root)
        assert uwf.list(EVERY) == []
        assert uwf._engine.store.variables("@uwf/") == []
