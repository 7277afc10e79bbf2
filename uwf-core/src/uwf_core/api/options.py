"""Read a plugin's options from the configuration into the plugin's dataclass."""

from collections.abc import Mapping
from typing import Any, TypeVar

from uwf_core.api.fields import FieldFault, read_record
from uwf_core.errors import ConfigError

_Options = TypeVar("_Options")


def read_options(cls: type[_Options], mapping: Mapping[str, Any], *, where: str) -> _Options:
    """Read options of class `cls` from `mapping`.

    A key of the configuration is the camelCase form of the field's name (`maxTurns` for
    `max_turns`) and nothing else. A `ValueError` of the class's `__post_init__` becomes a
    `ConfigError` too.

    Args:
        cls: a (frozen) dataclass; its fields are of the types that `uwf_core.api.fields` names.
        mapping: the options in the configuration.
        where: the place of `mapping`, such as `agents -> hermes`.

    Raises:
        ConfigError: an unknown key (with the nearest name), a wrong type, a missing option; its
            `where` is the whole path, such as `agents -> hermes -> timeout`.
        TypeError: `cls` is not such a dataclass.
    """
    try:
        return read_record(cls, mapping)
    except FieldFault as fault:
        place = " -> ".join((where, *map(str, fault.path)))
        subject = f"{fault.path[-1]} " if fault.path else ""
        raise ConfigError(subject + fault.message, where=place, hint=fault.hint) from fault
