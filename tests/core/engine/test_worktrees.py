"""Threads and branches that work in separate git worktrees."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.core.branching import branch_threads, fan_out_of
from tests.core.calling import child_of, children
from tests.core.worktrees import finished, git, plan, worktree_project
from tests.step_parts import session_of

from uwf_core.client import Client
from uwf_core.errors import UsageError


def worktree(uwf: Client, thread: str) -> Any:
    found = uwf.show(thread)["worktree"]
    assert found is not None
    return found


def folder(uwf: Client, thread: str) -> Path:
    return Path(worktree(uwf, thread)["folder"])


def is_sound(uwf: Client) -> bool:
    found = uwf.verify()
    return bool(found["valid"])


def is_replayed(uwf: Client, thread: str) -> bool:
    found = uwf.replay(thread)
    assert found["verdict"] == "same", json.dumps(found, indent=1)
    return True


def test_a_thread_works_in_its_worktree_and_the_folder_of_the_user_stays(tmp_path):
    project = worktree_project(tmp_path, "echo two >> a.txt; echo new > b.txt; pwd")
    before = git(project.folder, "status", "--porcelain")
    with project.client() as uwf:
        thread = finished(uwf)
        own = folder(uwf, thread)
        assert own == project.home / "worktrees" / thread
        assert (own / "a.txt").read_text() == "one\ntwo\n"
        assert uwf.show(thread)["cwd"] == str(own)
        assert uwf.steps(thread)[-1]["step"]
        assert is_sound(uwf)
    assert (project.folder / "a.txt").read_text() == "one\n"
    assert git(project.folder, "status", "--porcelain") == before == ""
    assert git(own, "branch", "--show-current") == f"uwf/{thread}"
    assert git(own, "status", "--porcelain").split() == ["M", "a.txt", "??", "b.txt"]


def test_a_worktree_begins_with_what_the_folder_has_uncommitted(tmp_path):
    project = worktree_project(tmp_path, "cat a.txt new.txt; test ! -e gone.txt")
    at = project.folder
    (at / "gone.txt").write_text("x")
    (at / ".gitignore").write_text("*.log\n")
    git(at, "add", "-A")
    git(at, "commit", "-qm", "more")
    (at / "a.txt").write_text("changed\n")
    (at / "new.txt").write_text("new\n")
    (at / "x.log").write_text("ignored\n")
    (at / "gone.txt").unlink()
    with project.client() as uwf:
        thread = finished(uwf)
        last = uwf.step(uwf.steps(thread)[-1]["step"])
        assert last["output"] == {"$status": "done", "stdout": "changed\nnew\n"}
        own = worktree(uwf, thread)
        assert not Path(own["folder"], "x.log").exists()
    assert git(at, "rev-parse", f"{own['base']}^") == git(at, "rev-parse", "HEAD")
    assert git(at, "log", "-1", "--format=%an %s", own["base"]) == "Ada uwf: state of the folder"


def test_a_thread_of_a_clean_folder_begins_at_its_commit(tmp_path):
    project = worktree_project(tmp_path, "true")
    with project.client() as uwf:
        own = worktree(uwf, finished(uwf))
    assert own["base"] == git(project.folder, "rev-parse", "HEAD")


def test_a_thread_of_a_subfolder_works_in_the_same_subfolder(tmp_path):
    project = worktree_project(tmp_path, "pwd; cat in.txt")
    sub = project.folder / "sub dir"
    sub.mkdir()
    (sub / "in.txt").write_text("inside\n")
    with project.client() as uwf:
        thread = uwf.start("alone", "The task.", cwd=str(sub))["thread"]
        assert uwf.exec(thread, until_done=True).document["status"] == "completed"
        assert uwf.show(thread)["cwd"] == str(folder(uwf, thread) / "sub dir")
        said = uwf.step(uwf.steps(thread)[-1]["step"])["output"]["stdout"]
        assert said == f"{folder(uwf, thread)}/sub dir\ninside\n"


@pytest.mark.parametrize("kind", ["none", "unborn", "bare", "ignored"])
def test_without_a_commit_to_begin_at_no_agent_starts(tmp_path, kind):
    project = worktree_project(tmp_path, "true")
    other = tmp_path / "other"
    other.mkdir()
    if kind != "none":
        git(other, "init", "-q", *(["--bare"] if kind == "bare" else []))
    if kind == "ignored":
        (other / ".gitignore").write_text("out/\n")
        git(other, "add", "-A")
        git(other, "commit", "-qm", "first")
        other /= "out"
        other.mkdir()
    project.trust(other)
    with project.client() as uwf:
        thread = uwf.start("alone", "The task.", cwd=str(other))["thread"]
        outcome = uwf.exec(thread)
        assert (outcome.exit_code, outcome.document["status"]) == (1, "suspended")
        [step] = outcome.document["steps"]
        assert step["failure"]["kind"] == "routing"
        assert str(other) in step["failure"]["message"]
        assert [each["role"] for each in uwf.steps(thread)] == ["$START"]
        if kind == "unborn":  # the cause is gone: the same command goes on
            (other / "a").write_text("a")
            git(other, "add", "-A")
            git(other, "commit", "-qm", "first")
            assert uwf.exec(thread, until_done=True).document["status"] == "completed"


def test_another_folder_for_one_command_is_rejected(tmp_path):
    project = worktree_project(tmp_path, "true")
    with project.client() as uwf:
        thread = uwf.start("alone", "The task.")["thread"]
        for _ in range(2):
            with pytest.raises(UsageError, match="--cwd cannot replace"):
                uwf.exec(thread, cwd=str(tmp_path))
            uwf.exec(thread)


def test_a_worktree_that_was_deleted_is_reported_with_the_cure(tmp_path):
    project = worktree_project(tmp_path, "true")
    with project.client() as uwf:
        thread = uwf.start("alone", "The task.")["thread"]
        uwf.exec(thread)
        own = worktree(uwf, thread)
        git(project.folder, "worktree", "remove", own["folder"])
        [step] = uwf.exec(thread).document["steps"]
        message = step["failure"]["message"]
        assert "is missing" in message
        assert f"git worktree add {own['folder']} {own['branch']}" in message
        git(project.folder, "worktree", "add", "-q", own["folder"], own["branch"])
        assert uwf.exec(thread, until_done=True).document["status"] == "completed"
        # … and a fork begins anew
        git(project.folder, "worktree", "remove", own["folder"])
        fork = uwf.fork(uwf.steps(thread)[1]["step"])["thread"]
        assert uwf.exec(fork, until_done=True).document["status"] == "completed"
        assert folder(uwf, fork) != Path(own["folder"])


@pytest.mark.parametrize(
    "how", [{"workspace": "workspace: worktree"}, {"says": "workspace: worktree"}]
)
def test_branches_work_apart_and_a_role_merges_them(tmp_path, how):
    project = worktree_project(tmp_path, "echo b > b.txt", "echo c > c.txt; git add c.txt", **how)
    (project.folder / "mine.txt").write_text("mine")
    if not how.get("workspace"):  # the branches begin with it, so git has to know it to merge
        git(project.folder, "add", "-A")
        git(project.folder, "commit", "-qm", "mine")
    with project.client() as uwf:
        root = finished(uwf, "each")
        children = branch_threads(uwf, root)
        bases = {worktree(uwf, each)["base"] for each in children}
        results = fan_out_of(uwf, root)["output"]["results"]
        assert len(bases) == 1
        assert [each["$gitBranch"] for each in results] == [f"uwf/{each}" for each in children]
        assert [each["$folder"] for each in results] == [str(folder(uwf, e)) for e in children]
        at = folder(uwf, root) if how.get("workspace") else project.folder
        assert sorted(each.name for each in at.glob("*.txt")) == [
            *("a.txt", "b.txt", "c.txt", "mine.txt")
        ]
        assert is_sound(uwf)
        assert is_replayed(uwf, root)
    assert (project.folder / "b.txt").exists() is not bool(how.get("workspace"))


def test_branches_of_an_edge_that_shares_work_in_the_folder_of_the_caller(tmp_path):
    project = worktree_project(
        tmp_path, "echo b > b.txt", workspace="workspace: worktree", says="shared: true"
    )
    with project.client() as uwf:
        root = uwf.start("each", "The task.")["thread"]
        uwf.exec(root)
        uwf.exec(root)
        [child] = branch_threads(uwf, root)
        assert uwf.show(child)["worktree"] is None
        assert (folder(uwf, root) / "b.txt").exists()
        assert "$folder" not in fan_out_of(uwf, root)["output"]["results"][0]


def test_a_called_workflow_works_apart_and_its_caller_merges(tmp_path):
    project = worktree_project(tmp_path, "echo b > b.txt")
    with project.client() as uwf:
        root = finished(uwf, "caller")
        call = uwf.step(uwf.steps(root)[1]["step"])
        assert call["output"] == {"$status": "done", "stdout": ""}
        child = call["session"]["id"]
        assert call["attempt"]["cwd"] == str(folder(uwf, child))
        assert (project.folder / "b.txt").read_text() == "b\n"
        assert is_replayed(uwf, root)
        assert is_sound(uwf)


def test_a_thread_that_is_called_again_keeps_its_worktree(tmp_path):
    """The caller and the thread change the same line, so git cannot merge; then they agree."""
    project = worktree_project(tmp_path, "echo theirs > a.txt")
    with project.client() as uwf:
        root = uwf.start("caller", "The task.")["thread"]
        for _ in range(2):
            uwf.exec(root)
        (project.folder / "a.txt").write_text("mine\n")
        git(project.folder, "commit", "-qam", "mine")
        uwf.exec(root)
        [call] = [each for each in uwf.steps(root) if each["role"] == "work"]
        git(project.folder, "merge", "--abort")
        plan(project, "git merge -q -X ours --no-edit main")
        assert uwf.exec(root, until_done=True).document["status"] == "completed"
        calls = [each for each in uwf.steps(root) if each["role"] == "work"]
        assert len(calls) == 2
        assert {session_of(uwf.step(each["step"]))["id"] for each in calls} == {
            session_of(uwf.step(call["step"]))["id"]
        }
    assert (project.folder / "a.txt").read_text() == "theirs\n"


def test_what_a_thread_has_changed_is_shown(tmp_path):
    line = "echo two >> a.txt; echo new > 'b c.txt'; git add .; git commit -qm x; printf '\\0' > d"
    project = worktree_project(tmp_path, line, "git rm -q a.txt")
    with project.client() as uwf:
        thread = finished(uwf)
        own = uwf.show(thread)["worktree"]
        assert own == {
            "folder": str(folder(uwf, thread)),
            "branch": f"uwf/{thread}",
            "base": git(project.folder, "rev-parse", "HEAD"),
        }
        other = uwf.start("caller", "The task.")["thread"]
    shown = project.uwf("thread", "show", thread, "--format", "text").stdout
    assert f"worktree  {own['folder']}\n" in shown
    assert f"branch uwf/{thread}, from commit {own['base']}" in shown
    found = project.uwf("thread", "diff", thread, "--format", "json")
    assert found.exit_code == 1
    assert found.document["files"] == [
        {"path": "a.txt", "status": "M", "added": 1, "deleted": 0},
        {"path": "b c.txt", "status": "A", "added": 1, "deleted": 0},
        {"path": "d", "status": "A", "added": None, "deleted": None},
    ]
    before = git(Path(own["folder"]), "count-objects"), git(Path(own["folder"]), "status")
    text = project.uwf("thread", "diff", thread, "--format", "text").stdout
    assert " 3 files changed, 2 insertions(+)\n" in text
    assert "\n+two\n" in text and "\n+++ b/b c.txt" in text
    assert before == (
        git(Path(own["folder"]), "count-objects"),
        git(Path(own["folder"]), "status"),
    )
    none = project.uwf("thread", "diff", other)
    assert (none.exit_code, "has no git worktree" in none.error["message"]) == (2, True)


@pytest.mark.parametrize("left", ["nothing", "changes", "commits"])
def test_rm_removes_a_worktree_only_if_nothing_is_lost(tmp_path, left):
    lines = {"nothing": "true", "changes": "echo b > b.txt"}
    lines["commits"] = "echo b > b.txt; git add b.txt; git commit -qm b"
    project = worktree_project(tmp_path, lines[left])
    with project.client() as uwf:
        thread = finished(uwf)
        own = folder(uwf, thread)
        [found] = uwf.remove(thread)["worktrees"]
    is_kept = left == "changes"
    assert (own.exists(), found["removed"]) == (is_kept, not is_kept)
    branch = git(project.folder, "branch", "--list", "uwf/*")
    assert (bool(branch), found["branchRemoved"]) == (left != "nothing", left == "nothing")
    if left != "nothing":
        words = ["sh", "-ec", found["command"]]
        subprocess.run(words, check=True, capture_output=True)
        assert not own.exists()
        assert git(project.folder, "branch", "--list", "uwf/*") == ""
    assert git(project.folder, "worktree", "list").count("\n") == 0


def test_rm_of_a_caller_says_which_worktrees_below_it_stay(tmp_path):
    project = worktree_project(
        tmp_path, "echo b > b.txt", "echo c > c.txt", says="workspace: worktree"
    )
    with project.client() as uwf:
        root = finished(uwf, "each")
        children = branch_threads(uwf, root)
        (folder(uwf, children[1]) / "later.txt").write_text("x")
    done = project.uwf("thread", "rm", root, "--format", "text").stdout
    assert f"worktree {project.home}/worktrees/{children[1]} kept: it has uncommitted" in done
    assert f"uwf/{children[0]}" not in done
    assert git(project.folder, "branch", "--list", "uwf/*").split() == ["+", f"uwf/{children[1]}"]


def test_cancel_leaves_the_worktree(tmp_path):
    project = worktree_project(tmp_path, "true")
    with project.client() as uwf:
        thread = uwf.start("alone", "The task.")["thread"]
        uwf.exec(thread)
        uwf.cancel(thread)
        assert folder(uwf, thread).is_dir()


@pytest.mark.parametrize("is_tidied", [False, True])
def test_what_follows_a_cancelled_call_begins_with_the_folder_of_the_caller(tmp_path, is_tidied):
    """tree.md 2.9: the next call creates a new thread, whatever the cancelled one has left."""
    project = worktree_project(tmp_path, "true")
    with project.client() as uwf:
        root = uwf.start("caller", "The task.")["thread"]
        uwf.exec(root)
        first = child_of(uwf, root)
        (folder(uwf, first) / "rubbish.txt").write_text("half done")
        uwf.cancel(first)
        assert uwf.exec(root).exit_code != 0
        (project.folder / "fix.txt").write_text("right")
        if is_tidied:
            git(project.folder, "worktree", "remove", "--force", str(folder(uwf, first)))
        assert uwf.exec(root).exit_code == 0
        [second] = set(children(uwf, root)) - {first}
        names = {each.name for each in folder(uwf, second).iterdir()}
        assert {"a.txt", "fix.txt"} <= names
        assert "rubbish.txt" not in names
        assert is_sound(uwf)


def test_an_imported_thread_says_that_its_worktree_is_elsewhere(tmp_path):
    project = worktree_project(tmp_path, "true")
    other = worktree_project(tmp_path / "other", "true")
    with project.client() as uwf, other.client() as there:
        thread = uwf.start("alone", "The task.")["thread"]
        uwf.exec(thread)
        uwf.export_thread(thread, str(tmp_path / "bundle"))
        shutil.rmtree(folder(uwf, thread))
        there.import_bundle(str(tmp_path / "bundle"))
        there.start("alone", "The task.")  # allows its programs
        assert is_sound(there)
        assert is_replayed(there, thread)
        [step] = there.exec(thread).document["steps"]
        assert "is missing" in step["failure"]["message"]
        assert there.show(thread)["worktree"]["branch"] == f"uwf/{thread}"


def test_why_and_read_know_the_worktree(tmp_path):
    project = worktree_project(tmp_path, "echo b > b.txt")
    with project.client() as uwf:
        root = finished(uwf, "caller")
        child = session_of(uwf.step(uwf.steps(root)[1]["step"]))["id"]
    why = project.uwf("thread", "why", child, "--format", "text").stdout
    assert f"git worktree {project.home}/worktrees/{child}" in " ".join(why.split())
    for words in (("thread", "read"), ("thread", "why"), ("thread", "diff", root)):
        assert project.uwf(*words, child if "diff" in words else root).exit_code in (0, 1)
    assert project.uwf("cas", "gc").exit_code == 0
    assert project.uwf("cas", "verify").exit_code == 0
