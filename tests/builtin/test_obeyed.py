"""What other programs run or obey because it is there: read, and not written."""

import os

import pytest
from builtin_kit import DONE, turn, use

from uwf_agent_builtin.protection import OBEYED


@pytest.mark.parametrize("name", [*OBEYED, *map(str.upper, OBEYED)])
@pytest.mark.parametrize(
    "where", ["{}", "{}/new.json", "sub/{}/new", "a/../{}/x", "{}./x", "{}::$D/x"]
)
def test_what_other_programs_obey_is_written_by_nobody(desk, name, where):
    (desk.work / "a").mkdir()
    answered = desk.tool("write_file", path=where.format(name), content="run this")
    assert answered.is_error and "allowProtected" in answered.text
    assert os.listdir(desk.work) == ["a"]  # noqa: PTH208


@pytest.mark.parametrize(
    "path",
    [
        ".workflows.md",
        "claude",
        ".github/CODEOWNERS",
        "x/workflows/a",
        ".vscode-notes/a",
        ".env.example",
    ],
)
def test_what_only_looks_alike_is_written(desk, path):
    assert not desk.tool("write_file", path=path, content="x").is_error


def editing(desk, path, **more):
    """Whether the agent, called as it is by uwf, writes a file."""
    change = use("write_file", path=path, content="new")
    desk.sink.turns.clear()
    desk.run(turn(change), DONE, **more)
    (call,) = desk.sink.calls()
    return not call.is_error


def test_a_role_that_the_user_names_may_write_what_others_obey(desk):
    options = {"allow_protected": ("author",)}
    assert not editing(desk, ".workflow/a.yaml", options=options)
    assert "not to be written" in desk.sink.notes()[0]
    assert editing(desk, ".workflow/a.yaml", options=options, role="author")
    assert "also to be written" in desk.sink.notes()[0]
    for path in (
        ".git/config",
        "sub/.git/hooks/x",
        ".uwf/config.yaml",
        ".uwf/plugins/agents/x.py",
        ".env",
    ):
        assert not editing(desk, path, options=options, role="author")


def test_what_others_obey_may_be_read(desk):
    (desk.work / ".claude").mkdir()
    (desk.work / ".claude" / "settings.json").write_text("inside")
    desk.run(turn(use("read_file", path=".claude/settings.json")), DONE)
    assert desk.sink.calls()[0].result == "inside"


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        (".claude", "config", "config/settings.json"),
        (".github", "config", "config/workflows/push.yaml"),
        (".envrc", "environment", "environment"),
        (".claude", ".", "settings.json"),
        ("to_claude", ".claude", "to_claude/settings.json"),
    ],
)
def test_no_link_is_a_way_around(desk, link, target, path):
    for folder in ("config", ".claude"):
        if folder != link:
            (desk.work / folder).mkdir()
    (desk.work / link).symlink_to(target)
    assert not editing(desk, path)


@pytest.mark.parametrize(
    "folder", [".claude", "pkg/.vscode", ".github/workflows", ".git/x", ".uwf"]
)
def test_a_workspace_that_is_itself_obeyed_is_not_written(desk, folder):
    (desk.work / ".git").mkdir()
    (desk.work / folder).mkdir(parents=True)
    assert not editing(desk, "settings.json", cwd=str(desk.work / folder))


def test_a_worktree_in_a_folder_of_such_a_name_is_a_workspace_as_any_other(desk):
    tree = desk.work / ".claude" / "worktrees" / "one"
    tree.mkdir(parents=True)
    (tree / ".git").write_text("gitdir: elsewhere")
    assert editing(desk, "a.py", cwd=str(tree))
    assert not editing(desk, ".claude/a", cwd=str(tree))
