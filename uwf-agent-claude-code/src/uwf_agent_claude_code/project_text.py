"""CLAUDE.md of the working folder as text: where the folder is not trusted the program does not
read it, since with it come the folder's settings.
"""

import os

from uwf_core.api import read_regular

_NAMES = ("CLAUDE.md", ".claude/CLAUDE.md")
_SETTINGS = (".claude", ".mcp.json")
_MOST_BYTES = 40_000


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
    """Read the file. A link may only lead to another `.md` file of the folder.

    Raises:
        OSError: there is no such file within the folder.
    """
    if not os.path.realpath(f"{root}/{name}").endswith(".md"):
        raise FileNotFoundError(name)
    return read_regular(name, _MOST_BYTES, within=root, cut=True)
