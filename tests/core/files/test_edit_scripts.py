"""A restored folder equals the recorded one, for random edits of every kind.

`UWF_EDIT_SCRIPTS=1000 pytest --timeout=0 tests/core/files/test_edit_scripts.py` tries as many; the
results are in the README beside this file.
"""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.files.recorded import Content, content_of, repository, write

from uwf_core.errors import StoreError
from uwf_core.files.paths import below
from uwf_core.files.repository import open_repository
from uwf_core.files.restore import restore
from uwf_core.files.snapshot import record

EXAMPLES = int(os.environ.get("UWF_EDIT_SCRIPTS", "25"))
NAMES = st.sampled_from(
    (
        b"a",
        b"b",
        b"c.log",
        b"d.keep.log",
        b"dir",
        b"dir2",
        b"odd\xff",
        b"n\nl",
        b" x",
        b'q"',
        b"-o",
        b"0:a",
        b"A",
        b"\xc3\xa9",
        b"e\xcc\x81",
        b"x" * 200,
    )
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(b"/".join)
TEXTS = st.sampled_from((b"", b"one\n", b"one\r\ntwo\n", b"\0\xff", b"two\r\n"))
RULES = st.sampled_from((b"", b"*.log\n", b"*.log\n!*.keep.log\n", b"dir\n", b"/a\nb/\n"))
ATTRIBUTES = st.sampled_from(
    (
        b"* text eol=crlf\n",
        b"* filter=upper ident\n",
        b"* working-tree-encoding=UTF-16\n[attr]odd text\n*.log odd\n",
    )
)
EDITS = st.one_of(
    st.tuples(st.just("write"), PATHS, TEXTS),
    st.tuples(st.just("link"), PATHS, st.sampled_from((b"a", b"dir", b"/nowhere", b"../x"))),
    st.tuples(st.just("mode"), PATHS, st.just(b"")),
    st.tuples(st.just("delete"), PATHS, st.just(b"")),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("rules"), st.sampled_from((b".gitignore", b"dir/.gitignore")), RULES),
    st.tuples(st.just("attributes"), st.just(b".gitattributes"), ATTRIBUTES),
    st.tuples(st.just("track"), PATHS, st.just(b"")),
    st.tuples(st.just("commit"), st.just(b""), st.just(b"")),
    st.tuples(st.just("repository"), PATHS, st.just(b"")),
    st.tuples(st.just("sparse"), PATHS, st.just(b"")),
    st.tuples(st.just("folder"), PATHS, st.just(b"")),
    st.tuples(st.just("pipe"), PATHS, st.just(b"")),
)
SCRIPTS = st.lists(EDITS, max_size=12)
THREAD = "01JABCDEFGHJKMNPQRSTVWXYZ0"
OTHER = "01JABCDEFGHJKMNPQRSTVWXYZ1"


def edit(folder: Path, kind: str, path: bytes, text: bytes) -> None:
    """Make an edit, as far as it is possible there; no path leads through a link."""
    place = os.path.join(os.fsencode(folder), path)
    parents = [path[:cut] for cut, byte in enumerate(path) if byte == ord("/")]
    for parent in parents:
        above = os.path.join(os.fsencode(folder), parent)
        if os.path.lexists(above) and (os.path.islink(above) or not os.path.isdir(above)):
            os.unlink(above)
    if kind in ("write", "link", "rules", "attributes"):
        remove(place)
        if kind == "link":
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(text, place)
        else:
            write(folder, path, text)
    elif kind == "delete":
        remove(place)
    elif kind == "mode" and os.path.isfile(place) and not os.path.islink(place):
        os.chmod(place, os.stat(place).st_mode ^ 0o100)
    elif kind == "rename" and os.path.lexists(place):
        rename(folder, path, text)
    elif kind in _MAKES and not os.path.lexists(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        _MAKES[kind](place)
    elif kind in _OF_GIT and (folder / ".git").exists():
        by_git(folder, kind, path)


def rename(folder: Path, old: bytes, new: bytes) -> None:
    if not new.startswith(old) and not old.startswith(new + b"/"):
        edit(folder, "delete", new, b"")
        target = os.path.join(os.fsencode(folder), new)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(os.path.join(os.fsencode(folder), old), target)


def by_git(folder: Path, kind: str, path: bytes) -> None:
    for words in _OF_GIT[kind]:
        named = [word.replace("{path}", os.fsdecode(path)) for word in words]
        command = ("git", *_PERSON, "-C", os.fspath(folder), *named)
        subprocess.run(command, capture_output=True, check=False)


def _make_repository(place: bytes) -> None:
    os.mkdir(place)
    repository(Path(os.fsdecode(place)), commit=False)
    write(Path(os.fsdecode(place)), b"inner")


_MAKES = {"repository": _make_repository, "folder": os.mkdir, "pipe": os.mkfifo}
_OF_GIT = {
    "track": (("add", "-f", "--", "{path}"),),
    "commit": (("add", "-A"), ("commit", "-q", "-m", "all")),
    "sparse": (("sparse-checkout", "set", "--no-cone", "/*", "!/{path}"),),
}
_PERSON = (
    "-c",
    "user.name=U",
    "-c",
    "user.email=u@example.org",
    "-c",
    "filter.upper.clean=tr a-z A-Z",
)


def remove(place: bytes) -> None:
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    elif os.path.lexists(place):
        os.unlink(place)


def recorded(home: Path, tree: str) -> Content:
    """The content of a tree, as git names it."""
    files = open_repository(str(home))
    kinds = {b"100644": "file", b"100755": "program", b"120000": "link"}
    found = {}
    for line in files.git("ls-tree", "-r", "-z", tree).split(b"\0"):
        if line:
            head, path = line.split(b"\t", 1)
            mode, _, blob = head.split()
            found[path] = (kinds[mode], files.git("cat-file", "blob", blob.decode()))
    return found


def not_ignored(folder: Path) -> set[bytes]:
    """The paths that a snapshot has, by the user's own git: tracked or not ignored."""
    listed = b""
    for words in (("-c",), ("-o", "--exclude-standard")):
        command = ("git", "-C", folder, "ls-files", "-z", *words)
        listed += subprocess.run(command, capture_output=True, check=True).stdout
    return {path for path in listed.split(b"\0") if path}


@settings(max_examples=EXAMPLES)
@given(before=SCRIPTS, after=SCRIPTS, in_git=st.booleans())
def test_a_restored_folder_equals_the_recorded_one(before: Any, after: Any, in_git: bool) -> None:
    with TemporaryDirectory() as root:
        home, folder = Path(root, "home"), Path(root, "folder")
        home.mkdir(mode=0o700)
        folder.mkdir()
        if in_git:
            repository(folder, commit=False)
        for each in before:
            edit(folder, *each)
        first = check_recorded(home, folder, in_git=in_git)
        for each in after:
            edit(folder, *each)
        second = check_recorded(home, folder, in_git=in_git)
        for tree in (first, second):
            try:
                restore(str(home), tree, str(folder))
            except StoreError as error:
                assert "ignored files" in error.message
                return
            content = content_of(folder)
            wanted = recorded(home, tree)
            assert {path: content[path] for path in wanted} == wanted
            if not in_git:  # what the user's index tracks may differ from what it did
                assert record(str(home), THREAD, str(folder))["tree"] == tree


def check_recorded(home: Path, folder: Path, *, in_git: bool) -> str:
    """The tree of the folder: it has its content, and does not depend on earlier snapshots."""
    found = record(str(home), THREAD, str(folder))
    tree = found["tree"]
    assert tree is not None, found["reason"]
    content, has = content_of(folder), recorded(home, tree)
    assert has == {path: content[path] for path in has}, found["nested"]
    if in_git:
        outside = {os.fsencode(each) for each in found["nested"]}
        inside = {each for each in content if not below(each, outside)}
        assert has.keys() == not_ignored(folder) & inside
    assert found["files"] == len(has)
    assert found["bytes"] == sum(len(each) for _, each in has.values())
    with TemporaryDirectory() as fresh:
        os.chmod(fresh, 0o700)
        assert record(fresh, OTHER, str(folder))["tree"] == tree
    return tree
