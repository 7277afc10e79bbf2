"""Read a settings file: its values with places, or all errors."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from uwf_core.config.keys import Config, Leaf, Path
from uwf_core.errors import ConfigError, DefinitionError
from uwf_core.shape.kinds import MapOf, RecordOf, Shape
from uwf_core.shape.shapes import shape_of

if TYPE_CHECKING:
    from uwf_core.workflow.problem import Problem
    from uwf_core.workflow.yaml_source import YamlMapping


def read_settings(data: bytes, file: str) -> dict[Path, Leaf]:
    """The values of a settings file, by key.

    Raises:
        ConfigError: it is not YAML, or has unknown keys or invalid values; see `problems`.
    """
    from uwf_core.workflow.yaml_shape import read_shape
    from uwf_core.workflow.yaml_source import YamlMapping, compose_all

    composed = compose_all(settings_text(data, file), file=file)
    if composed.node is None and not composed.problems:
        return {}
    problems = list(composed.problems)
    if composed.node is not None:
        problems += read_shape(Config, composed.node, name="the configuration")[1]
    if problems:
        raise config_error(problems, file)
    assert isinstance(composed.node, YamlMapping)
    return dict(_leaves(shape_of(Config), composed.node, ()))


def _leaves(shape: Shape, mapping: "YamlMapping", path: Path) -> "Iterator[tuple[Path, Leaf]]":
    """The values that a layer sets as a whole: a record in a mapping by names is one of them.

    A key without a value is unset: the next layer decides.
    """
    from uwf_core.workflow.yaml_source import YamlMapping, to_value

    for name, node in mapping.values.items():
        inner, here = shape.at(name), (*path, name)
        is_record = isinstance(inner, RecordOf) and isinstance(shape, RecordOf)
        if isinstance(node, YamlMapping) and (is_record or isinstance(inner, MapOf)):
            assert inner is not None
            yield from _leaves(inner, node, here)
            continue
        value = to_value(node)
        if isinstance(value, dict):
            value = {key: each for key, each in value.items() if each is not None}
        place = mapping.keys[name].place
        if value is not None:
            yield here, Leaf(value, f"{place.file}:{place.line}")


def settings_text(data: bytes, file: str) -> str:
    """The bytes of a settings file as text.

    Raises:
        ConfigError: they are not UTF-8, or too long.
    """
    from uwf_core.workflow.yaml_source import decode

    try:
        return decode(data, file=file)
    except DefinitionError as error:
        raise as_config_error(error) from error


def as_config_error(error: DefinitionError) -> ConfigError:
    """A YAML error as a configuration error."""
    return ConfigError(error.message, where=error.where, hint=error.hint, problems=error.problems)


def config_error(problems: "Sequence[Problem]", file: str) -> ConfigError:
    """All errors of a file as one; a single error keeps its place and hint."""
    documents = [problem.document() for problem in problems]
    first = problems[0]
    if len(problems) == 1:
        return ConfigError(
            first.message, where=str(first.place), hint=first.hint or None, problems=documents
        )
    lines = "".join(f"\n  {problem}" for problem in problems)
    return ConfigError(
        f"{len(problems)} errors:{lines}", where=file, hint="fix each of them", problems=documents
    )
