"""Change the user's config.yaml: validate first, then write all of it or nothing."""

# ruff: noqa: PTH118 (one way to write paths in this room)

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from uwf_core.config.edit import with_value
from uwf_core.config.home import CONFIG_FILE, prepare_home, read_private, write_private
from uwf_core.config.keys import Path, key_text, shape_at
from uwf_core.config.settings import as_config_error, read_settings, settings_text
from uwf_core.config.show import known_path
from uwf_core.errors import ConfigError, DefinitionError

_LOCK_FILE = "config.lock"


class Change(NamedTuple):
    """A value (JSON-like) to set at a path."""

    path: Path
    value: Any


def config_path(home: str) -> str:
    """The user's settings file; it may not exist yet."""
    return os.path.join(home, CONFIG_FILE)


def set_value(
    home: str,
    key: str,
    text: str,
    check: Callable[[Path, Any], None] | None = None,
) -> Any:
    """Set a dotted key in the user's config.yaml; return the value written.

    Where the key takes text, `text` is that text; else it is YAML (`[a, b]`, `{use: mock}`, `5`,
    `null` to unset it). The rest of the file stays unchanged. `check` gets the new value with
    its key before anything is written, and may reject it.

    Raises:
        ConfigError: no such key, a wrong value, or a file that cannot be changed; then nothing
            was written.
    """
    path = known_path(key)
    value = _value(path, text)
    if check is not None:
        check(path, value)
    apply_changes(home, [Change(path, value)])
    return value


def apply_changes(home: str, changes: Sequence[Change]) -> None:
    """Put all of `changes` into the user's config.yaml, or none.

    Raises:
        ConfigError: the result would be invalid, or the file cannot be changed.
    """
    _change(home, lambda _: changes)


def change_list(home: str, key: str, item: str, *, add: bool) -> None:
    """Add a text to the list of texts at a dotted key, or remove it, in one step: concurrent
    changes of one list are all kept.

    Raises:
        ConfigError: the key takes no list of texts, the text to remove is not in the list, or the
            file or the result is invalid; then nothing was written.
    """
    path, file = known_path(key), config_path(home)
    shape = shape_at(path)
    if shape is None or shape.schema().get("items", {}).get("type") != "string":
        raise ConfigError(
            f"{key} is not a list of texts", where=key, hint=f"next: uwf config set {key} VALUE"
        )

    def changed(text: str) -> Sequence[Change]:
        leaf = read_settings(text.encode(), file).get(path)
        old: list[str] = [] if leaf is None else leaf.value
        if not add and item not in old:
            raise ConfigError(
                f"{item!r} is not in {key}",
                where=file,
                hint=f"it has: {', '.join(old) or 'nothing'}; `uwf config show --origin` lists the "
                "other places of the setting",
            )
        without = [each for each in old if each != item]
        return [Change(path, [*without, item] if add else without)]

    _change(home, changed)


def _change(home: str, changes_of: Callable[[str], Sequence[Change]]) -> None:
    """Apply the changes for the current text of the file, under its lock."""
    prepare_home(home)
    file = config_path(home)
    with _locked(home):
        old = settings_text(read_private(file) or b"", file)
        new, changes = old, changes_of(old)
        for change in changes:
            new = _edited(new, change, file)
        _check(old, new, changes, file)
        write_private(file, new)


def _value(path: Path, text: str) -> Any:
    from uwf_core.workflow.entered_fields import typed_value

    shape = shape_at(path)
    schema = {} if shape is None else shape.schema()
    try:
        return typed_value(text or "null", {"anyOf": [schema, {"type": "null"}]})
    except DefinitionError as error:
        raise as_config_error(error) from error


def _edited(text: str, change: Change, file: str) -> str:
    try:
        return with_value(text, change.path, change.value, file=file)
    except DefinitionError as error:
        raise as_config_error(error) from error


def _check(old: str, new: str, changes: Sequence[Change], file: str) -> None:
    """Reject a text with errors; if the file was valid before, report only the new errors."""
    try:
        read_settings(new.encode(), file)
    except ConfigError as error:
        if not _is_good(old, file):
            raise
        keys = ", ".join(key_text(change.path) for change in changes)
        raise ConfigError(error.message, where=keys, hint=error.hint) from error


def _is_good(text: str, file: str) -> bool:
    try:
        read_settings(text.encode(), file)
    except ConfigError:
        return False
    return True


@contextmanager
def _locked(home: str) -> Iterator[None]:
    """Lock the file, so that two concurrent changes are both kept."""
    file = os.path.join(home, _LOCK_FILE)
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ConfigError(
            f"cannot change the configuration: {error.strerror}",
            where=home,
            hint="check the permissions of the folder",
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
