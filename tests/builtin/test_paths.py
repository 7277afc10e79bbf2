"""No path leaves the workspace, whatever it is called and whatever links are about."""

import ctypes
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest
from builtin_kit import DONE, Desk, turn, use

from uwf_agent_builtin.protection import Protection, own_folders
from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.workspace import Workspace

SECRET = "the secret of another folder"
PROTECTED = "protected content"

LEAVING = [
    "..",
    "../",
    "../outside",
    "../outside/secret.txt",
    "./../outside/secret.txt",
    "sub/../../outside/secret.txt",
    "sub/./.././../outside/secret.txt",
    "sub//..//..//outside//secret.txt",
    "sub/deep/../../../outside/secret.txt",
    "../work/../outside/secret.txt",
    "../work/a.txt",
    "../../../../../../../../../../etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "/etc/../etc/passwd",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/../outside/secret.txt",
    "/dev/null",
    "/dev/stdin",
    "/",
    "//",
    "/.",
    "/..",
    "/tmp",
    "{outside}/secret.txt",
    "{outside}",
    "{work}/../outside/secret.txt",
    "{work}/sub/../../outside/secret.txt",
    "{work}//../outside/secret.txt",
    "{work}/./../outside",
    "{work}x/secret.txt",
    "{work}-other/secret.txt",
    "~",
    "~/",
    "~/.ssh/id_rsa",
    "~root/.bashrc",
    "~/../outside/secret.txt",
    "to_outside/secret.txt",
    "to_outside",
    "to_outside/",
    "to_outside/.",
    "to_outside/../work/a.txt",
    "to_secret",
    "to_secret/",
    "to_etc/passwd",
    "to_etc",
    "to_root/etc/passwd",
    "to_proc/self/environ",
    "to_parent/outside/secret.txt",
    "to_parent",
    "to_up_relative",
    "sub/to_up",
    "sub/to_up/secret.txt",
    "chain_1",
    "chain_1/secret.txt",
    "chain_2/secret.txt",
    "loop_a",
    "loop_a/x",
    "loop_self",
    "loop_self/a.txt",
    "to_sub/../../outside/secret.txt",
    "to_sub/to_up/secret.txt",
    "to_self_work/../outside/secret.txt",
    "absolute_inside/../../outside/secret.txt",
    "dangling",
    "dangling_inside/../../outside/secret.txt",
    "a.txt/../../outside/secret.txt",
    "missing/../../outside/secret.txt",
    "a\0.txt",
    "\0",
    "../outside/secret.txt\0.txt",
    "a.txt\0/../../outside/secret.txt",
    "x" * 300,
    "x/" * 3000 + "y",
    "../" * 50 + "etc/passwd",
    "\ud800",
    "..\\outside\\secret.txt",
    "..%2foutside%2fsecret.txt",
    "%2e%2e/outside/secret.txt",
    ".\u2024/outside/secret.txt",
    "\uff0e\uff0e/outside/secret.txt",
    "..;/outside/secret.txt",
    "...",
    "..../outside/secret.txt",
    "file:///etc/passwd",
    "file://{outside}/secret.txt",
    "\\\\?\\C:\\secret.txt",
    "C:\\secret.txt",
    "$HOME/.ssh/id_rsa",
    "${{HOME}}/.bashrc",
    "`pwd`/../outside/secret.txt",
    "$(cat ../outside/secret.txt)",
    "-",
    "--help",
    "|cat /etc/passwd",
    "; cat /etc/passwd",
    "pipe",
    "socket",
]

GUARDED = [
    ".env",
    "./.env",
    "sub/../.env",
    "{work}/.env",
    ".ENV",
    ".Env",
    ".env.",
    ".env ",
    ".e\u200bnv",
    ".env.local",
    ".env.production",
    "sub/.env",
    "to_env",
    "sub/to_env",
    ".env::$DATA",
    ".uwf",
    ".uwf/config.yaml",
    ".UWF/config.yaml",
    ".uwf/../.uwf/config.yaml",
    "sub/.uwf/config.yaml",
    "to_uwf/config.yaml",
    ".uwf./config.yaml",
    ".git/config",
    ".GIT/config",
    ".Git/Config",
    ".git/./config",
    ".git//config",
    ".git/../.git/config",
    ".g\u200cit/config",
    ".git /config",
    ".git./config",
    ".git::$INDEX_ALLOCATION/config",
    "\uff0egit/config",
    ".git/hooks/pre-commit",
    ".git/hooks",
    ".git/HOOKS/pre-commit",
    ".git/modules/x/config",
    ".git/modules/x/hooks/pre-commit",
    ".git/worktrees/w/config.worktree",
    ".git/config.lock",
    "sub/.git/config",
    "sub/.git/hooks/post-checkout",
    "to_git/config",
    "to_git/hooks/pre-commit",
    "to_hooks/pre-commit",
    "to_git_config",
    ".git-credentials",
    ".netrc",
    "sub/.pgpass",
]

GUARDED_WRITES = [
    ".git",
    ".git/HEAD",
    ".git/index",
    ".git/new",
    ".git/info/attributes",
    ".git/objects/aa/bb",
    "to_git/HEAD",
    "sub/.git",
    "newdir/.git",
    "newdir/.git/hooks/x",
    "newdir/.uwf/config.yaml",
    "newdir/.env",
    ".GIT/HEAD",
]


def laid_out(desk):
    """A workspace full of traps."""
    work, outside = desk.work, desk.outside
    (outside / "secret.txt").write_text(SECRET)
    Path(f"{work}x").mkdir()
    Path(f"{work}x", "secret.txt").write_text(SECRET)
    (work / "sub" / "deep").mkdir(parents=True)
    (work / "a.txt").write_text("inside")
    for folder in (work, work / "sub"):
        (folder / ".env").write_text(PROTECTED)
        (folder / ".pgpass").write_text(PROTECTED)
        (folder / ".uwf").mkdir()
        (folder / ".uwf" / "config.yaml").write_text(PROTECTED)
        (folder / ".git" / "hooks").mkdir(parents=True)
        (folder / ".git" / "config").write_text(PROTECTED)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / ".git" / "hooks" / "pre-commit").write_text(PROTECTED)
    (work / ".env.local").write_text(PROTECTED)
    (work / ".netrc").write_text(PROTECTED)
    (work / ".git-credentials").write_text(PROTECTED)
    (work / ".git" / "modules" / "x" / "hooks").mkdir(parents=True)
    (work / ".git" / "modules" / "x" / "config").write_text(PROTECTED)
    links = {
        "to_outside": outside,
        "to_secret": outside / "secret.txt",
        "to_etc": "/etc",
        "to_root": "/",
        "to_proc": "/proc",
        "to_parent": "..",
        "to_up_relative": "../outside/secret.txt",
        "sub/to_up": "../../outside",
        "chain_1": "chain_2",
        "chain_2": "sub/to_up",
        "loop_a": "loop_b",
        "loop_b": "loop_a",
        "loop_self": "loop_self",
        "to_sub": "sub",
        "to_self_work": ".",
        "absolute_inside": work / "sub",
        "dangling": outside / "new.txt",
        "dangling_inside": "nothing_here",
        "to_env": ".env",
        "sub/to_env": "../.env",
        "to_uwf": ".uwf",
        "to_git": ".git",
        "to_hooks": ".git/hooks",
        "to_git_config": work / ".git" / "config",
    }
    for name, target in links.items():
        (work / name).symlink_to(target)
    os.mkfifo(work / "pipe")
    return desk


@pytest.fixture
def full(desk):
    return laid_out(desk)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One that many tests share, since they change nothing, and say so if they do."""
    desk = laid_out(Desk(tmp_path_factory.mktemp("shared")))
    yield desk
    desk.close()


@pytest.fixture(scope="module")
def littered(tmp_path_factory):
    """One in which many tests write."""
    desk = laid_out(Desk(tmp_path_factory.mktemp("littered")))
    yield desk
    desk.close()


def listing(folder: Path) -> dict[str, str]:
    """Every file below with its text."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def said(desk, path: str) -> str:
    if len(path) > 200:
        return path
    return path.replace("{outside}", str(desk.outside)).replace("{work}", str(desk.work))


@pytest.mark.parametrize("path", LEAVING, ids=ascii)
def test_no_path_leads_out_of_the_workspace(shared, path):
    path = said(shared, path)
    before = listing(shared.outside), listing(shared.work)
    for name, more in (
        ("read_file", {}),
        ("list_files", {}),
        ("list_files", {"pattern": "**"}),
        ("edit_file", {"old": "secret", "new": "stolen"}),
    ):
        answered = shared.tool(name, path=path, **more)
        assert SECRET not in answered.text
        assert "root:" not in answered.text
        assert "secret.txt  " not in answered.text
    assert (listing(shared.outside), listing(shared.work)) == before


@pytest.mark.parametrize("path", ["..", "to_secret", "to_outside", "/etc", "sub/to_up"])
def test_grep_leads_out_no_more_than_glob_which_walks_alike(shared, path):
    assert shared.tool("grep", path=path, pattern=".").is_error


@pytest.mark.parametrize("path", LEAVING, ids=ascii)
def test_nothing_outside_of_the_workspace_is_written(littered, path):
    path = said(littered, path)
    before = listing(littered.outside)
    littered.tool("write_file", path=path, content="stolen")
    assert listing(littered.outside) == before
    assert not Path(f"{littered.work}-other").exists()
    assert Path(f"{littered.work}x", "secret.txt").read_text() == SECRET


@pytest.mark.parametrize("path", GUARDED, ids=ascii)
def test_what_is_protected_is_neither_read_nor_written(shared, path):
    path = said(shared, path)
    before = listing(shared.work)
    for name, more in (
        ("read_file", {}),
        ("list_files", {}),
        ("edit_file", {"old": "protected", "new": "changed"}),
        ("write_file", {"content": "changed"}),
    ):
        answered = shared.tool(name, path=path, **more)
        assert answered.is_error
        assert PROTECTED not in answered.text
    assert listing(shared.work) == before


@pytest.mark.parametrize("path", GUARDED_WRITES, ids=ascii)
def test_git_alone_writes_into_its_folder(shared, path):
    before = listing(shared.work), {each.name for each in shared.work.iterdir()}
    assert shared.tool("write_file", path=path, content="x").is_error
    assert (listing(shared.work), {each.name for each in shared.work.iterdir()}) == before


def test_searching_shows_nothing_that_is_protected(full):
    found = full.tool("grep", pattern="protected|secret|inside")
    assert found.text == "a.txt:1: inside"
    assert full.tool("list_files", pattern="**").text == "a.txt"


@pytest.mark.parametrize(
    "path",
    [
        "a.txt",
        "./a.txt",
        "sub/../a.txt",
        "{work}/a.txt",
        "to_sub/../a.txt",
        "absolute_inside/../a.txt",
        "to_self_work/a.txt",
        "to_self_work/to_self_work/a.txt",
        "sub/deep/../../a.txt",
        "a.txt/",
    ],
)
def test_paths_within_the_workspace_work(shared, path):
    assert shared.tool("read_file", path=said(shared, path)).text == "inside"


def test_a_link_within_is_written_through_to_its_target_and_stays_a_link(full):
    (full.work / "to_a").symlink_to("a.txt")
    assert not full.tool("write_file", path="to_a", content="new").is_error
    assert (full.work / "to_a").is_symlink()
    assert (full.work / "a.txt").read_text() == "new"


def test_a_dangling_link_within_makes_its_target(full):
    assert not full.tool("write_file", path="dangling_inside", content="new").is_error
    assert (full.work / "nothing_here").read_text() == "new"


def test_a_hard_link_of_another_folder_is_not_written_through(full):
    os.link(full.outside / "secret.txt", full.work / "hard")
    full.tool("write_file", path="hard", content="new")
    assert (full.outside / "secret.txt").read_text() == SECRET


def test_examples_of_env_files_are_no_secret(full):
    assert not full.tool("write_file", path=".env.example", content="A=").is_error


def test_a_pipe_does_not_hold_the_agent(full):
    answered = full.tool("read_file", path="pipe")
    assert answered.is_error and "regular" in answered.text


def test_deny_beats_allow(desk):
    (desk.work / "keep").mkdir()
    context = desk.context(deny=("keep/", "*.lock"), allow_write=("keep/**", "src/**"))
    assert not desk.tool("write_file", context, path="src/a.py", content="x").is_error
    for path in ("keep/a", "src/a.lock", "other.txt", "srcs/a.py"):
        assert desk.tool("write_file", context, path=path, content="x").is_error
    assert sorted(os.listdir(desk.work)) == ["keep", "src"]  # noqa: PTH208


def test_the_folder_of_uwf_is_protected_whatever_it_is_called(desk):
    home = desk.work / "Home of uwf"
    (home / "agents").mkdir(parents=True)
    (home / "store.db").write_text(PROTECTED)
    (desk.work / "to_home").symlink_to(home)
    (desk.work / "Home of uwf 2").mkdir()
    (desk.work / "Home of uwf 2" / "a").write_text("inside")
    protection = Protection(own=own_folders(str(desk.work), (str(home), str(desk.work.parent))))
    workspace = Workspace(str(desk.work), protection)
    context = replace(desk.context(), workspace=workspace)
    for path in ("Home of uwf/store.db", "to_home/store.db", "HOME OF UWF/store.db"):
        for name, more in (("read_file", {}), ("write_file", {"content": "x"}), ("list_files", {})):
            assert desk.tool(name, context, path=path, **more).is_error
    assert desk.tool("grep", context, pattern="content|inside").text == "Home of uwf 2/a:1: inside"
    assert desk.tool("list_files", context, pattern="**").text == "Home of uwf 2/a"
    workspace.close()


def test_an_agent_whose_home_lies_in_the_workspace_does_not_read_it(desk):
    desk.state = desk.work / "kept"
    answered = desk.run(turn(use("list_files", path="kept/sessions")), DONE)
    assert answered.text == DONE
    assert "the folder of uwf" in desk.sink.calls()[0].result


class Swap:
    """Swaps a folder or file for a link, in one step of the kernel, right before each of
    the `moments`, which are numbers of system calls; the second moment swaps it back.
    """

    SYSTEM_CALLS = ("open", "readlink", "fstat", "mkdir", "rename", "unlink")

    def __init__(self, place: Path, link: Path, moments: tuple[int, ...]) -> None:
        self._names = os.fsencode(place), os.fsencode(link)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._moments = moments
        self.calls = 0

    def patch(self, patched: pytest.MonkeyPatch) -> None:
        for name in self.SYSTEM_CALLS:
            patched.setattr(os, name, self._after_the_swap(getattr(os, name)))

    def swap(self) -> None:
        here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
        one, other = self._names
        assert self._libc.renameat2(here, one, here, other, exchange) == 0

    def _after_the_swap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def swap_and_call(*words: Any, **more: Any) -> Any:
            if self.calls in self._moments:
                self.swap()
            self.calls += 1
            return call(*words, **more)

        return swap_and_call


def read(workspace: Workspace) -> str:
    with workspace.open_file("folder/file.txt") as (descriptor, _):
        return os.read(descriptor, 100).decode()


def write(workspace: Workspace) -> str:
    return workspace.write_file("folder/file.txt", lambda _: b"inside")


@pytest.mark.parametrize(("act", "done"), [(read, "inside"), (write, "folder/file.txt")])
@pytest.mark.parametrize("swapped", ["folder", "folder/file.txt"])
@pytest.mark.parametrize("starts_as_link", [False, True])
def test_a_link_swapped_in_during_the_call_leads_nowhere(
    desk, monkeypatch, act, done, swapped, starts_as_link
):
    """Before any system call a folder or file becomes a link to the outside, and itself again
    before any later one (or the other way round).
    """
    for folder, text in ((desk.work, "inside"), (desk.outside, SECRET)):
        (folder / "folder").mkdir()
        (folder / "folder" / "file.txt").write_text(text)
    place, link = desk.work / swapped, desk.work / "link"
    link.symlink_to(desk.outside / swapped)
    workspace = Workspace(str(desk.work), Protection())
    if starts_as_link:
        Swap(place, link, ()).swap()
    outcomes = set()
    for moments in combinations_with_replacement(range(12), 2):
        swap = Swap(place, link, moments)
        with monkeypatch.context() as patched:
            swap.patch(patched)
            try:
                outcomes.add(act(workspace))
            except ToolError as error:
                outcomes.add(type(error))
        assert swap.calls < 12, "more system calls than moments tried"
        if sum(moment < swap.calls for moment in set(moments)) == 1:
            swap.swap()
    workspace.close()
    assert outcomes == {done, ToolError}
    assert listing(desk.outside) == {"folder/file.txt": SECRET}
