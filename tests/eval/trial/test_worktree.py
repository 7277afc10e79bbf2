"""A trial whose thread works in a git worktree is judged by what is there."""

from typing import Any

import pytest

SETUP = [
    "echo right > key",
    "git init -q -b main",
    "git add -A",
    "git -c user.name=U -c user.email=u@example.org commit -q -m begin",
]
DRAFT = """echo draft > draft.txt; rm -f key; echo '{"output": {"$status": "done"}}'\n"""


@pytest.fixture
def apart(table: Any) -> Any:
    """A task whose writer works in a worktree."""
    flow = (table.folder / "flow.yaml").read_text()
    table.write("flow.yaml", flow.replace("name: flow", "name: flow\nworkspace: worktree"))
    table.agent(DRAFT)
    return table


def judged(table: Any, command: str, **changes: Any) -> Any:
    judges = [{"name": "own", "builtin": "command", "options": {"run": command}}]
    return table.trial(judges=judges, setup=SETUP, **changes)


def test_judges_look_at_the_files_of_the_worktree(apart: Any) -> None:
    trial = judged(apart, "grep draft draft.txt && ! test -e key")
    assert (trial.state, trial.score) == ("scored", 1.0), trial
    assert list((apart.root / "home" / "worktrees").iterdir()) == []


def test_a_judge_can_use_git_without_a_way_back_to_the_trial(apart: Any) -> None:
    check = (
        "git branch --show-current | grep ^uwf/ && git status --porcelain | grep draft.txt "
        "&& test -d .git && ! grep -rq uwf-trial .git"
    )
    trial = judged(apart, check)
    assert (trial.state, trial.score) == ("scored", 1.0), trial


def test_a_protected_file_is_protected_in_the_worktree(apart: Any) -> None:
    trial = judged(apart, "true", protect=["key"])
    assert (trial.state, trial.tampered) == ("tampered", ("key was removed",)), trial
