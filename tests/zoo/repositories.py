"""A zoo of git repositories: each maker builds one in a new folder, and returns the folder in which
a user would start uwf. Everything lies in the folder above that.

Other tests may use it for whatever meets repositories of users: worktrees, recorded files, forks.
"""

import os
import socket
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tests.core.worktrees import git, repository

TEXT = "".join(f"line {number}\n" for number in range(30))


class Animal(NamedTuple):
    """A repository of the zoo.

    Attributes:
        make: builds it. env: what the user's environment has besides.
        rejected: no worktree can begin there, and this is in the message.
        hidden: the beginnings of the paths that no commit of it can have, or has otherwise.
    """

    make: Callable[[Path], Path]
    env: Mapping[str, str] = MappingProxyType({})
    rejected: str | None = None
    hidden: tuple[str, ...] = ()


def may_fail(folder: Path, *words: str) -> None:
    """Run git where it stops in the middle."""
    subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)


def two_sides(at: Path) -> Path:
    """A repository whose branches `main` and `other` change the same line."""
    repository(at)
    git(at, "switch", "-qc", "other")
    (at / "a.txt").write_text("other\n")
    git(at, "commit", "-qam", "other")
    git(at, "switch", "-q", "main")
    (at / "a.txt").write_text("mine\n")
    git(at, "commit", "-qam", "mine")
    return at


def plain(at: Path) -> Path:
    """One commit."""
    return repository(at)


def subfolder(at: Path) -> Path:
    """The user works in a folder of it."""
    return repository(at, **{"sub dir/b.txt": "b\n"}) / "sub dir"


def in_merge(at: Path) -> Path:
    """In the middle of a merge with a conflict."""
    may_fail(two_sides(at), "merge", "other")
    return at


def in_rebase(at: Path) -> Path:
    """In the middle of a rebase with a conflict."""
    may_fail(two_sides(at), "rebase", "other")
    return at


def in_cherry_pick(at: Path) -> Path:
    """In the middle of a cherry-pick with a conflict."""
    may_fail(two_sides(at), "cherry-pick", "other")
    return at


def in_stash_pop(at: Path) -> Path:
    """After a `stash pop` with a conflict."""
    two_sides(at)
    (at / "a.txt").write_text("stashed\n")
    git(at, "stash", "-q")
    (at / "a.txt").write_text("later\n")
    git(at, "commit", "-qam", "later")
    may_fail(at, "stash", "pop")
    return at


def in_bisect(at: Path) -> Path:
    """While a bisect is under way."""
    two_sides(at)
    for number in range(4):
        git(at, "commit", "-q", "--allow-empty", "-m", f"{number}")
    git(at, "bisect", "start")
    git(at, "bisect", "bad", "HEAD")
    git(at, "bisect", "good", "HEAD~4")
    return at


def staged(at: Path) -> Path:
    """Some changes are staged, and changed again."""
    repository(at, **{"b.txt": "b\n"})
    (at / "b.txt").write_text("staged\n")
    git(at, "add", "b.txt")
    (at / "b.txt").write_text("later\n")
    git(at, "rm", "-q", "--cached", "a.txt")
    return at


def crlf(at: Path) -> Path:
    """Line ends differ between the files and what git stores."""
    repository(at, **{".gitattributes": "*.bat text eol=crlf\n*.txt text=auto\n"})
    git(at, "config", "core.autocrlf", "true")
    git(at, "config", "core.safecrlf", "true")
    (at / "run.bat").write_bytes(b"one\r\ntwo\r\n")
    (at / "mixed.txt").write_bytes(b"one\r\ntwo\n")
    return at


def filtered(at: Path) -> Path:
    """A filter encodes a file for git, as that of large files does."""
    repository(at, **{".gitattributes": "*.secret filter=rot\n"})
    git(at, "config", "filter.rot.clean", "tr a-z n-za-m")
    git(at, "config", "filter.rot.smudge", "tr a-z n-za-m")
    git(at, "config", "filter.rot.required", "true")
    (at / "x.secret").write_text("hello\n")
    return at


def filter_missing(at: Path) -> Path:
    """The program of a filter that must run is not installed."""
    repository(at, **{".gitattributes": "*.bin filter=large\n", "big.bin": "version 1\n"})
    for what in ("process", "smudge", "clean"):
        git(at, "config", f"filter.large.{what}", f"filter-of-elsewhere {what}")
    git(at, "config", "filter.large.required", "true")
    return at


def sparse(at: Path) -> Path:
    """Only some folders are checked out; a new file is outside of them."""
    repository(at, **{"in/b.txt": "b\n", "out/c.txt": "c\n"})
    git(at, "sparse-checkout", "set", "--cone", "in")
    (at / "out").mkdir(exist_ok=True)
    (at / "out" / "new.txt").write_text("new\n")
    return at


def linked(at: Path) -> Path:
    """The folder is a worktree of another repository."""
    main = repository(at.parent / "main")
    git(main, "worktree", "add", "-q", "-b", "side", str(at))
    (at / "b.txt").write_text("side\n")
    return at


def locked(at: Path) -> Path:
    """The folder is a locked worktree."""
    linked(at)
    git(at, "worktree", "lock", "--reason", "mine", str(at))
    return at


def moved(at: Path) -> Path:
    """The folder is a worktree that was moved."""
    linked(at.parent / "before")
    git(at.parent / "main", "worktree", "move", str(at.parent / "before"), str(at))
    return at


def worktree_inside(at: Path) -> Path:
    """A worktree of the repository lies in its folder."""
    repository(at)
    git(at, "worktree", "add", "-q", "-b", "side", str(at / "trees" / "side"))
    return at


def submodule(at: Path) -> Path:
    """There is a submodule with changes of its own, and the folder is in the outer repository."""
    inner = repository(at.parent / "inner")
    repository(at)
    git(at, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(at, "commit", "-qm", "submodule")
    (at / "sub" / "a.txt").write_text("changed\n")
    return at


def in_submodule(at: Path) -> Path:
    """The folder is a submodule."""
    return submodule(at) / "sub"


def in_submodule_with_extension(at: Path) -> Path:
    """The folder is a submodule whose worktrees have settings of their own."""
    inner = in_submodule(at)
    git(inner, "config", "extensions.worktreeConfig", "true")
    return inner


def led_elsewhere(at: Path) -> Path:
    """`core.worktree` names a folder that is not that of the user."""
    repository(at)
    (at.parent / "elsewhere").mkdir()
    git(at, "config", "core.worktree", str(at.parent / "elsewhere"))
    return at


def nested(at: Path) -> Path:
    """There are repositories in untracked folders, one without a commit."""
    repository(at)
    repository(at / "inside" / "one")
    (at / "none").mkdir()
    git(at / "none", "init", "-q")
    (at / "b.txt").write_text("b\n")
    return at


def split_index(at: Path) -> Path:
    """The index of the user is split in two files, and knows untracked files."""
    repository(at)
    git(at, "config", "core.splitIndex", "true")
    git(at, "config", "core.untrackedCache", "true")
    git(at, "update-index", "--split-index")
    (at / "b.txt").write_text("b\n")
    git(at, "status")
    return at


def index_locked(at: Path) -> Path:
    """A git that was killed has left its lock."""
    repository(at)
    (at / "b.txt").write_text("b\n")
    (at / ".git" / "index.lock").write_bytes(b"")
    return at


def hooked(at: Path) -> Path:
    """Each hook leaves a trace, and fails."""
    repository(at)
    for name in ("post-checkout", "pre-commit", "post-commit", "reference-transaction"):
        hook = at / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {at.parent}/hooked\nexit 1\n")
        hook.chmod(0o755)
    (at / "b.txt").write_text("b\n")
    return at


def signing(at: Path) -> Path:
    """Commits are to be signed, by a program that fails."""
    repository(at)
    git(at, "config", "commit.gpgSign", "true")
    git(at, "config", "gpg.program", "false")
    (at / "b.txt").write_text("b\n")
    return at


def bare(at: Path) -> Path:
    """There is no working tree."""
    at.mkdir(parents=True)
    git(at, "init", "-q", "--bare")
    return at


def unborn(at: Path) -> Path:
    """There is no commit yet."""
    at.mkdir(parents=True)
    git(at, "init", "-q")
    (at / "b.txt").write_text("b\n")
    return at


def detached(at: Path) -> Path:
    """No branch is checked out."""
    two_sides(at)
    git(at, "checkout", "-q", "--detach", "HEAD^")
    return at


def shallow(at: Path) -> Path:
    """A clone of the newest commit alone."""
    two_sides(at.parent / "whole")
    git(at.parent, "clone", "-q", "--depth=1", f"file://{at.parent}/whole", str(at))
    return at


def partial(at: Path) -> Path:
    """A clone without the files of older commits, and with some of this one."""
    two_sides(at.parent / "whole")
    git(at.parent / "whole", "config", "uploadpack.allowFilter", "true")
    words = ("clone", "-q", "--filter=blob:none", "--sparse")
    git(at.parent, *words, f"file://{at.parent}/whole", str(at))
    return at


def of_bare(at: Path) -> Path:
    """The folder is a worktree of a bare repository."""
    git(two_sides(at.parent / "whole"), "clone", "-q", "--bare", ".", str(at.parent / "bare"))
    git(at.parent / "bare", "worktree", "add", "-q", str(at), "main")
    return at


def borrowing(at: Path) -> Path:
    """A clone that takes its objects from another repository."""
    two_sides(at.parent / "whole")
    git(at.parent, "clone", "-q", "--shared", str(at.parent / "whole"), str(at))
    return at


def packed(at: Path) -> Path:
    """All references and objects are packed."""
    git(two_sides(at), "gc", "-q")
    return at


def replaced(at: Path) -> Path:
    """A commit is replaced by another one."""
    two_sides(at)
    git(at, "replace", "main", "other")
    return at


def links(at: Path) -> Path:
    """Links: to a file, to a folder, to nowhere, to the outside, and a file that became one."""
    repository(at, **{"dir/b.txt": "b\n", "was.txt": "x\n"})
    for name, target in (("l", "a.txt"), ("d", "dir"), ("none", "gone"), ("up", "../..")):
        (at / name).symlink_to(target)
    (at / "was.txt").unlink()
    (at / "was.txt").symlink_to("a.txt")
    (at / "run").write_text("#!/bin/sh\n")
    (at / "run").chmod(0o755)
    return at


def odd_place(at: Path) -> Path:
    """The folder has line breaks and quotes in its name."""
    return repository(at.parent / "new\nline\r' \"$x\t")


def odd_names(at: Path) -> Path:
    """Names with every kind of byte."""
    repository(at)
    names = [
        b"-n",
        b"a b",
        b"q\"'",
        b"new\nline",
        b"\xff\xfe",
        b"\xc3\xa4",
        b":(top)x",
        b"*",
        b"\\",
    ]
    for name in names:
        (at / os.fsdecode(name)).write_text("x\n")
    return at


def special_files(at: Path) -> Path:
    """A pipe and a socket."""
    repository(at)
    os.mkfifo(at / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        before = Path.cwd()
        os.chdir(at)  # the whole path may be too long for a socket
        made.bind("socket")
        os.chdir(before)
    return at


def refused(at: Path) -> Path:
    """Names that git refuses, and a pipe below other folders."""
    repository(at)
    for name in (".GIT", "deep/.Git", "git~1"):
        (at / name).mkdir(parents=True)
        (at / name / "config").write_text("x\n")
    os.mkfifo(at / "deep" / "pipe")
    return at


def skipped(at: Path) -> Path:
    """Git was told not to look at two changed files."""
    repository(at, **{"b.txt": "b\n", "c.txt": "c\n"})
    git(at, "update-index", "--skip-worktree", "b.txt")
    git(at, "update-index", "--assume-unchanged", "c.txt")
    for name in ("b.txt", "c.txt"):
        (at / name).write_text("of the user\n")
    return at


def branch_uwf(at: Path) -> Path:
    """A branch takes the place of those of uwf."""
    git(repository(at), "branch", "uwf")
    return at


def configured(at: Path) -> Path:
    """Settings that change what most commands of git do or print."""
    repository(at, **{"b.md": TEXT, ".gitattributes": "*.md diff=own\n"})
    for name, value in (
        *(("diff.noprefix", "true"), ("color.ui", "always"), ("diff.external", "false")),
        *(("diff.own.textconv", "rev"), ("status.showUntrackedFiles", "no"), ("gc.auto", "1")),
        *(("core.logAllRefUpdates", "always"), ("submodule.recurse", "true")),
        *(("core.quotePath", "true"), ("commit.template", "/nowhere"), ("core.editor", "false")),
    ):
        git(at, "config", name, value)
    (at / "new.md").write_text(TEXT)
    return at


LEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
ZOO: dict[str, Animal] = {
    each.make.__name__: each
    for each in (
        *map(Animal, (plain, subfolder, staged, crlf, filtered, sparse, linked, locked, moved)),
        *map(Animal, (in_merge, in_rebase, in_cherry_pick, in_stash_pop, in_bisect, detached)),
        *map(Animal, (split_index, index_locked, hooked, signing, shallow, borrowing, packed)),
        *map(Animal, (replaced, links, odd_names, in_submodule, in_submodule_with_extension)),
        *map(Animal, (configured, partial, of_bare, odd_place)),
        Animal(submodule, hidden=("sub/",)),
        Animal(nested, hidden=("inside/", "none/")),
        Animal(worktree_inside, hidden=("trees/",)),
        Animal(refused, hidden=(".GIT/", "deep/", "git~1/")),
        Animal(special_files, hidden=("pipe", "socket")),
        Animal(skipped, hidden=("b.txt", "c.txt")),
        Animal(filter_missing, rejected="filter-of-elsewhere: not found"),
        Animal(led_elsewhere, rejected="core.worktree"),
        Animal(bare, rejected="must be run in a work tree"),
        Animal(unborn, rejected="has no commit yet"),
        Animal(branch_uwf, rejected="branch -m uwf NAME"),
    )
} | {"environment": Animal(plain, env=dict.fromkeys(LEADING, "/nowhere"))}


def bytes_below(top: Path, *without: str) -> dict[str, bytes | str]:
    """Every file and link below a folder, but those whose path has one of these texts."""
    found: dict[str, bytes | str] = {}
    for place, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = Path(place, name)
            shown = str(path.relative_to(top))
            if any(each in f"{shown}/" for each in without):
                continue
            if path.is_symlink():
                found[shown] = f"-> {path.readlink()}"
            elif path.is_file():
                found[shown] = path.read_bytes()
    return found
