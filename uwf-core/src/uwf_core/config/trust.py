"""Which folders the user trusts: `trusted.json` in the home.

Format: `{"version": 2, "folders": {"/real/path": IDENTITY, …}}`. Trusts only that folder, not
those below it, since a repository may be cloned into a trusted one; and only the content that it
had then. IDENTITY is `commit:ID`, the first commit of the git repository, which all clones of
it have and no other repository has; without a repository, `folder:DEVICE:INODE`.
"""

# Read on every level: pathlib is not imported for that.
# ruff: noqa: PTH112, PTH116

import json
import os

from uwf_core.config.home import prepare_home, read_private, write_private
from uwf_core.errors import ConfigError
from uwf_core.process.git import ask_git

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


def trusted_folders(home: str) -> list[str]:
    """The real paths of all trusted folders, sorted.

    Raises:
        ConfigError: the list cannot be read.
    """
    return sorted(_folders(home))


def _folders(home: str) -> dict[str, str]:
    """The identity of each trusted folder."""
    file = f"{home}/{_FILE}"
    data = read_private(file)
    if data is None:
        return {}
    try:
        document = json.loads(data)
        folders = document["folders"]
        if document["version"] == _VERSION and all(type(each) is str for each in folders.values()):
            return dict(folders)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _unreadable(file) from error
    raise _unreadable(file)


def trust(home: str, folder: str) -> str:
    """Trust a folder; return its real path. Idempotent.

    Raises:
        ConfigError: the folder does not exist, or the list cannot be read or written.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise ConfigError("the folder does not exist", where=folder, hint="uwf config trust DIR")
    folders, identity = _folders(home), _identity(real)
    if folders.get(real) != identity:
        prepare_home(home)
        document = {"version": _VERSION, "folders": {**folders, real: identity}}
        text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
        write_private(f"{home}/{_FILE}", text + "\n")
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
    # To have the commit is enough, and costs the same for any length of history.
    return ask_git(real, "cat-file", "-e", f"{commit}^{{commit}}") is not None


def _first_commit(real: str) -> str | None:
    """The first commit of the repository that the folder is in."""
    roots = (ask_git(real, "rev-list", "--max-parents=0", "HEAD") or "").split()
    return roots[-1] if roots else None


def _unreadable(file: str) -> ConfigError:
    return ConfigError(
        "the list of trusted folders is damaged, or a newer uwf wrote it",
        where=file,
        hint="remove the file and trust your folders again: uwf config trust DIR",
    )
