"""Which folders the user trusts, and what a project's settings may set: `trusted.json` in the home,
`.uwf/config.yaml` of the nearest folder that has it or `.uwf/plugins`.

Format of the list: `{"version": 2, "folders": {"/real/path": IDENTITY, …}}`, and perhaps
`"withheld": ["/real/path", …]` (`withhold_programs`). Trusts only that
folder, not those below it, since a repository may be cloned into a trusted one; and only the
content that it had then. IDENTITY is `commit:ID`, the first commit of the git repository, which
all clones of it have and no other repository has; without a repository, `folder:DEVICE:INODE`.
"""

# Read on every level: pathlib is not imported for that.
# ruff: noqa: PTH112, PTH116, PTH118, PTH119, PTH120

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from uwf_core.config.home import (
    CONFIG_FILE,
    check_ending,
    default_home,
    prepare_home,
    read_private,
    write_private,
)
from uwf_core.config.keys import CHOICES, USER_KEYS, USER_OPTIONS, Leaf, Path, key_text
from uwf_core.errors import ConfigError
from uwf_core.process.folders import climb, foreign_error, is_own, is_utf8

_FILE = "trusted.json"
_VERSION = 2


def is_trusted(home: str, folder: str) -> bool:
    """Whether the user trusts this folder, and it is still the same one.

    Raises:
        ConfigError: the list cannot be read.
    """
    real = os.path.realpath(folder)
    identity = _folders(home).get(real)
    return identity is not None and _is_still(real, identity)


def is_trusted_workspace(home: str, folder: str) -> bool:
    """Whether the user trusts `folder`, the top of its working tree, or the main working tree of
    its repository. A repository within a trusted folder is another one, and not trusted.

    Raises:
        ConfigError: the list of trusted folders cannot be read.
    """
    if not _folders(home):
        return False
    if is_trusted(home, folder):
        return True
    from uwf_core.config.repository import find_repository  # only where a folder is trusted

    found = find_repository(folder)
    if found is None:
        return False
    tops = {found.top}
    if found.common is not None and os.path.basename(found.common) == ".git":
        tops.add(os.path.dirname(found.common))
    return any(is_trusted(home, top) for top in tops)


def trusted_folders(home: str) -> list[str]:
    """The real paths of all trusted folders, sorted.

    Raises:
        ConfigError: the list cannot be read.
    """
    return sorted(_folders(home))


def withhold_programs(home: str, folder: str) -> None:
    """Let the trust in a folder allow no further programs of its workflows until `trust` of it is
    called again: a page in a browser wrote one of them. Idempotent.

    Raises:
        ConfigError: the list cannot be read or written.
    """
    real, withheld = os.path.realpath(folder), withheld_folders(home)
    if real not in withheld:
        _write(home, _folders(home), [*withheld, real])


def withheld_folders(home: str) -> list[str]:
    """The real paths of the folders whose programs are withheld.

    Raises:
        ConfigError: the list cannot be read.
    """
    return _read(home)[1]


def _folders(home: str) -> dict[str, str]:
    """The identity of each trusted folder."""
    return _read(home)[0]


def _read(home: str) -> tuple[dict[str, str], list[str]]:
    """The identity of each trusted folder, and those whose programs are withheld."""
    file = f"{home}/{_FILE}"
    data = read_private(file)
    if data is None:
        return {}, []
    try:
        document = json.loads(data)
        folders, withheld = document["folders"], document.get("withheld", [])
        texts = [*folders.values(), *withheld]
        if document["version"] == _VERSION and all(type(each) is str for each in texts):
            return dict(folders), list(withheld)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _unreadable(file) from error
    raise _unreadable(file)


def _write(home: str, folders: Mapping[str, str], withheld: list[str]) -> None:
    prepare_home(home)
    document: dict[str, object] = {"version": _VERSION, "folders": folders}
    if withheld:
        document["withheld"] = withheld
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    write_private(f"{home}/{_FILE}", text + "\n")


def trust(home: str, folder: str) -> str:
    """Trust a folder; return its real path. Idempotent.

    Raises:
        ConfigError: the folder does not exist, its name is not UTF-8, or the list cannot be read
            or written.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise ConfigError("the folder does not exist", where=folder, hint="uwf config trust DIR")
    if not is_utf8(real):
        raise ConfigError(f"the name of the folder {real!r} is not UTF-8", hint="rename it")
    (folders, withheld), identity = _read(home), _identity(real)
    if folders.get(real) != identity or real in withheld:
        left = [each for each in withheld if each != real]
        _write(home, {**folders, real: identity}, left)
    return real


def _identity(real: str) -> str:
    commit = _first_commit(real)
    if commit is not None:
        return f"commit:{commit}"
    status = os.stat(real)
    return f"folder:{status.st_dev}:{status.st_ino}"


def _is_still(real: str, identity: str) -> bool:
    kind, _, commit = identity.partition(":")
    if kind != "commit":
        return _identity(real) == identity
    from uwf_core.process.git import ask_git  # only where a folder is trusted

    # To have the commit is enough, and costs the same for any length of history.
    return ask_git(real, "cat-file", "-e", f"{commit}^{{commit}}") is not None


def _first_commit(real: str) -> str | None:
    """The first commit of the repository that the folder is in."""
    from uwf_core.process.git import ask_git

    roots = (ask_git(real, "rev-list", "--max-parents=0", "HEAD") or "").split()
    return roots[-1] if roots else None


def _unreadable(file: str) -> ConfigError:
    return ConfigError(
        "the list of trusted folders is damaged, or a newer uwf wrote it",
        where=file,
        hint="remove the file and trust your folders again: uwf config trust DIR",
    )


# -- a project's settings --------------------------------------------------------------------------

FOLDER = ".uwf"
_PLUGINS = "plugins"


class ProjectFolder(NamedTuple):
    """A folder with project settings or plugins: the paths of those that exist."""

    folder: str
    file: str | None
    trusted: bool
    plugins: str | None


class Allowed(NamedTuple):
    """The values taken from a project's file, and the ignored keys as text."""

    leaves: dict[Path, Leaf]
    ignored: tuple[str, ...]


def find_project(home: str, cwd: str, env: Mapping[str, str]) -> ProjectFolder | None:
    """The nearest folder from `cwd` upwards that has settings or plugins, except the folder of uwf.

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
        if not os.path.lexists(candidate):
            continue
        file, plugins = _present(candidate, CONFIG_FILE), _present(candidate, _PLUGINS)
        is_project = (file or plugins) and os.path.realpath(candidate) not in own
        trusted = bool(is_project) and is_trusted(home, folder)
        present = [each for each in (candidate, file, plugins) if each]
        if is_project and not trusted and not all(map(is_own, present)):
            raise foreign_error(candidate, folder)
        if not file and (trusted or is_own(candidate)):
            check_ending(os.path.join(candidate, CONFIG_FILE))
        if is_project:
            return ProjectFolder(folder, file, trusted, plugins)
    return None


def _present(folder: str, name: str) -> str | None:
    path = os.path.join(folder, name)
    return path if os.path.lexists(path) else None


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
        if path[0] in USER_KEYS:
            del taken[path]
            ignored.append(key_text(path))
            continue
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
