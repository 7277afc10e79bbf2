"""An attempt that does not become a step leaves what is known of it, and nothing else."""

from typing import Any

import pytest
from tests.core.engine.conftest import APPROVED, DONE

from uwf_core.client import Client
from uwf_core.engine import progress
from uwf_core.engine.engine import Engine
from uwf_core.engine.open_engine import open_engine
from uwf_core.errors import UsageError
from uwf_core.testing.project import Project

TURNS = {**DONE, "turns": ["Reading", "Writing"]}


@pytest.fixture
def engine(project: Project) -> Engine:
    return open_engine(env=project.env, cwd=str(project.folder))


@pytest.fixture(autouse=True)
def _store_each_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FLUSH_SECONDS", 0.0)


def names(engine: Engine, area: str) -> list[str]:
    return [variable.name for variable in engine.store.variables(f"@uwf/{area}/")]


def test_an_attempt_that_a_usage_error_ends_leaves_no_turns_behind(
    project: Project, uwf: Client, engine: Engine, thread: str
) -> None:
    """A callback of the client's user can raise one while the agent works."""
    project.script([TURNS, APPROVED])
    before = uwf.show(thread)
    while_running: list[str] = []

    def refuse(event: object) -> None:
        if type(event).__name__ == "TurnTaken":
            while_running.extend(names(engine, "turn"))
            raise UsageError("not like this")

    with project.client(on_event=refuse) as refusing, pytest.raises(UsageError, match="not like"):
        refusing.exec(thread)
    assert while_running, "a turn must be stored when the error comes"
    assert (names(engine, "turn"), names(engine, "attempt")) == ([], [])
    assert {**uwf.show(thread), "updatedAtMs": 0} == {**before, "updatedAtMs": 0}
    assert uwf.exec(thread).exit_code == 0


FAILS = {"fail": {"kind": "rate_limited", "message": "slow down"}}


@pytest.mark.parametrize("end", [FAILS, {"output": "no frontmatter"}], ids=["fails", "is invalid"])
def test_a_failed_attempt_keeps_its_turns_in_its_step_alone(
    project: Project, uwf: Client, engine: Engine, thread: str, end: dict[str, Any]
) -> None:
    project.script([{"role": "developer", "turns": ["Reading", "Writing"], **end}], repeat=True)
    step = uwf.exec(thread).document["steps"][0]["step"]
    assert step is not None
    assert [turn["text"] for turn in uwf.step(step)["turns"]][:2] == ["Reading", "Writing"]
    assert names(engine, "turn") == []
