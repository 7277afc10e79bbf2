"""Public reports about git worktrees of agents, played with real git and real processes."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.core.branching import branch_threads
from tests.core.worktrees import finished, git, repository, worktree_project
from tests.reports.agents_in_worktrees import (
    MAKE,
    OPERATIONS,
    played,
    plays,
    prepared,
    worktree_of,
)
from tests.step_parts import session_of

UNMERGED = ("merge", "rebase", "cherry-pick", "revert", "am", "unmerged")


def suspended(project, workflow: str = "alone") -> str:
    """The message with which a thread stops."""
    with project.client() as uwf:
        thread = uwf.start(workflow, "The task.")["thread"]
        document = uwf.exec(thread, until_done=True).document
    assert document["status"] == "suspended", document
    return str(document["suspendMessage"])


@pytest.mark.parametrize("name", ["uwf", "uwf-packed"])
def test_a_branch_in_the_place_of_ours_is_named_with_the_cure(tmp_path, name):
    """notdp/worktree.sh #3, kortix-ai/suna #3316, jwbron/egg #2037 (kind: worktrees)."""
    project = worktree_project(tmp_path, "true")
    git(project.folder, "branch", "uwf")
    if name == "uwf-packed":
        git(project.folder, "pack-refs", "--all")
    message = suspended(project)
    assert f"git -C {project.folder} branch -m uwf NAME" in message
    git(project.folder, "branch", "-m", "uwf", "mine")
    with project.client() as uwf:
        finished(uwf)


def test_a_missing_filter_is_named(tmp_path):
    """PostHog/code #1729, microsoft/vscode #325591, gastownhall/gastown #1928 (kind: worktrees)."""
    project = worktree_project(tmp_path, "true")
    at = project.folder
    (at / ".gitattributes").write_text("*.bin filter=large\n")
    (at / "big.bin").write_text("version 1\n")
    git(at, "add", "-A")
    git(at, "commit", "-qm", "large")
    for what in ("process", "smudge", "clean"):
        git(at, "config", f"filter.large.{what}", f"filter-of-elsewhere {what}")
    git(at, "config", "filter.large.required", "true")
    assert "filter-of-elsewhere: not found" in suspended(project)


@pytest.mark.parametrize(
    "setting", ["diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.external=false"]
)
def test_a_printed_patch_applies_whatever_git_is_set_to(tmp_path, setting, monkeypatch):
    """Found while using uwf (kind: worktrees)."""
    line = "mkdir sub; echo draft > sub/draft.txt; printf '\\351\\r\\n' > sub/latin; git add -A"
    project = worktree_project(tmp_path, line)
    name, value = setting.split("=")
    git(project.folder, "config", name, value)
    with project.client() as uwf:
        thread = finished(uwf)
    patch = project.folder.parent / "work.patch"
    shown = project.uwf("thread", "diff", thread, "--format", "text")
    assert f"uwf thread diff {thread} -o work.patch" in shown.stderr
    assert "+++ b/sub/draft.txt" in shown.stdout
    done = project.uwf("thread", "diff", thread, "-o", str(patch))
    assert done.exit_code == 1, "there is a change"
    git(project.folder, "apply", "--whitespace=nowarn", str(patch))
    assert (project.folder / "sub" / "draft.txt").read_text() == "draft\n"
    assert Path(project.folder, "sub", "latin").read_bytes() == b"\xe9\r\n"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_unfinished_operation_is_never_done_and_never_committed(tmp_path, operation):
    """core-aix/agitrack #13, open-ace/open-ace #1970 (kind: worktrees)."""
    project, thread, document = played(tmp_path, OPERATIONS[operation], "true")
    assert document["status"] == "suspended"
    [step] = document["steps"]
    assert step["failure"]["kind"] == "invalid_output"
    what = "files are unmerged" if operation == "unmerged" else f"git {operation} is not finished"
    message = step["failure"]["message"]
    assert what in message and str(project.home / "worktrees" / thread) in message
    assert ("a.txt" in message) == (operation in UNMERGED)
    with project.client() as uwf:
        shown = uwf.step(step["step"])
        assert len(shown["corrections"]) == 2, "the agent was told twice before"
        assert what in shown["corrections"][0]["prompt"]
    for branch in git(project.folder, "for-each-ref", "--format=%(refname)").split():
        assert "<<<<<<<" not in git(project.folder, "show", f"{branch}:a.txt")


def test_an_agent_that_finishes_its_merge_after_the_correction_is_done(tmp_path):
    """core-aix/agitrack #13 (kind: worktrees)."""
    rest = "echo both > a.txt; git commit -qam both"
    project, thread, document = played(tmp_path, OPERATIONS["merge"], rest)
    assert document["status"] == "completed"
    assert git(project.folder, "show", f"uwf/{thread}:a.txt") == "both"


def test_a_person_may_be_asked_about_an_open_merge(tmp_path):
    """core-aix/agitrack #13 (kind: worktrees)."""
    _, _, document = played(tmp_path, OPERATIONS["merge"], status="asks")
    assert document["suspendReason"] == "role"
    assert "git merge is not finished" in document["steps"][0]["notices"][0]


NESTED = {
    "nested": f"mkdir lib && cd lib && {MAKE}",
    "deep": f"mkdir -p a/b && cd a/b && {MAKE}",
    "without a commit": "mkdir lib && cd lib && git init -q && echo fix > f",
    "as a link": f"mkdir lib; cd lib; {MAKE}; cd ..; git add lib; git commit -qm lib",
    "replaced": f"rm .git && {MAKE}",
    "another branch": "git commit -q --allow-empty -m work; git checkout -q --detach HEAD^",
    "no commit": "git checkout -q --orphan new && echo fix > f",
}


@pytest.mark.parametrize("how", NESTED)
def test_work_that_the_branch_does_not_get_fails_the_step(tmp_path, how):
    """gsd-build/gsd-2 #2616, #3044 (kind: worktrees)."""
    project, thread, document = played(tmp_path, NESTED[how], "true")
    assert document["status"] == "suspended"
    message = document["suspendMessage"]
    assert "the work is not finished after 2 corrections" in message
    own = project.home / "worktrees" / thread
    assert str(own) in message
    with project.client() as uwf:
        uwf.cancel(thread)
        [kept] = uwf.remove(thread)["worktrees"]
        if how == "another branch":
            assert "no other branch has all of its commits" in str(kept["reason"])
            return
        assert not kept["removed"] and own.is_dir()
        assert how == "no commit" or "a repository with" in str(kept["reason"])
    if how == "replaced":
        assert git(own, "show", "HEAD:f") == "fix"


@pytest.mark.parametrize("purge", [False, True])
def test_a_deleted_git_file_is_restored(tmp_path, purge):
    """gsd-build/gsd-2 #2616 (kind: worktrees)."""
    line = "echo fix > f; rm .git" + ("; rm -r ../../../project/.git/worktrees" if purge else "")
    project, thread, document = played(tmp_path, line)
    assert document["status"] == ("suspended" if purge else "completed")
    if not purge:
        assert "it is restored" in document["steps"][0]["notices"][0]
        assert git(project.home / "worktrees" / thread, "branch", "--show-current")
    assert (project.home / "worktrees" / thread / "f").exists()


@pytest.mark.parametrize("way", ["thread", "branch", "called"])
def test_work_in_the_stash_is_named_with_the_command_that_gets_it(tmp_path, way):
    """bobmatnyc/trusty-tools #4730, objectstack-ai/objectstack #5742, Extra-Chill/homeboy #14740
    (kind: worktrees).
    """
    line = "echo fix > fix.txt; git add -A; git stash -q"
    project = worktree_project(tmp_path, line, says="workspace: worktree")
    name = {"thread": "alone", "branch": "each", "called": "caller"}[way]
    ran = project.uwf("run", name, "-p", "Go.", "--format", "text")
    said = " ".join((ran.stdout + ran.stderr).split())
    assert "work was left in the stash" in said
    entry = git(project.folder, "rev-parse", "refs/stash")
    assert f"git stash apply {entry[:12]}" in said
    with project.client() as uwf:
        root = uwf.list()[0]["thread"]
        child = root
        if way == "branch":
            [child] = branch_threads(uwf, root)
        elif way == "called":
            child = session_of(uwf.step(uwf.steps(root)[1]["step"]))["id"]
        notices = uwf.step(uwf.steps(child)[-1]["step"])["notices"]
        assert "work was left in the stash" in notices[0]
        why = project.uwf("thread", "why", child, "--format", "text").stdout
        assert "work was left in the stash" in " ".join(why.split())
        kept = [each for each in uwf.remove(root)["worktrees"] if not each["removed"]]
    assert [each["reason"].partition(":")[0] for each in kept] == [
        "it has entries in the stash of your repository"
    ]


OUTSIDE = {
    "file": ("echo mine > ../../../project/b.txt", "b.txt"),
    "index": ("git -C ../../../project rm -q --cached a.txt", "a.txt"),
    "commit": ("git -C ../../../project commit -q --allow-empty -m x", "refs/heads/main"),
    "checkout": ("git -C ../../../project checkout -q -b other", "HEAD"),
    "reference": ("git tag v1", "refs/tags/v1"),
    "configuration": ("git config alias.x status", ".git/config"),
    "hook": ("echo x > ../../../project/.git/hooks/pre-push", ".git/hooks/pre-push"),
    "exclude": ("echo x > ../../../project/.git/info/exclude", ".git/info/exclude"),
    "untracked": ("echo mine > ../../../project/notes/todo.txt", "notes/todo.txt"),
    "ignored": ("echo mine > ../../../project/.env", ".env"),
    "not bare": ("git config core.bare true", ".git/config"),
    "your settings": ("echo >> $HOME/.gitconfig", "~/.gitconfig"),
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_what_an_agent_changes_outside_is_a_notice(tmp_path, what, monkeypatch):
    """anthropics/claude-code #95820 (kind: worktrees)."""
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    line, name = OUTSIDE[what]
    project = prepared(tmp_path)
    (project.folder / ".git" / "info" / "exclude").write_text(".env\n")
    (project.folder / ".env").write_text("KEY=1\n")
    (project.folder / "notes").mkdir()
    (project.folder / "notes" / "todo.txt").write_text("Buy milk.\n")
    _, document = plays(project, tmp_path, f"{line}")
    notice = document["steps"][0]["notices"][-1]
    assert "changed outside of the worktree" in notice and name in notice


def test_a_step_that_stays_in_its_worktree_has_no_notice(tmp_path):
    line = "echo 1 > b; git add b; git commit -qm b; git status; git gc -q; echo 2 > c"
    _, _, document = played(tmp_path, line)
    assert (document["status"], document["steps"][0]["notices"]) == ("completed", [])


def in_submodule(root: Path, *, extension: bool) -> Path:
    inner = repository(root / "inner")
    outer = repository(root / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    git(outer, "commit", "-qm", "lib")
    at = outer / "lib"
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(at, "config", name, value)
    git(at, "remote", "set-url", "origin", "https://ada:MARK-OF-A-TOKEN@example.org/in.git")
    if extension:
        git(at, "config", "extensions.worktreeConfig", "true")
    return at


@pytest.mark.parametrize("extension", [False, True])
def test_work_in_a_worktree_of_a_submodule_arrives(tmp_path, extension):
    """anthropics/claude-code #95820 (kind: worktrees)."""
    project = worktree_project(tmp_path, "echo fix > fix.txt; git add -A; git commit -qm fix")
    at = in_submodule(tmp_path, extension=extension)
    project.trust(at)
    config = at.parent / ".git" / "modules" / "lib" / "config"
    before = config.read_bytes(), git(at, "status", "--porcelain")
    with project.client() as uwf:
        thread = uwf.start("alone", "The task.", cwd=str(at))["thread"]
        document = uwf.exec(thread, until_done=True).document
        assert document["status"] == "completed"
        assert not any(each["notices"] for each in document["steps"])
    assert git(at, "ls-tree", "-r", "--name-only", f"uwf/{thread}").split() == ["a.txt", "fix.txt"]
    assert (config.read_bytes(), git(at, "status", "--porcelain")) == before
    assert (at / "a.txt").read_text() == "one\n"


def test_a_role_that_leads_git_elsewhere_does_not_mislead_the_next_one(tmp_path):
    """anthropics/claude-code #95820 (kind: worktrees)."""
    top = tmp_path / "project"
    lead = f"git config extensions.worktreeConfig true; git config core.worktree {top}"
    project, thread, document = played(tmp_path, f"{lead}; echo fix > fix.txt")
    assert document["status"] == "completed"
    assert ".git/config" in document["steps"][0]["notices"][0]
    own = project.home / "worktrees" / thread
    assert git(own, "rev-parse", "--show-toplevel") == str(own)
    assert git(own, "status", "--porcelain") == "?? fix.txt"


def test_no_agent_starts_where_git_takes_another_folder_for_the_worktree(tmp_path):
    """anthropics/claude-code #95820 (kind: worktrees)."""
    project = worktree_project(tmp_path, "echo never > never.txt")
    (tmp_path / "elsewhere").mkdir()
    git(project.folder, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert "core.worktree" in suspended(project)
    assert not [*tmp_path.rglob("never.txt")]


ONLY_COPIES = {
    "ignored": ("mkdir results; echo 42 > results/answer.txt", "ignored files: results/"),
    "excluded": (
        "echo '*.x' >> $(git rev-parse --git-common-dir)/info/exclude; echo 1 > a.x",
        "a.x",
    ),
    "ignored repository": (
        f"mkdir results; cd results; {MAKE}",
        "a repository with 1 commits: results",
    ),
}


@pytest.mark.parametrize("what", ONLY_COPIES)
@pytest.mark.parametrize("locked", [False, True])
def test_rm_keeps_what_exists_nowhere_else_and_its_command_works(tmp_path, what, locked):
    """Found while using uwf (kind: worktrees)."""
    line, named = ONLY_COPIES[what]
    project = worktree_project(tmp_path, line)
    (project.folder / ".gitignore").write_text("results/\n")
    git(project.folder, "add", "-A")
    git(project.folder, "commit", "-qm", "ignore")
    with project.client() as uwf:
        thread = finished(uwf)
        own = worktree_of(uwf, thread)
        if locked:
            git(project.folder, "worktree", "lock", str(own))
        [kept] = uwf.remove(thread)["worktrees"]
    assert named in str(kept["reason"]) and own.is_dir()
    subprocess.run(["sh", "-ec", str(kept["command"])], check=True, capture_output=True)
    assert not own.exists()


def test_rm_keeps_the_folder_of_a_worktree_that_git_has_forgotten(tmp_path):
    """gsd-build/gsd-2 #2616 (kind: worktrees)."""
    project = worktree_project(tmp_path, "echo fix > fix.txt")
    with project.client() as uwf:
        thread = finished(uwf)
        own = worktree_of(uwf, thread)
        shutil.rmtree(project.folder / ".git" / "worktrees")
        [kept] = uwf.remove(thread)["worktrees"]
    assert (own / "fix.txt").exists()
    assert kept["command"] == f"rm -r {own}"
