"""`UWF_HOME`: the folder of uwf, and how to write files in it."""

# Every command comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH110, PTH119, PTH100, PTH116, PTH117, PTH118

import os
from collections.abc import Mapping
from stat import S_ISDIR

from uwf_core.errors import ConfigError
from uwf_core.process.folders import is_own, make_lasting_folder, replaced
from uwf_core.process.path_walk import ANYWHERE, read_regular

CONFIG_FILE = "config.yaml"
ENV_FILE = ".env"
_MOST_BYTES = 4_000_000


def find_home(env: Mapping[str, str]) -> str:
    """The absolute path of uwf's folder: `UWF_HOME`, else `~/.uwf`. It may not exist yet.

    Raises:
        ConfigError: neither `UWF_HOME` nor `HOME` is set, or it is not a folder, or other users can
            write there.
    """
    own = env.get("UWF_HOME", "")
    home = os.path.abspath(expand_user(own, env)) if own else default_home(env)
    if home is None:
        raise ConfigError(
            "no home folder for uwf: HOME is not set, or is not an absolute path",
            where="HOME",
            hint="set UWF_HOME (or HOME) to a folder that you can write to",
        )
    _refuse_shared(home)
    return home


def _refuse_shared(home: str) -> None:
    """Reject a folder in which others can change the configuration: it names the programs that uwf
    runs.
    """
    try:
        status = os.stat(home)
    except OSError:
        return  # the code that uses the folder reports the error
    if not S_ISDIR(status.st_mode):
        raise ConfigError(
            f"{home} is not a folder",
            where="UWF_HOME",
            hint="set UWF_HOME to a folder, or unset it",
        )
    cure = f"chmod go-w {home}"
    if not is_own(home):
        who, cure = "another user", f"chown -R {os.geteuid()} {home}"
    elif status.st_mode & 0o002:
        who = "every user"
    elif status.st_mode & 0o020 and not _is_private_group(status.st_gid):
        who = "a group with other members"
    else:
        return
    raise ConfigError(
        f"{who} can write to the folder of uwf, and so choose what uwf runs",
        where=home,
        hint=f"check its content, then: {cure}",
    )


def _is_private_group(number: int) -> bool:
    """Whether a group is private to the user: by the custom of one group per user, it has the name
    of the user, is the primary group, and has no other member.
    """
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    own = user.pw_gid == number and group.gr_name == user.pw_name
    return own and set(group.gr_mem) <= {user.pw_name}


def default_home(env: Mapping[str, str]) -> str | None:
    """`~/.uwf`, None if `HOME` is not set."""
    home = env.get("HOME", "")
    return os.path.abspath(os.path.join(home, ".uwf")) if os.path.isabs(home) else None


def expand_user(path: str, env: Mapping[str, str]) -> str:
    """Expand `~` and `~/…` to the home folder of `env`."""
    home = env.get("HOME", "")
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return path


def prepare_home(home: str) -> None:
    """Create the folder if it does not exist, for its owner only.

    Raises:
        ConfigError: it cannot be created.
    """
    try:
        make_lasting_folder(home)
    except OSError as error:
        raise ConfigError(
            f"cannot create the folder of uwf: {error.strerror}",
            where=home,
            hint="set UWF_HOME to a folder that you can write to",
        ) from error


def check_ending(file: str) -> None:
    """Check that a missing configuration file does not exist with the ending `.yml`.

    Raises:
        ConfigError: it does, and would be ignored.
    """
    other = file.removesuffix(".yaml") + ".yml"
    if os.path.exists(other):
        name = os.path.basename(file)
        raise ConfigError(f"its name must be {name}", where=other, hint=f"rename it to {name}")


def read_private(file: str, *, within: str = ANYWHERE) -> bytes | None:
    """The bytes of a small file, None if there is none; no link leads out of the folder `within`.

    Raises:
        ConfigError: it exists and cannot be read.
    """
    try:
        return read_regular(file, _MOST_BYTES, within=within)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(
            f"cannot read the file: {error.strerror}",
            where=file,
            hint="make it a plain file that you can read, or move it away",
        ) from error


def write_private(file: str, text: str) -> None:
    """Replace `file` by `text` atomically, readable only for its owner.

    A symbolic link stays one: its target is replaced.

    Raises:
        ConfigError: it cannot be written; the file is unchanged.
    """
    try:
        with replaced(os.path.realpath(file), "private-file") as stream:
            stream.write(text.encode())
    except OSError as error:
        raise ConfigError(
            f"cannot write the file: {error.strerror}",
            where=file,
            hint="check the permissions of the folder and the free space",
        ) from error


def open_to_others(file: str) -> bool:
    """Whether users other than the owner may read or write `file`."""
    try:
        return bool(os.stat(file).st_mode & 0o077)
    except OSError:  # it does not exist
        return False
