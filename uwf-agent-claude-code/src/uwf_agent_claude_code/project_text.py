"""CLAUDE.md of the working folder as text: where the folder is not trusted the program does not
read it, since with it come the folder's settings.
"""

import os
import stat
from pathlib import Path

_NAMES = ("CLAUDE.md", ".claude/CLAUDE.md")
_SETTINGS = (".claude", ".mcp.json")
_MOST_BYTES = 40_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a pipe would hold us until somebody writes into it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def with_project_text(prompt: str, folder: str) -> str:
    """The prompt with what the folder's CLAUDE.md says before it, at most 40,000 bytes of each."""
    found = [f"# {name} of the working folder\n\n{text}" for name, text in _texts(folder)]
    return "\n\n".join([*found, prompt])


def has_settings(folder: str) -> bool:
    """Whether the folder has settings that the program would obey."""
    return any(os.path.lexists(os.path.join(folder, name)) for name in _SETTINGS)  # noqa: PTH118


def _texts(folder: str) -> list[tuple[str, str]]:
    root = os.path.realpath(folder)
    found = []
    for name in _NAMES:
        try:
            data = _read(root, name)
        except OSError:
            continue  # there is none, or it leads out of the folder
        text = data[:_MOST_BYTES].decode("utf-8", "replace").strip()
        cut = f"\n\n[cut after {_MOST_BYTES} bytes]" if len(data) > _MOST_BYTES else ""
        found.append((name, text + cut))
    return [each for each in found if each[1]]


def _read(root: str, name: str) -> bytes:
    """The file's bytes. A link is followed to another text of the folder alone, and what it leads
    to is opened without following any: one that is swapped in meanwhile is not.

    Raises:
        OSError: there is no such file within the folder.
    """
    target = os.path.relpath(os.path.realpath(os.path.join(root, name)), root)  # noqa: PTH118
    *folders, last = Path(target).parts
    if os.pardir in folders or not last.endswith(".md"):
        raise FileNotFoundError(name)
    at = os.open(root, _FOLDER)
    try:
        for each in folders:
            below = os.open(each, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        with open(os.open(last, _FILE, dir_fd=at), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FileNotFoundError(name)
            return file.read(_MOST_BYTES + 1)
    finally:
        os.close(at)
