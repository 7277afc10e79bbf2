"""`uwf demo`: a real workflow doing real work, on a machine where nothing is set up; played by the
builtin agent where it is installed, and by a script where the core is alone.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from tests.step_parts import session_of

from uwf_core.client import Cancel, Client
from uwf_core.demo.play import play
from uwf_core.testing.project import CommandOutcome, Project

TEMPLATE = Path(sys.modules["uwf_core.demo.play"].__file__ or "").parent / "templates" / "shop"


CORE_ALONE = {"UWF_BLOCK_PLUGINS": "builtin"}


def cpu_seconds_of_children() -> float:
    """What a busy machine keeps waiting costs nothing."""
    times = os.times()
    return times.children_user + times.children_system


class Played:
    """One demo in a process of its own, on a machine with an empty HOME."""

    def __init__(self, root: Path, *words: str, env: Mapping[str, str] = CORE_ALONE) -> None:
        self.user = Project(root)
        self.user.env |= env
        (root / "tmp").mkdir()
        (root / "user").mkdir()
        self.user.env["TMPDIR"] = str(root / "tmp")
        self.root = root
        before = cpu_seconds_of_children()
        self.outcome: CommandOutcome = self.user.uwf("demo", *words)
        self.seconds = cpu_seconds_of_children() - before

    @property
    def document(self) -> Any:
        return self.outcome.document

    def uwf(self, *words: str) -> CommandOutcome:
        """`uwf` on the demo's own home."""
        return self.user.uwf(*words, env={"UWF_HOME": self.document["home"]})

    @cached_property
    def steps(self) -> list[Any]:
        """All steps, as `uwf step show` has them."""
        env = {**self.user.env, "UWF_HOME": self.document["home"]}
        with Client.open(env=env, cwd=self.user.folder) as client:
            return [client.step(each["step"]) for each in self.document["steps"]]


@pytest.fixture(scope="module", params=["core alone", "builtin"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    env = CORE_ALONE if request.param == "core alone" else {}
    return Played(tmp_path_factory.mktemp("demo"), env=env)


def is_builtin(played: Played) -> bool:
    return "UWF_BLOCK_PLUGINS" not in played.user.env


def unittest_in(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "unittest"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_demo_ends_completed_in_less_than_thirty_seconds(played: Played):
    assert played.outcome.exit_code == 0, played.outcome.stderr
    assert (played.document["status"], played.document["done"]) == ("completed", True)
    assert played.seconds < 30


def test_the_tests_really_turn_from_red_to_green(played: Played, tmp_path: Path):
    before = unittest_in(shutil.copytree(TEMPLATE, tmp_path / "before"))
    assert "FAILED (failures=1)" in before.stderr
    after = unittest_in(Path(played.document["project"]))
    assert (after.returncode, "Ran 4 tests" in after.stderr) == (0, True)
    assert played.document["testsBefore"] == {"green": False, "ran": 3, "failed": 1}
    assert played.document["testsAfter"] == {"green": True, "ran": 4, "failed": 0}


def test_the_files_really_change(played: Played):
    project = Path(played.document["project"])
    for name in ("invoice.py", "test_invoice.py"):
        assert (project / name).read_text() != (TEMPLATE / name).read_text()
    assert not list(project.rglob("__pycache__"))


def test_the_reviewer_rejects_once_and_the_developer_answers_it(played: Played):
    steps = played.steps
    assert [(each["role"], each["output"]["$status"]) for each in steps] == [
        ("planner", "planned"),
        ("developer", "done"),
        ("tester", "passed"),
        ("reviewer", "rejected"),
        ("developer", "done"),
        ("tester", "passed"),
        ("reviewer", "approved"),
        ("verifier", "solved"),
    ]
    rejection = steps[3]["output"]["comments"]
    assert "vat(150) gives 28" in rejection
    assert rejection in played.document["text"]
    assert steps[4]["attempt"]["edgePrompt"].endswith(rejection)


def test_the_developer_tester_and_reviewer_work_in_a_called_thread(played: Played):
    """The terminal shows the call, its result is a step of the thread, and the tester a program."""
    root = played.document["thread"]
    [called] = {each["thread"] for each in played.steps} - {root}
    told = played.outcome.stderr
    assert f"#2 development: calls develop, thread {called}" in told
    assert "develop runs for tester: python3 -B -m unittest" in told
    listed = played.uwf("step", "list", root).document["steps"][1:]
    assert [(each["role"], each["status"]) for each in listed] == [
        ("planner", "planned"),
        ("development", "approved"),
        ("verifier", "solved"),
    ]
    tested = played.steps[5]
    assert (tested["role"], tested["agent"]) == ("tester", "program")
    assert "Ran 4 tests" in str(tested["turns"])
    for heading in ("# solve-issue: thread", "# develop: thread", "## Step 3: reviewer, rejected"):
        assert heading in played.document["text"]


def test_each_role_is_one_session_and_shares_it_with_nobody(played: Played):
    sessions: dict[str, set[str]] = {}
    for each in played.steps:
        if each["agent"] != "program":
            sessions.setdefault(each["role"], set()).add(session_of(each)["id"])
    assert {role: len(found) for role, found in sessions.items()} == dict.fromkeys(sessions, 1)
    assert len(set.union(*sessions.values())) == 4
    assert [session_of(each)["continuation"] for each in played.steps].count("continued") == 2


def test_the_demo_says_plainly_who_plays_the_roles(played: Played):
    told = played.document["playedBy"]
    assert f"all roles but the tester are played by {told}" in played.outcome.stderr
    if is_builtin(played):
        assert told.startswith("the builtin agent with its real tools; its model is a script")
    else:
        assert told.startswith("a script that ships with uwf; no model, no key")
        text = Path(played.document["agent"]).read_text()
        assert text.startswith('"""The agent of `uwf demo`: a sc')


def test_the_builtin_agent_works_with_its_own_tools(played: Played):
    turns = played.uwf("step", "turns", "@last", "--format", "text").stdout
    assert ("files: confined to" in turns) == is_builtin(played)


def test_the_demo_touches_nothing_of_the_users(played: Played):
    """Neither HOME nor the user's UWF_HOME, nor the folder it is called in."""
    assert list((played.root / "user").iterdir()) == []
    assert not played.user.home.exists()
    assert list(played.user.folder.iterdir()) == []
    assert [each.name for each in (played.root / "tmp").iterdir()] == [
        Path(played.document["folder"]).name
    ]
    assert Path(played.document["store"]).is_relative_to(played.document["folder"])


def test_the_commands_to_go_on_with_can_be_pasted_as_they_are(played: Played, tmp_path: Path):
    """In any folder, into any shell, with none of our environment."""
    env = {"PATH": os.defpath, "HOME": str(tmp_path)}
    printed = []
    for each in played.document["next"]:
        done = subprocess.run(
            ["sh", "-c", each["command"]], cwd=tmp_path, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert len(printed) == 4
    assert '"role": "development"' in printed[0]
    assert '"role": "tester"' in printed[1]
    assert "Find out whether the change is right" in printed[2]
    assert '"continuation": "original"' in printed[3]
    assert "vat(150)" in printed[3]


def test_a_second_demo_shows_the_thread_as_text_and_takes_no_folder_that_is_used(tmp_path: Path):
    words = ("--format", "text", "--dir", "trial")
    second = Played(tmp_path, *words)
    assert second.outcome.exit_code == 0
    folder = second.user.folder / "trial"
    assert list((tmp_path / "tmp").iterdir()) == []
    told = second.outcome.stdout
    assert "## Step 3: reviewer, rejected" in told
    assert "before: red (1 of 3 fail)" in told
    assert "after: green (4 pass)" in told
    assert str(folder / "home" / "store.db") in told
    assert told.count(f"UWF_HOME={folder / 'home'} ") == 4
    threads = second.user.uwf("thread", "list", "--all", env={"UWF_HOME": str(folder / "home")})
    assert len(threads.document["threads"]) == 1

    again = second.user.uwf("demo", *words)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "not empty" in again.stderr


class Meddler:
    """Follows a demo, and does something when a role's event of a kind comes."""

    def __init__(self, event: str, role: str, act: Any) -> None:
        self._wanted = (event, role)
        self._act = act

    def event(self, event: object) -> None:
        if (type(event).__name__, getattr(event, "role", None)) == self._wanted:
            self._act()

    def notice(self, text: str) -> None:
        pass


def played_with(watch: Meddler, folder: Path, cancel: Cancel) -> Any:
    env = {"PATH": os.environ["PATH"], **CORE_ALONE}
    return play(env, str(folder / "demo"), watch, cancel)


def test_the_demo_fails_if_the_tests_are_red_in_the_end_whatever_the_agents_say(tmp_path: Path):
    code = tmp_path / "demo" / "project" / "invoice.py"
    spoil = Meddler("StepFinished", "verifier", lambda: code.write_text("broken\n"))
    outcome = played_with(spoil, tmp_path, Cancel())
    assert outcome.document["done"]
    assert not outcome.document["testsAfter"]["green"]
    assert outcome.exit_code == 1


def test_an_interrupted_demo_says_so_and_can_be_gone_on_with(tmp_path: Path):
    cancel = Cancel()
    stop = Meddler("StepFinished", "reviewer", lambda: cancel.set("enough"))
    outcome = played_with(stop, tmp_path, cancel)
    assert outcome.exit_code == 130
    onward = outcome.document["next"][0]["command"]
    command = ["sh", "-c", f"{onward} --format json"]
    rest = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (rest.returncode, '"status": "completed"' in rest.stdout) == (0, True), rest.stderr
