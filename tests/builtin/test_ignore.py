"""What a walk leaves out is what git ignores; git itself is the judge."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from uwf_agent_builtin.protection import Protection
from uwf_agent_builtin.tools.ignore import Rules
from uwf_agent_builtin.tools.walk import files_below
from uwf_agent_builtin.workspace import Workspace

FOLDERS = ("", "a/", "b/", "a/b/", "a/a/", "b/a/b/", "ab/")
NAMES = ("x", "x.c", "b c", "!x", "#x", "x ", "[", "]", "x[", "a-c", "-", "a*", "x\\", "1")
PLAIN = (*"abx1.-] !#", "\\", "/", "//", "ab", "a.c", "\\*", "\\#", "\\!", "\\[", "\\ ")
STARS = ("*", "?", "**", "**/", "/**", "***", "*.c")
SETS = (
    *("[ax]", "[!a]", "[^x]", "[a-c]", "[c-a]", "[a-]", "[a-c-x]", "[\\]]", "[[]"),
    *("[]x]", "[]-a]", "[!]", "[]", "[^]]", "[a", "["),
    *("[[:alpha:]]", "[[:digit:]-x]", "[![:punct:]]", "[[:nope:]]"),
)
PIECES = st.sampled_from(PLAIN) | st.sampled_from(STARS) | st.sampled_from(SETS)
RULE = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "", "!"]),
    st.lists(PIECES, min_size=1, max_size=4).map("".join),
    st.sampled_from(["", "", "/"]),
)
RULES = st.lists(RULE, max_size=3).map("\n".join)
ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", root], env=ENVIRONMENT, check=True)
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            (root / folder / name).touch()
    return root


def not_ignored_by_git(root: Path) -> set[str]:
    command = ["git", "-C", root, "ls-files", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True)
    return {path for path in done.stdout.decode().split("\0") if path}


def walked(root: Path) -> set[str]:
    workspace = Workspace(str(root), Protection())
    try:
        return {entry.path for entry in files_below(workspace, ".")}
    finally:
        workspace.close()


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@example(above="?//", below="", own="")
@example(above="[[:alpha:]]x", below="", own="")
@example(above="a**x\nb/**/x", below="", own="")
@example(above="", below="", own="a\na**/b")
@example(above="!a\n/a**\n!a/b**/x", below="", own="")
@example(above="x\\", below="x[\n!a/", own="")
@example(above="\ufeffx.c", below="", own="")
@example(above="a/*\n!a/*.c", below="!x", own="x")
@given(above=RULES, below=RULES, own=RULES)
def test_a_walk_finds_the_files_that_git_does_not_ignore(
    repository: Path, above: str, below: str, own: str
) -> None:
    (repository / ".gitignore").write_text(above)
    (repository / "a" / ".gitignore").write_text(below)
    (repository / ".git" / "info" / "exclude").write_text(own)
    assert walked(repository) == not_ignored_by_git(repository)


@pytest.mark.parametrize("pattern", ["*a" * 20 + "*b", "**/a/" * 20 + "b"])
def test_no_pattern_takes_more_than_a_moment(pattern: str) -> None:
    """Seven stars took minutes: a stranger's repository could stop the agent."""
    rules = Rules([pattern])
    assert rules.verdict("a" * 200, folder=False) is None
    assert rules.verdict("a/" * 60 + "c", folder=False) is None
    assert rules.verdict("a/" * 60 + "b", folder=False) is (True if "/" in pattern else None)
