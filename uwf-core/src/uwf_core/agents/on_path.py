"""Executables `uwf-NAME` on the PATH: command agents that need no configuration.

Only absolute entries of the PATH count, and no folder in which uwf works: a program must not become
an agent because it lies in a cloned repository.
"""

import os
from collections.abc import Collection, Iterator

from uwf_core.agents.choose import PREFIX

_NO_AGENTS = frozenset((PREFIX, "uwf-eval"))
"""Names that are not those of agents, among them the command of a distribution of uwf."""


def agents_on_path(path: str, working_folders: Collection[str]) -> dict[str, str]:
    """The executables by file name; the first entry of `path` that has a name wins."""
    working = {os.path.realpath(folder) for folder in working_folders}
    found: dict[str, str] = {}
    for folder in path.split(os.pathsep):
        if folder.startswith("/") and os.path.realpath(folder) not in working:
            for name, program in _programs(folder):
                found.setdefault(name, program)
    return found


def _programs(folder: str) -> Iterator[tuple[str, str]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:  # an entry of the PATH need not exist
        return
    for entry in entries:
        name = entry.name
        # Another name could not be given as one word.
        is_word = name.isprintable() and not any(map(str.isspace, name))
        is_agent = is_word and name.startswith(PREFIX) and name not in _NO_AGENTS
        # False for a loop of links, at which `entry.is_file` and `Path.is_file` may raise:
        if is_agent and os.path.isfile(entry.path) and os.access(entry.path, os.X_OK):  # noqa: PTH113
            yield name, entry.path
