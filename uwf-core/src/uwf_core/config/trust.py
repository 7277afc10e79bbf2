"""Which folders the user trusts: `trusted.json` in the home, by real path.

Format: `{"version": 1, "folders": ["/real/path", …]}`. Trust is for that very folder: not for
those below it, since a repository may be cloned into a trusted one.
"""

# Read on every level: pathlib is not imported for that.
# ruff: noqa: PTH112

import json
import os

from uwf_core.config.home import prepare_home, read_private, write_private
from uwf_core.errors import ConfigError

_FILE = "trusted.json"


def is_trusted(home: str, folder: str) -> bool:
    """Whether the user has trusted this very folder.

    Raises:
        ConfigError: the list cannot be read.
    """
    return os.path.realpath(folder) in trusted_folders(home)


def trusted_folders(home: str) -> list[str]:
    """The real paths of all trusted folders, sorted.

    Raises:
        ConfigError: the list cannot be read.
    """
    file = f"{home}/{_FILE}"
    data = read_private(file)
    if data is None:
        return []

    try:
        document = json.loads(data)
        if document["version"] == 1 and all(isinstance(each, str) for each in document["folders"]):
            return sorted(document["folders"])
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(file) from error
    raise _unreadable(file)


def trust(home: str, folder: str) -> str:
    """Trust a folder; its real path. Trusting it again changes nothing.

    Raises:
        ConfigError: there is no such folder, or the list cannot be read or written.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise ConfigError("there is no such folder", where=folder, hint="uwf config trust DIR")
    folders = trusted_folders(home)
    if real not in folders:
        import json

        prepare_home(home)
        document = {"version": 1, "folders": sorted([*folders, real])}
        write_private(f"{home}/{_FILE}", json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    return real


def _unreadable(file: str) -> ConfigError:
    return ConfigError(
        "the list of trusted folders is damaged, or written by a newer uwf",
        where=file,
        hint="remove the file and trust your folders again: uwf config trust DIR",
    )
