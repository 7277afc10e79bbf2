"""compact: a summary in place of older steps, for sessions that begin."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.engine.compacting import Compacting
from tests.core.engine.conftest import LOOP

from uwf_core.client import Client
from uwf_core.errors import (
    AgentFailure,
    LimitReached,
    TooLarge,
    UnknownIdError,
    UsageError,
    WrongStateError,
)
from uwf_core.testing.project import Project

TEXT = "The developer wrote it; the reviewer wants < fixed."


@pytest.fixture
def compacting(project: Project) -> Compacting:
    """A project whose agent has no sessions."""
    return Compacting(project)


@pytest.fixture
def uwf(compacting: Compacting) -> Iterator[Client]:
    """A client of the project."""
    with compacting.client() as client:
        yield client


def rows(uwf: Client, thread: str) -> list[str]:
    """The steps of a thread, without its start."""
    return [row["step"] for row in uwf.steps(thread)[1:]]


def prompt_of_next(uwf: Client, thread: str) -> str:
    """Take a step; what its agent got."""
    assert uwf.exec(thread).exit_code == 0
    return uwf.prompt(rows(uwf, thread)[-1])


def shown_steps(prompt: str, count: int) -> list[int]:
    """The numbers of the steps that a prompt shows."""
    return [number for number in range(1, count + 1) if f"## Step {number}: " in prompt]


def check_replays(uwf: Client, thread: str) -> None:
    """Every recorded prompt is made again, and the store is sound."""
    found = uwf.replay(thread)
    assert found["verdict"] == "same", found["first"]
    assert uwf.verify()["problems"] == []


def test_a_new_session_gets_the_summary_in_place_of_older_steps(uwf: Client, thread: str) -> None:
    uwf.exec(thread, count=3)
    first, second, *_ = rows(uwf, thread)
    before = uwf.show(thread)
    done = uwf.compact(thread, TEXT, up_to=first)
    assert (done["number"], done["step"], done["summary"]) == (1, first, TEXT)
    assert done["by"] is not None
    after = uwf.show(thread)
    assert (after["head"], after["status"]) == (before["head"], before["status"])
    assert after["compacted"] == done
    prompt = prompt_of_next(uwf, thread)
    assert (
        "# What happened before\n\n## Summary of step 1\n\nThis text replaces step 1; "
        f"`uwf thread read {thread} --before {second}` prints it in full.\n\n````\n{TEXT}\n````\n\n"
        "## Step 2: reviewer, rejected"
    ) in prompt
    assert shown_steps(prompt, 4) == [2, 3]
    assert "your earlier replies, or a summary of them, are below" in prompt
    assert "WORK 1" in uwf.read(thread), "nothing is deleted"
    assert f"## Compacted up to step 1\n\n{done['event']}" in uwf.read(thread)
    check_replays(uwf, thread)


def test_a_summary_of_all_steps_names_the_command_that_prints_them(
    uwf: Client, thread: str
) -> None:
    uwf.exec(thread, count=2)
    uwf.compact(thread, TEXT)
    prompt = prompt_of_next(uwf, thread)
    assert f"This text replaces steps 1 to 2; `uwf thread read {thread}` prints them" in prompt
    assert shown_steps(prompt, 2) == []


def test_a_session_that_continues_gets_every_step_that_it_does_not_know(
    project: Project, tmp_path: Path
) -> None:
    work, back = {"$status": "done"}, {"$status": "rejected", "comments": "no"}
    outputs = [("developer", work), ("reviewer", back)] * 2
    project.script([{"role": role, "output": output} for role, output in outputs])
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=2)
        uwf.compact(thread, TEXT)
        prompt = prompt_of_next(uwf, thread)
        assert TEXT not in prompt
        assert shown_steps(prompt, 2) == [2]
        for session in project.home.glob("agents/*/sessions/*"):
            session.unlink()
        prompt = prompt_of_next(uwf, thread)
        assert TEXT in prompt, "its session is lost"
        assert shown_steps(prompt, 3) == [3]
        check_replays(uwf, thread)


def test_a_summary_does_not_hold_for_a_step_that_was_replaced(uwf: Client, thread: str) -> None:
    uwf.exec(thread, count=3)
    uwf.compact(thread, "The first two.", up_to=rows(uwf, thread)[1])
    uwf.compact(thread, "All three.")
    uwf.poke(thread, "Again, please.")
    prompt = uwf.prompt(rows(uwf, thread)[-1])
    assert "All three." not in prompt
    assert "The first two." in prompt
    prompt = prompt_of_next(uwf, thread)
    assert "The first two." in prompt
    assert shown_steps(prompt, 3) == [3]
    uwf.compact(thread, "All three anew.", up_to=rows(uwf, thread)[2])
    assert shown_steps(prompt_of_next(uwf, thread), 4) == [4]
    check_replays(uwf, thread)


def test_a_fork_takes_over_the_summary_that_holds_at_its_step(uwf: Client, thread: str) -> None:
    uwf.exec(thread, count=3)
    first, second, third = rows(uwf, thread)
    uwf.compact(thread, TEXT, up_to=second)
    early, at, late = (uwf.fork(step)["thread"] for step in (first, second, third))
    assert uwf.show(early)["compacted"] is None
    assert shown_steps(prompt_of_next(uwf, early), 1) == [1]
    assert shown_steps(prompt_of_next(uwf, at), 2) == []
    assert shown_steps(prompt_of_next(uwf, late), 3) == [3]
    again = uwf.fork(rows(uwf, late)[-1])["thread"]
    uwf.compact(late, "All four.")
    uwf.cancel(thread)
    uwf.remove(thread)
    assert shown_steps(prompt_of_next(uwf, again), 4) == [3, 4]
    assert shown_steps(prompt_of_next(uwf, late), 4) == []
    for fork in (early, at, late, again):
        check_replays(uwf, fork)


def test_an_agent_writes_the_summary_in_one_call_that_counts(
    compacting: Compacting, uwf: Client, thread: str
) -> None:
    uwf.exec(thread, count=2)
    usage = {"inputTokens": 1000, "outputTokens": 50, "costUsd": 0.25}
    compacting.summarize({"output": "  They worked.\n", "usage": usage})
    done = uwf.compact(thread, agent="me")
    assert done["summary"] == "They worked."
    assert done["usage"]["costUsd"] == 0.25
    assert uwf.show(thread)["usage"]["costUsd"] == 0.25
    record = str(compacting.asked["record"])
    assert "The task." in record
    assert "WORK 1" in record
    uwf.exec(thread, count=2)
    uwf.compact(thread, agent="me")
    record = str(compacting.asked["record"])
    assert "They worked." in record, "the summary so far"
    assert shown_steps(record, 4) == [3, 4], "and the steps after it"
    event = uwf.thread(thread).events()[-1]
    stored = uwf._engine.store.text(event.payload["prompt"])
    assert stored.startswith(f"{record}\n\n# Question\n\nSummarize the steps above")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"output": " \n"}, AgentFailure),
        ({"output": "x" * 16_001}, TooLarge),
        ({"error": {"kind": "crashed", "message": "no"}}, AgentFailure),
    ],
    ids=["empty", "too long", "failed"],
)
def test_an_agent_that_fails_changes_nothing(
    compacting: Compacting, uwf: Client, thread: str, reply: object, error: type[Exception]
) -> None:
    uwf.exec(thread, count=2)
    before = uwf.show(thread)
    compacting.summarize(reply)
    with pytest.raises(error):
        uwf.compact(thread, agent="me")
    assert uwf.show(thread) == before


def test_what_cannot_be_compacted_is_named_with_its_cure(uwf: Client, thread: str) -> None:
    with pytest.raises(WrongStateError, match="has no step yet"):
        uwf.compact(thread, TEXT)
    uwf.exec(thread, count=2)
    with pytest.raises(UsageError, match="one of --text and --agent is needed"):
        uwf.compact(thread)
    with pytest.raises(UsageError, match="--text and --agent cannot be combined"):
        uwf.compact(thread, TEXT, agent="me")
    with pytest.raises(UsageError, match="maximum is 16000"):
        uwf.compact(thread, "x" * 16_001)
    with pytest.raises(UnknownIdError, match="is not a step of thread"):
        uwf.compact(thread, TEXT, up_to=uwf.steps(thread)[0]["step"])
    uwf.compact(thread, TEXT)
    with pytest.raises(WrongStateError, match="already compacted up to step 2"):
        uwf.compact(thread, TEXT, up_to=rows(uwf, thread)[0])
    uwf.cancel(thread)
    with pytest.raises(WrongStateError, match="is cancelled"):
        uwf.compact(thread, TEXT)


def test_at_a_limit_a_person_can_compact_and_an_agent_cannot(
    compacting: Compacting, uwf: Client
) -> None:
    thread = uwf.start("loop", "The task.", limits={"maxSteps": 2})["thread"]
    uwf.exec(thread, count=2)
    for _ in range(2):
        with pytest.raises(LimitReached, match="maxSteps 2"):
            uwf.compact(thread, agent="me")
        assert uwf.exec(thread).exit_code == 5
    uwf.compact(thread, TEXT)


def test_secrets_are_not_stored_in_a_summary(compacting: Compacting, project: Project) -> None:
    secret = "sk-secret-0123456789abcdef"
    project.env["OTHER_API_KEY"] = secret
    with compacting.client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=2)
        assert (
            secret
            not in uwf.compact(thread, f"the key {secret}", up_to=rows(uwf, thread)[0])["summary"]
        )
        compacting.summarize({"output": f"the key {secret}"})
        assert secret not in uwf.compact(thread, agent="me")["summary"]


def test_a_compacted_thread_keeps_its_summary_in_a_bundle(
    uwf: Client, thread: str, tmp_path: Path
) -> None:
    uwf.exec(thread, count=3)
    uwf.compact(thread, TEXT, up_to=rows(uwf, thread)[1])
    uwf.exec(thread)
    uwf.export_thread(thread, tmp_path / "bundle")
    other = Compacting(Project(tmp_path / "other"))
    with other.client() as there:
        there.import_bundle(tmp_path / "bundle")
        assert there.show(thread)["compacted"] == uwf.show(thread)["compacted"]
        check_replays(there, thread)
    copy = uwf.import_bundle(tmp_path / "bundle", as_new=True)["thread"]
    uwf.exec(thread)
    copy = uwf.import_bundle(tmp_path / "bundle", as_new=True)["thread"]
    assert copy != thread
    assert shown_steps(prompt_of_next(uwf, copy), 4) == [3, 4]
    check_replays(uwf, copy)


def test_why_and_usage_know_the_summary(compacting: Compacting, uwf: Client, thread: str) -> None:
    usage = {"inputTokens": 10, "outputTokens": 5, "costUsd": 0.5}
    compacting.summarize({"output": "They worked.", "usage": usage})
    uwf.exec(thread, count=2)
    uwf.compact(thread, agent="me")
    page = compacting.project.uwf("thread", "why", thread).stdout
    assert "had earlier steps summarized by" in page
    assert "They worked." in page
    rows = compacting.project.uwf("usage", thread, "--format", "json").document["rows"]
    assert {row["name"]: row["usage"]["costUsd"] for row in rows}["$COMPACT"] == 0.5


ACTIONS = st.lists(st.tuples(st.integers(1, 2), st.integers(0, 3)), min_size=1, max_size=3)


@settings(max_examples=8, deadline=None)
@given(actions=ACTIONS)
def test_prompts_have_the_newest_summary_and_every_later_step_and_replay_says_the_same(
    actions: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = Project(tmp_path_factory.mktemp("chain"))
    project.workflow("loop", LOOP)
    with Compacting(project).client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        compacted, text = 0, ""
        for count, back in actions:
            for _ in range(count):
                prompt = prompt_of_next(uwf, thread)
                before = len(rows(uwf, thread)) - 1
                assert shown_steps(prompt, before) == [*range(compacted + 1, before + 1)]
                assert (text in prompt) and ("SUMMARY" in prompt) == bool(text)
            number = max(1, len(rows(uwf, thread)) - back)
            if number > compacted:
                compacted, text = number, f"SUMMARY {number} "
                uwf.compact(thread, f"{text}.", up_to=rows(uwf, thread)[number - 1])
        check_replays(uwf, thread)
