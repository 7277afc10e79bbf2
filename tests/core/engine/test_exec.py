"""exec: one step, the next role, the end; what is stored and what is told."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.core.engine.conftest import APPROVED, DONE, LOOP, REJECTED, UNSURE
from tests.core.running import running

from uwf_core.client import Client, Outcome
from uwf_core.errors import BusyError, UsageError, WrongStateError
from uwf_core.testing.project import Project


def test_one_exec_runs_one_step_and_says_where_it_leads(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, APPROVED])
    outcome = uwf.exec(thread)
    assert outcome.exit_code == 0
    assert outcome.document["status"] == "idle"
    assert [step["role"] for step in outcome.document["steps"]] == ["developer"]
    assert outcome.document["steps"][0]["currentRole"] == "reviewer"
    assert not outcome.document["done"]


def test_the_step_that_leads_to_the_end_completes_the_thread_in_the_same_call(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, APPROVED])
    uwf.exec(thread)
    outcome = uwf.exec(thread)
    assert (outcome.document["status"], outcome.document["done"]) == ("completed", True)
    assert outcome.document["steps"][0]["done"] is True
    assert uwf.show(thread)["currentRole"] is None


def test_a_completed_thread_starts_no_agent_and_exits_0(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, APPROVED])
    uwf.exec(thread, until_done=True)
    project.script([])  # any call of the agent would fail now
    outcome = uwf.exec(thread)
    assert (outcome.exit_code, outcome.document["steps"]) == (0, [])
    assert outcome.document["status"] == "completed"


def test_a_thread_suspended_by_a_role_starts_no_agent_and_exits_3(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, UNSURE])
    first = uwf.exec(thread, until_done=True)
    assert (first.exit_code, first.document["status"]) == (3, "suspended")
    step = first.document["steps"][-1]
    assert (step["suspendedRole"], step["suspendReason"]) == ("reviewer", "role")
    assert step["suspendMessage"] == "Please decide: red or blue?"
    project.script([])
    again = uwf.exec(thread)
    assert (again.exit_code, again.document["steps"]) == (3, [])


def test_a_cancelled_thread_cannot_be_executed(uwf: Client, thread: str) -> None:
    uwf.cancel(thread)
    with pytest.raises(WrongStateError, match="cancelled"):
        uwf.exec(thread)


def test_prompts_are_rendered_without_html_escaping(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, REJECTED, DONE])
    uwf.exec(thread, count=3)
    last = uwf.steps(thread)[-1]["step"]
    assert uwf.step(last)["attempt"]["edgePrompt"] == "Fix: a < b & c"


def test_a_location_is_the_folder_of_that_step_alone(
    project: Project, uwf: Client, thread: str
) -> None:
    (project.folder / "tree").mkdir()
    done = {"role": "developer", "output": {"$status": "done", "worktree": "tree"}}
    project.script([done, REJECTED, DONE, APPROVED])
    uwf.exec(thread, until_done=True)
    folders = [uwf.step(row["step"])["attempt"]["cwd"] for row in uwf.steps(thread)[1:]]
    root = str(project.folder)
    assert folders == [root, str(project.folder / "tree"), root, root]


def test_a_location_that_does_not_exist_is_an_error_before_the_agent_starts(
    project: Project, uwf: Client, thread: str
) -> None:
    done = {"role": "developer", "output": {"$status": "done", "worktree": "nowhere"}}
    project.script([done, APPROVED])
    outcome = uwf.exec(thread, until_done=True)
    failure = outcome.document["steps"][-1]["failure"]
    assert failure is not None and failure["kind"] == "routing"
    assert "nowhere" in failure["message"]
    assert (outcome.exit_code, outcome.document["steps"][-1]["step"]) == (1, None)
    (project.folder / "nowhere").mkdir()
    assert uwf.exec(thread).document["status"] == "completed"


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


def located(project: Project, thread: str, location: str) -> Outcome:
    """What comes of a role that names this working folder for the next one."""
    done = {"role": "developer", "output": {"$status": "done", "worktree": location}}
    project.script([done, APPROVED])
    with project.client() as uwf:
        return uwf.exec(thread, until_done=True)


def folder_of_last(uwf: Client, thread: str) -> str:
    return str(uwf.step(uwf.steps(thread)[-1]["step"])["attempt"]["cwd"])


@pytest.mark.parametrize(
    "location", ["{outside}", "../outside", "link", "link/below", "/", ".git/hooks"]
)
def test_an_agent_cannot_send_the_next_one_into_any_folder(
    project: Project, uwf: Client, thread: str, location: str
) -> None:
    outside = project.folder.parent / "outside"
    (outside / "below").mkdir(parents=True)
    (project.folder / "link").symlink_to(outside)
    git(project.folder, "init", "--quiet")
    outcome = located(project, thread, location.format(outside=outside))
    failure = outcome.document["steps"][-1]["failure"]
    assert failure is not None and failure["kind"] == "routing"
    assert (outcome.exit_code, outcome.document["status"]) == (1, "suspended")
    assert [row["role"] for row in uwf.steps(thread)[1:]] == ["developer"], "its step is kept"


def test_a_worktree_of_the_threads_repository_is_a_location(
    project: Project, uwf: Client, thread: str
) -> None:
    git(project.folder, "init", "--quiet")
    git(project.folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    tree = project.folder.parent / "trees" / "feature"
    git(project.folder, "worktree", "add", "--quiet", str(tree))
    assert located(project, thread, str(tree)).document["status"] == "completed"
    assert folder_of_last(uwf, thread) == str(tree)


def test_a_folder_that_only_claims_to_be_a_worktree_is_no_location(
    project: Project, uwf: Client, thread: str
) -> None:
    git(project.folder, "init", "--quiet")
    forged = project.folder.parent / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {project.folder}/.git\n")
    assert located(project, thread, str(forged)).exit_code == 1


def test_the_user_allows_further_folders(project: Project, uwf: Client, thread: str) -> None:
    outside = project.folder.parent / "outside"
    (outside / "below").mkdir(parents=True)
    assert located(project, thread, "../outside/below").exit_code == 1
    project.config(f"allowedFolders: [{outside}]\n")
    with project.client() as again:
        assert again.exec(thread).document["status"] == "completed"
    assert folder_of_last(uwf, thread) == str(outside / "below")


def test_a_second_writer_is_told_who_holds_the_thread(
    project: Project, uwf: Client, thread: str
) -> None:
    with running(project, thread, DONE), pytest.raises(BusyError, match=r"process \d+"):
        uwf.exec(thread)


def test_a_watcher_never_makes_an_exec_fail(project: Project, uwf: Client, thread: str) -> None:
    project.script([DONE])
    with project.client() as watcher:
        for _ in range(20):
            assert watcher.show(thread)["status"] == "idle"
        assert uwf.exec(thread).exit_code == 0


def test_threads_in_flight_keep_the_version_they_were_started_with(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, UNSURE])
    project.workflow("loop", LOOP.replace("unsure: {role: $SUSPEND", "unsure: {role: $END"))
    newer = uwf.start("loop", "again")["thread"]
    assert uwf.exec(newer, until_done=True).document["status"] == "completed"
    assert uwf.exec(thread, until_done=True).document["status"] == "suspended"


def test_until_done_stops_after_100_steps_and_the_thread_stays_idle(
    project: Project, uwf: Client, thread: str
) -> None:
    said = ({**REJECTED["output"], "comments": str(number)} for number in range(60))
    project.script([each for output in said for each in (DONE, {**REJECTED, "output": output})])
    outcome = uwf.exec(thread, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (5, "idle")
    assert len(outcome.document["steps"]) == 100


def test_events_come_in_their_order(project: Project, thread: str) -> None:
    project.script([{**DONE, "turns": ["Reading", "Writing"]}, APPROVED])
    seen: list[str] = []
    told: Callable[[object], None] = lambda event: seen.append(type(event).__name__)  # noqa: E731
    with project.client(on_event=told) as uwf:
        uwf.exec(thread, until_done=True)
    assert [name for name in seen if name != "TurnTaken"] == [
        "ThreadStarted",
        "StepStarted",
        "StepFinished",
        "StepStarted",
        "StepFinished",
        "ThreadEnded",
    ]
    assert seen.count("TurnTaken") >= 2


def test_every_byte_that_led_to_a_step_is_kept(project: Project, uwf: Client, thread: str) -> None:
    turns = [{"text": "Reading", "toolCalls": [{"id": "1", "name": "read", "arguments": "{NaN}"}]}]
    project.script([{**DONE, "body": "I did it.", "turns": turns}])
    uwf.exec(thread)
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert step["body"] == "I did it."
    assert step["turns"][0]["toolCalls"][0]["arguments"] == "{NaN}"
    assert "The task." in uwf.prompt(step["step"])
    assert step["attempt"]["edgePrompt"] == "Write it."


def test_the_store_and_its_folder_are_private(project: Project, uwf: Client, thread: str) -> None:
    assert project.home.stat().st_mode & 0o777 == 0o700
    for file in project.home.rglob("*"):
        if file.is_file():
            assert file.stat().st_mode & 0o077 == 0, file


def test_a_start_in_a_folder_that_does_not_exist_changes_nothing(
    project: Project, uwf: Client, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match="does not exist"):
        uwf.start("loop", "x", cwd=tmp_path / "nowhere")
    assert uwf.list() == []


@pytest.mark.parametrize("how", ["exec", "resume", "poke"])
def test_a_thread_whose_folder_is_gone_continues_in_the_folder_of_a_call(
    project: Project, uwf: Client, thread: str, tmp_path: Path, how: str
) -> None:
    """As after an import on another machine; a role's folder below the old one moves along."""
    old, new = project.folder, tmp_path / "elsewhere"
    (old / "sub").mkdir()
    (new / "sub").mkdir(parents=True)
    answer = {"$status": "done", "worktree": str(old / "sub")}
    second = REJECTED if how != "resume" else UNSURE
    project.script([{"role": "developer", "output": answer}, second, DONE])
    done = uwf.exec(thread, count=1 if how == "exec" else 2).document["steps"]
    old.rename(tmp_path / "gone")
    outcome = {
        "exec": lambda: uwf.exec(thread, cwd=str(new)),
        "resume": lambda: uwf.resume(thread, "go", cwd=str(new)),
        "poke": lambda: uwf.poke(thread, "again", cwd=str(new)),
    }[how]()
    (end,) = outcome.document["steps"]
    assert end["step"], end
    assert uwf.step(end["step"])["attempt"]["cwd"] == str(new / "sub")
    assert uwf.step(done[0]["step"])["attempt"]["cwd"] == str(old)


def test_a_folder_of_a_call_bounds_where_a_step_may_work(
    project: Project, uwf: Client, thread: str, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    answer = {"$status": "done", "worktree": str(tmp_path / "outside")}
    project.script([{"role": "developer", "output": answer}, APPROVED])
    (tmp_path / "elsewhere").mkdir()
    uwf.exec(thread, cwd=str(tmp_path / "elsewhere"))
    failed = uwf.exec(thread, cwd=str(tmp_path / "elsewhere")).document["steps"][0]["failure"]
    assert failed["kind"] == "routing"


def test_a_relative_location_is_relative_to_the_folder_of_a_call(
    project: Project, thread: str, tmp_path: Path
) -> None:
    """A folder whose name begins like that of the thread is another one."""
    project.config(f"allowedFolders: [{tmp_path}]\n")
    new, like = tmp_path / "new" / "here", Path(f"{project.folder}er")
    for folder in (new, like, tmp_path / "new" / "tree"):
        folder.mkdir(parents=True)
    answers = {"../tree": tmp_path / "new" / "tree", str(like): like}
    with project.client() as uwf:
        for answer, folder in answers.items():
            output = {"$status": "done", "worktree": answer}
            project.script([{"role": "developer", "output": output}, REJECTED], by_role=True)
            [_, step] = uwf.exec(thread, count=2, cwd=str(new)).document["steps"]
            assert step["failure"] is None, step
            assert Path(uwf.step(step["step"])["attempt"]["cwd"]).resolve() == folder


def test_a_folder_of_a_call_that_does_not_exist_changes_nothing(uwf: Client, thread: str) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        uwf.exec(thread, cwd="nowhere")
    assert uwf.show(thread)["steps"] == 0
