"""Folders that are recorded: how tests fill, read and compare them."""

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from uwf_core.files.repository import FilesRepository, find_repository
from uwf_core.files.restore import restore
from uwf_core.files.snapshot import record
from uwf_core.testing.project import Project
from uwf_core.thread.types import SnapshotPayload

THREAD = "01JABCDEFGHJKMNPQRSTVWXYZ0"

TWICE = """
version: 1
name: twice
record: true
roles:
  editor:
    program:
      argv: [sh, ./edit.sh]
      statuses: {0: again, 1: done}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: again}}, required: [$status]}
        - {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: editor, prompt: Edit.}
    resume: {role: editor, prompt: Edit.}
  editor:
    again: {role: editor, prompt: Edit.}
    done: {role: $END, prompt: Done.}
"""
EDIT = b"""\
echo . >> count
if [ -e new ]; then rm new; echo two > file; exit 1; fi
echo one > file; echo made > new; chmod +x run; mv old renamed
"""

Content = Mapping[bytes, tuple[str, bytes]]
"""By path: `file`, `program` (with the x bit) or `link`, and the bytes or the target."""


def write(folder: Path, path: str | bytes, content: bytes = b"x", *, mode: int = 0o644) -> None:
    """Write a file with the folders above it."""
    place = os.path.join(os.fsencode(folder), os.fsencode(path))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as file:
        file.write(content)
    os.chmod(place, mode)


def content_of(folder: Path) -> Content:
    """Everything in a folder but `.git` folders and what is neither a file nor a link."""
    found, top = {}, os.fsencode(folder)
    for place, folders, files in os.walk(top):
        links = [each for each in folders if os.path.islink(os.path.join(place, each))]
        folders[:] = [each for each in folders if each != b".git" and each not in links]
        for name in (*files, *links):
            path = os.path.join(place, name)
            if os.path.islink(path):
                found[os.path.relpath(path, top)] = ("link", os.readlink(path))
            elif os.path.isfile(path):
                kind = "program" if os.stat(path).st_mode & stat.S_IXUSR else "file"
                with open(path, "rb") as file:
                    found[os.path.relpath(path, top)] = (kind, file.read())
    return found


def git(folder: Path, *words: str) -> str:
    """A git command of the user."""
    person = ("-c", "user.name=U", "-c", "user.email=u@example.org")
    command = ["git", *person, "-C", folder, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder: Path, *, commit: bool = True) -> Path:
    """A git repository of the user; all that is in the folder is committed."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    if commit:
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


def empty(folder: Path) -> None:
    """Delete what is in a folder, but `.git`."""
    for each in folder.iterdir():
        if each.name == ".git":
            continue
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def object_file(files: FilesRepository, name: str) -> Path:
    """The file of an object, after each object of the repository got its own."""
    for pack in Path(files.packs).glob("*.pack"):
        moved = pack.rename(Path(files.path, pack.name))
        pack.with_suffix(".idx").unlink()
        files.git("unpack-objects", "-q", stdin=moved.read_bytes())
        moved.unlink()
    return Path(files.objects, name[:2], name[2:])


def run(project: Project) -> list[str]:
    """The steps of a thread."""
    done = project.uwf("run", "twice", "-p", "The task.")
    assert done.exit_code == 0, done.stderr
    return [step["step"] for step in done.document["steps"]]


class Recorder:
    """A home, and a folder that is recorded there."""

    def __init__(self, root: Path) -> None:
        self.home, self.folder = root / "home", root / "folder"
        self.home.mkdir(mode=0o700)
        self.folder.mkdir()

    def record(self, thread: str = THREAD) -> SnapshotPayload:
        return record(str(self.home), thread, str(self.folder))

    def tree(self, thread: str = THREAD) -> str:
        found = self.record(thread)
        assert found["tree"] is not None, found["reason"]
        return found["tree"]

    def restore(self, tree: str) -> None:
        restore(str(self.home), tree, str(self.folder))

    @property
    def files(self) -> FilesRepository:
        found = find_repository(str(self.home))
        assert found is not None
        return found

    def paths(self) -> set[bytes]:
        tree = self.tree()
        listed = self.files.git("ls-tree", "-r", "-z", "--name-only", tree)
        return {path for path in listed.split(b"\0") if path}
