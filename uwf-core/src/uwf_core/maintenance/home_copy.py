"""`uwf store copy --all`: what belongs to a home beside its store, while others write there.

The store is copied before: the files of its steps are there already, and stay. What is written
meanwhile may be in the copy, and harms nothing.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.config.edit import with_value
from uwf_core.config.home import CONFIG_FILE, read_private, write_private
from uwf_core.config.secrets import masked
from uwf_core.config.settings import read_settings, settings_text
from uwf_core.errors import UsageError
from uwf_core.files.repository import find_repository, open_repository
from uwf_core.process.git import GitFailed
from uwf_core.process.path_walk import open_regular

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

NOT_COPIED = ("logs", "results of background runs", "worktrees", "keys and other secrets")
"""What a copy of a home leaves out."""
_FOLDERS = ("agents", "extractors", "judges", "improve", "skills")
_FILES = ("trusted.json",)
_CALLS = "calls"
"""The folder of an agent's calls that are running."""


def copy_beside_store(engine: "Engine", target: str, url: str) -> int:
    """Copy what is beside the store to the home `target`, whose store is `url`; the number of
    files.

    Raises:
        UsageError: it cannot be read or written.
    """
    home = Path(engine.home)
    try:
        if find_repository(engine.home) is not None:
            words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
            source, local = str(home / "files.git"), {"GIT_ALLOW_PROTOCOL": "file"}
            open_repository(target).git(*words, source, "+refs/*:refs/*", env=local)
        copied = sum(_copied(home / name, Path(target, name)) for name in _FOLDERS)
        copied += sum(_copied_file(home / name, Path(target, name)) for name in _FILES)
        _copy_configuration(engine, target, url)
    except (OSError, GitFailed) as error:
        raise UsageError(f"cannot copy the home: {error}", where=target) from error
    return copied


def _copied(folder: Path, target: Path) -> int:
    """Copy the regular files below a folder, each as its owner's alone; how many there are."""
    copied = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != _CALLS]
        inner = target / Path(place).relative_to(folder)
        inner.mkdir(mode=0o700, parents=True, exist_ok=True)
        copied += sum(_copied_file(Path(place, name), inner / name) for name in names)
    return copied


def _copied_file(file: Path, target: Path) -> bool:
    """Copy a file; False if it is gone meanwhile, or is not a regular file."""
    try:
        descriptor, _ = open_regular(None, str(file))
    except OSError as error:
        if file.is_file() and not file.is_symlink():
            raise error
        return False
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(descriptor, "rb") as source, open(os.open(target, flags, 0o600), "wb") as out:
        shutil.copyfileobj(source, out)
    return True


def _copy_configuration(engine: "Engine", target: str, url: str) -> None:
    """Write the user's configuration, without its secrets, for the store of the copy."""
    file = str(Path(engine.home, CONFIG_FILE))
    text = settings_text(read_private(file) or b"", file)
    leaves = read_settings(text.encode(), file)
    for path, leaf in leaves.items():
        for inner in _secrets(engine, path, leaf.value):
            text = with_value(text, inner, None, file=file)
    if ("store",) in leaves or url != "sqlite:store.db":
        text = with_value(text, ("store",), url, file=file)
    if text:
        write_private(str(Path(target, CONFIG_FILE)), text)


def _secrets(engine: "Engine", path: tuple[str, ...], value: Any) -> Iterator[tuple[str, ...]]:
    """The places of the secrets in a value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _secrets(engine, (*path, name), inner)
    elif masked(engine.settings, {path[-1]: value}) != {path[-1]: value}:
        yield path
