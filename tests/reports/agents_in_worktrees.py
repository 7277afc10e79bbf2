"""Agents in worktrees: a program that runs lines of shell, in a project with a workflow for it."""

from pathlib import Path

from tests.core.worktrees import git, worktree_project

from uwf_core.client import Client

AGENT = """\
version: 1
name: agent
workspace: worktree
roles:
  worker:
    goal: Do it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}}, required: [$status]}
        - {properties: {$status: {const: asks}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Go.}
    resume: {role: worker, prompt: Go on.}
  worker:
    done: {role: $END, prompt: Done.}
    asks: {role: $SUSPEND, prompt: What now?}
"""
MAKE = (
    "git init -q && echo fix > f && git add -A && git -c user.name=A -c user.email=a commit -qm x"
)
TWO_SIDES = (
    "git checkout -q -b side && echo side > a.txt && git commit -qam side && git checkout -q - && "
    "echo own > a.txt && git commit -qam own"
)
OPERATIONS = {
    "merge": f"{TWO_SIDES}; git merge side",
    "rebase": f"{TWO_SIDES}; git rebase side",
    "cherry-pick": f"{TWO_SIDES}; git cherry-pick side",
    "revert": "for n in 1 2; do echo $n > a.txt; git commit -qam $n; done; git revert HEAD^",
    "am": f"{TWO_SIDES}; git format-patch -1 side --stdout > .p; git am -3 .p; rm .p",
    "bisect": "git commit -q --allow-empty -m x; git bisect start; git bisect bad HEAD",
    "unmerged": "echo s > a.txt; git stash -q; echo o > a.txt; git commit -qam o; git stash pop",
}


def agent(folder: Path, *lines: str, status: str = "done") -> str:
    """A program as an agent that runs a line of shell for each call; the last one repeats."""
    for number, line in enumerate(lines):
        (folder / f"line-{number}").write_text(f"{line}\n")
    program = folder / "agent"
    program.write_text(
        f"""#!/bin/sh
n=$(cat '{folder}/calls' 2>/dev/null || echo 0); echo $((n + 1)) > '{folder}/calls'
test -e '{folder}'/line-$n || n={len(lines) - 1}
sh '{folder}'/line-$n >> '{folder}/out' 2>&1
echo '{{"output": {{"$status": "{status}"}}}}'
"""
    )
    program.chmod(0o755)
    return str(program)


def played(root: Path, *lines: str, status: str = "done"):
    """A project, the thread in which an agent ran these lines, and the document of the run."""
    project = prepared(root)
    return (project, *plays(project, root, *lines, status=status))


def prepared(root: Path):
    """A project with the workflow `agent`."""
    project = worktree_project(root, "true")
    project.workflow("agent", AGENT)
    git(project.folder, "add", "-A")
    git(project.folder, "commit", "-qm", "workflow")
    return project


def plays(project, root: Path, *lines: str, status: str = "done"):
    """The thread in which an agent ran these lines, and the document of the run."""
    with project.client() as uwf:
        thread = uwf.start("agent", "Go.", agent=agent(root, *lines, status=status))["thread"]
        return thread, uwf.exec(thread, until_done=True).document


def worktree_of(uwf: Client, thread: str) -> Path:
    return Path(str(uwf.show(thread)["worktree"]["folder"]))
