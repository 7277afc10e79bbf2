"""Folders in which a role leaves what stops git, hides what happened, or forges what is printed.

Source: uwf attacked on purpose; kinds `recorded files` and `names from outside`.
"""

import os
import signal
import time
from pathlib import Path

import pytest
from tests.core.worktrees import finished, git, worktree_project

from uwf_core.testing.project import CommandOutcome, Project

RECORDED = """
version: 1
name: recorded
record: true
roles:
  writer:
    program: {argv: [sh, ./work.sh], statuses: {0: done}}
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: writer, prompt: W}, resume: {role: writer, prompt: W}}
  writer: {done: {role: $END, prompt: E}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.workflow("recorded", RECORDED)
    return made


def ran(project: Project, work: str) -> CommandOutcome:
    """A run of the workflow, whose role does `work`, as a person sees it."""
    (project.folder / "work.sh").write_text(work)
    trusted = project.uwf("workflow", "add", ".workflow/recorded.yaml", "--allow-programs")
    assert trusted.exit_code == 0, trusted.stderr
    return project.uwf("run", "recorded", "-p", "go", "--format", "text", seconds=60)


@pytest.mark.parametrize(
    "work",
    [
        "mkfifo .gitignore",
        "mkdir -p a/b; mkfifo a/b/.gitattributes",
        "mkfifo pipe; ln -s pipe .gitmodules",
        "ln -s /dev/zero .mailmap",
        "truncate -s 1T .gitignore",
        "git init -q .; rm -f .git/info/exclude; mkfifo .git/info/exclude",
        "git init -q .; rm .git/HEAD; mkfifo .git/HEAD",
        "git init -q inner; rm inner/.git/config; mkfifo inner/.git/config",
    ],
)
def test_the_step_is_recorded_whatever_git_would_have_waited_for(project, work):
    done = ran(project, f"{work}; echo work > work.txt")
    assert done.exit_code == 0, done.stderr
    assert "completed" in done.stdout
    again = ran(project, "true")
    assert again.exit_code == 0, again.stderr


@pytest.mark.parametrize(
    ("work", "name"),
    [
        ("touch .GIT", ".GIT"),
        ("mkdir -p a/.Git; touch a/.Git/x", "a/.Git"),
        ('python3 -c \'open(".g\\u200cit", "w")\'', ".g"),
        ("mkfifo pipe", "pipe"),
        ("python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'", "s (a socket)"),
    ],
)
def test_one_name_that_cannot_be_recorded_is_listed_and_the_rest_is_recorded(project, work, name):
    done = ran(project, f"{work}; echo work > work.txt")
    assert f"some files are not recorded: {name}" in done.stderr
    shown = project.uwf("step", "diff", "@last", "--stat", "--format", "text").stdout
    assert "work.txt" in shown
    assert f"not recorded: {name}" in shown
    assert name in project.uwf("step", "show", "@last", "--format", "text").stdout
    exported = project.uwf("thread", "export", "@last", "-o", "t.tar", "--with-files")
    assert exported.exit_code == 0, exported.stderr
    assert name in exported.document["notRecorded"][0]


@pytest.mark.parametrize(
    "letter", ["\n", "\t", "\r", "\x0b", "\x85", "\u2028", "\u202e", "\x1b[2K"]
)
def test_a_name_cannot_forge_a_line_of_what_is_printed(project, letter):
    name = f"a (1 byte){letter}deleted  tests.py (12 kB)"
    (project.folder / "make.py").write_text(f"open({name!r}, 'w').write('x')")
    done = ran(project, "python3 make.py")
    assert done.exit_code == 0, done.stderr
    for words in (["step", "diff", "@last", "--stat"], ["step", "show", "@last"]):
        shown = project.uwf(*words, "--format", "text").stdout
        assert letter == "\n" or letter not in shown
        assert not any(line.startswith("deleted") for line in shown.splitlines())


HANGS = (
    '#!/bin/sh\ncase "$*" in *ls-files*) echo > {flag}; exec sleep 600;; esac\nexec {git} "$@"\n'
)


@pytest.fixture
def hanging(project, tmp_path) -> Path:
    """The file that is there once a git hangs: from then on, all that list files do."""
    import shutil

    program, flag = tmp_path / "bin" / "git", tmp_path / "hangs"
    program.parent.mkdir()
    program.write_text(HANGS.format(flag=flag, git=shutil.which("git")))
    program.chmod(0o755)
    project.env["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    return flag


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, "stop", "twice"])
def test_a_git_that_hangs_holds_neither_exec_nor_its_thread(project, hanging, end):
    (project.folder / "work.sh").write_text("true")
    project.uwf("workflow", "add", ".workflow/recorded.yaml", "--allow-programs")
    thread = project.uwf("thread", "start", "recorded", "-p", "go").document["thread"]
    running = project.start_uwf("thread", "exec", thread)
    until = time.monotonic() + 60
    while not hanging.exists() and time.monotonic() < until:
        time.sleep(0.02)
    begin = time.monotonic()
    if end == "stop":
        project.uwf("thread", "stop", thread)
    else:
        running.send_signal(signal.SIGTERM if end == "twice" else end)
        if end == "twice":
            time.sleep(0.2)
            running.send_signal(signal.SIGTERM)
    running.communicate(timeout=20)
    assert time.monotonic() - begin < (1.5 if end == "twice" else 4 if end == "stop" else 3)
    (hanging.parent / "bin" / "git").unlink()
    again = project.uwf("thread", "exec", thread, "--until-done")
    assert again.exit_code == 0, again.stderr
    assert again.document["status"] == "completed"


def test_a_name_that_git_refuses_costs_a_worktree_nothing_else(tmp_path):
    """Names that Windows takes for `.git` are refused by the git of every system."""
    project = worktree_project(
        tmp_path, "touch .GIT 'git~1' '.git '; echo new > b.txt", workspace=""
    )
    with project.client() as uwf:
        thread = finished(uwf)
    changed = project.uwf("thread", "diff", thread, "--format", "text")
    assert "b.txt" in changed.stdout, changed.stderr
    assert git(project.folder, "branch", "--list", f"uwf/{thread}")
