"""The project's settings: `.uwf/config.yaml` of the nearest folder, and what it may set."""

# Every command comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH118

import os
from collections.abc import Mapping

from uwf_core.config.home import CONFIG_FILE, default_home
from uwf_core.config.keys import CHOICES, USER_OPTIONS, Leaf, Path, key_text
from uwf_core.config.trust import is_trusted
from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.folders import climb, foreign_error, is_own

FOLDER = ".uwf"


class ProjectFolder(NamedTuple):
    """A folder with project settings."""

    folder: str
    file: str
    trusted: bool


class Allowed(NamedTuple):
    """The values taken from a project's file, and the ignored keys as text."""

    leaves: dict[Path, Leaf]
    ignored: tuple[str, ...]


def find_project(home: str, cwd: str, env: Mapping[str, str]) -> ProjectFolder | None:
    """The nearest folder from `cwd` upwards that has settings, except the folder of uwf.

    Raises:
        ConfigError: it belongs to another user and is not trusted; or the list of trusted folders
            cannot be read.
    """
    own = {os.path.realpath(home)}
    default = default_home(env)
    if default is not None:
        own.add(os.path.realpath(default))
    for folder in climb(cwd):
        candidate = os.path.join(folder, FOLDER)
        file = os.path.join(candidate, CONFIG_FILE)
        if os.path.lexists(file) and os.path.realpath(candidate) not in own:
            trusted = is_trusted(home, folder)
            if not trusted and not (is_own(candidate) and is_own(file)):
                raise foreign_error(candidate, folder)
            return ProjectFolder(folder, file, trusted)
    return None


def allowed(project: ProjectFolder, leaves: dict[Path, Leaf]) -> Allowed:
    """Select the values: all of a trusted project except options that only the user may set,
    else only choices among what the user has. A cloned repository must not be able to run anything
    by being there.
    """
    if project.trusted:
        return _without_user_options(leaves)
    taken = {path: leaf for path, leaf in leaves.items() if _is_choice(project, path, leaf)}
    ignored = sorted({key_text(_shown(path)) for path in leaves if path not in taken})
    return Allowed(taken, tuple(ignored))


def _without_user_options(leaves: dict[Path, Leaf]) -> Allowed:
    """All but these options: an agent could extend its permissions in a file that it writes."""
    taken, ignored = dict(leaves), list[str]()
    for path, leaf in leaves.items():
        given = leaf.value.get("options", {}) if path[0] == "agents" else {}
        names = [name for name in given if name in USER_OPTIONS]
        if names:
            options = {name: value for name, value in given.items() if name not in names}
            taken[path] = Leaf({**leaf.value, "options": options}, leaf.place)
            ignored += [key_text((*path, "options", name)) for name in names]
    return Allowed(taken, tuple(ignored))


def is_command_line(word: str) -> bool:
    """Whether an agent's word would run as a command: it has a blank or a path separator."""
    return "/" in word or any(character.isspace() for character in word)


def _is_choice(project: ProjectFolder, path: Path, leaf: Leaf) -> bool:
    if path[0] not in CHOICES:
        return False
    if path[0] in ("defaultAgent", "agentOverrides"):
        return not is_command_line(leaf.value)
    if path[0] == "workflowPaths":
        return all(_is_below(project.folder, each) for each in leaf.value)
    return True


def _is_below(folder: str, path: str) -> bool:
    root = os.path.realpath(folder)
    real = os.path.realpath(os.path.join(root, path))
    return not path.startswith("~") and os.path.commonpath([root, real]) == root


def _shown(path: Path) -> Path:
    return path[:1] if path[0] not in CHOICES else path
