"""An alias with `anyOf`: the next agent plays where the service of one fails, and stays."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.core.engine.conftest import LOOP

from uwf_core.errors import ConfigError
from uwf_core.testing.project import Project


def failing(kind: str, **more: Any) -> dict[str, Any]:
    return {"fail": {"kind": kind, "message": "as scripted", **more}}


DOWN = failing("unavailable")
REJECTED = {"role": "reviewer", "outputs": [{"$status": "rejected", "comments": "Again."}]}
LIMITED = failing("rate_limited", untilMs=int(time.time()) * 1000 + 3_600_000)
DONE = {"$status": "done"}


def play(
    project: Project, name: str, *outputs: object, again: tuple[object, ...] = (DONE,)
) -> None:
    """What the agent `name` does as the developer, and `again` after the review, which rejects."""
    steps = [
        {"role": "developer", "outputs": list(outputs)},
        REJECTED,
        {"role": "developer", "outputs": list(again)},
    ]
    (project.folder / f"{name}.json").write_text(json.dumps({"steps": steps}))


def agents(root: Path, members: str = "[one, two, three]", more: str = "") -> str:
    lines = [f"  {each}: {{use: mock, options: {{script: {root / each}.json}}}}" for each in
             ("one", "two", "three")]  # fmt: skip
    return "\n".join(["agents:", *lines, f"  coder: {{anyOf: {members}}}", more])


@pytest.fixture(autouse=True)
def configured(project: Project) -> None:
    project.workflow("loop", LOOP)
    project.config(agents(project.folder))
    for name in ("one", "two", "three"):
        play(project, name, DONE, DONE)


@pytest.mark.parametrize("kind", ["unavailable", "auth"])
def test_the_next_agent_plays_at_once_where_the_service_of_one_fails(project: Project, kind: str):
    play(project, "one", failing(kind))
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        first, second = uwf.exec(thread, count=2).document["steps"][:2]
        assert (first["failure"]["kind"], second["failure"]) == (kind, None)


def test_a_single_step_stores_whose_turn_is_next(project: Project):
    play(project, "one", DOWN)
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        assert uwf.exec(thread).exit_code == 6
        assert uwf.show(thread)["status"] == "idle"
        assert uwf.inbox() == []
        assert uwf.exec(thread).exit_code == 0


def test_the_agent_stays_with_its_role_until_it_fails_and_the_first_one_follows_the_last(
    project: Project,
):
    play(project, "one", DOWN)
    play(project, "two", DONE, again=(DOWN,))
    play(project, "three", DONE, again=(DOWN,))
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", bindings={"developer": "coder"}, agent="one")[
            "thread"
        ]
        codes = [uwf.exec(thread).exit_code for _ in range(6)]
        # one fails; two delivers; the reviewer rejects; two fails; three fails; one delivers
        assert codes == [6, 0, 0, 6, 6, 0]


def test_the_thread_waits_for_a_person_once_all_of_them_failed_and_begins_with_the_first_again(
    project: Project,
):
    for name in ("one", "two", "three"):
        play(project, name, DOWN, DONE)
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        outcome = uwf.exec(thread, until_done=True)
        assert (outcome.exit_code, len(outcome.document["steps"])) == (6, 3)
        assert [each["thread"] for each in uwf.inbox()] == [thread]
        assert uwf.resume(thread, "Again.").exit_code == 0


def test_each_agent_has_all_attempts_of_the_policy(project: Project):
    project.config(agents(project.folder, "[one, two]", "retry: {maxAttempts: 2, interval: 0.01}"))
    play(project, "one", DOWN, DOWN, DOWN)
    play(project, "two", DOWN, DONE)
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        assert [uwf.exec(thread, now=True).exit_code for _ in range(4)] == [6, 6, 6, 0]


def test_a_limit_is_waited_for_if_it_ends_soon_else_the_next_agent_plays(project: Project):
    play(project, "one", LIMITED)
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        assert [uwf.exec(thread).exit_code for _ in range(2)] == [6, 0]
        soon = failing("rate_limited", untilMs=int(time.time() * 1000) + 1500)
        play(project, "one", soon, DONE)
        play(project, "two", failing("crashed"))
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        steps = uwf.exec(thread, count=2, wait_limits=60).document["steps"]
        assert [bool(each["failure"]) for each in steps][:2] == [True, False]


def test_an_agent_that_fails_otherwise_is_not_replaced(project: Project):
    play(project, "one", failing("crashed"))
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        assert uwf.exec(thread, until_done=True).document["suspendReason"] == "failure"


def test_agents_that_are_not_installed_are_left_out_with_a_notice(project: Project):
    project.config(agents(project.folder, "[no-such-agent, two]"))
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        assert uwf.exec(thread).exit_code == 0
        [row] = [each for each in uwf.agents() if each["name"] == "coder"]
        assert (row["use"], row["status"]) == ("two", "ready")
        assert "unknown agent 'no-such-agent'" in str(row["reason"])
    told = project.uwf("thread", "exec", uwf_thread(project)).stderr
    assert "left out: unknown agent 'no-such-agent'" in told


def uwf_thread(project: Project) -> str:
    return str(
        project.uwf("thread", "start", "loop", "-p", "x", "--agent", "coder").document["thread"]
    )


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ("[no-such-agent]", "no agent of the alias 'coder' can be used"),
        ("[coder]", "which has `anyOf` itself"),
    ],
)
def test_an_alias_of_which_none_can_be_used_is_an_error(
    project: Project, members: str, message: str
):
    project.config(agents(project.folder, members))
    with project.client() as uwf, pytest.raises(ConfigError, match=message):
        uwf.start("loop", "The task.", agent="coder")


def test_any_of_has_no_other_key_beside_it(project: Project):
    project.config("agents: {coder: {anyOf: [mock], use: mock}}")
    assert "anyOf cannot be combined" in project.uwf("agent", "list").stderr


def test_the_record_of_a_fallback_is_derived_again(project: Project):
    play(project, "one", DOWN)
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.", agent="coder")["thread"]
        uwf.exec(thread, count=2)
        failed = uwf.step(uwf.step(uwf.steps(thread)[1]["step"])["previousAttempts"][0])
        assert failed["failure"]["policy"]["fallback"] == ["two", "three"]
        assert uwf.verify(thread)["problems"] == []
