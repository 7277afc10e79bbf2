"""YAML text to nodes with positions, and from those to values: YAML 1.2 core schema, with limits.

Composed from PyYAML's event stream, for three reasons: PyYAML's own composer recurses and takes
the process down on deep nesting, its resolver is YAML 1.1 (`on`, `12:30` and dates would change),
and the events carry positions. What a text cannot say here:

- tags other than `!include` (and that one only where the caller allows it), duplicate keys,
  several documents, aliases into themselves;
- more than 1 MB of text, 64 levels, or 100,000 nodes after the expansion of aliases.
"""

from typing import Any

from uwf_core.yaml.composer import (
    INCLUDE,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Composed,
    Composer,
    place_after,
    too_large,
)
from uwf_core.yaml.nodes import (
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    to_value,
)
from uwf_core.yaml.problem import as_definition_error, error_at

__all__ = [
    "INCLUDE", "MAX_BYTES", "MAX_DEPTH", "MAX_NODES", "Composed", "YamlMapping", "YamlNode",
    "YamlScalar", "YamlSequence", "compose", "compose_all", "compose_texts", "decode", "parse_yaml",
    "to_value",
]  # fmt: skip

_MOST_ROUNDS = 20
"""Of reading a text again, each with more comments as text."""


def parse_yaml(text: str, *, file: str) -> Any:
    """Parse a YAML document (None for an empty one); `file` is its name in errors.

    Raises:
        DefinitionError: it is not YAML or has what this module rejects; `where` is
            `file:line:column`, `problems` has every error found.
    """
    node = compose(text, file=file)
    return None if node is None else to_value(node)


def compose(text: str, *, file: str, include: bool = False) -> YamlNode | None:
    """The document as nodes, None for an empty one. `include` allows the tag `!include`.

    Raises:
        DefinitionError: as `parse_yaml`.
    """
    composed = compose_all(text, file=file, include=include)
    if composed.problems:
        raise as_definition_error(composed.problems)
    return composed.node


def compose_all(text: str, *, file: str, include: bool = False) -> Composed:
    """Like `compose`, but returns the errors instead of raising.

    Duplicate keys and forbidden tags leave the rest readable; other errors give no node.
    """
    return Composer(file, include).compose(text)


def compose_texts(text: str, *, file: str) -> Composed:
    """Like `compose_all`, with each comment that may belong to a plain text read as part of it:
    such a scalar has both, its `text` and the `whole`.
    """
    plain: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        composer = Composer(file, include=False, plain=plain)
        composed = composer.compose(text)
        if composer.signs <= plain:
            break
        plain |= composer.signs
    return composed


def decode(data: bytes, *, file: str) -> str:
    """Decode the bytes of a text file.

    Raises:
        DefinitionError: over 1 MB, or not UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise as_definition_error([too_large(file)])
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        problem = error_at(
            place_after(good, file),
            "not-utf-8",
            f"the byte 0x{data[error.start]:02x} is not UTF-8",
            "save the file as UTF-8",
        )
        raise as_definition_error([problem]) from error
