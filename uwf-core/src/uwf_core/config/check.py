"""Validate a settings file against the table of keys: its values with places, or all errors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.config.keys import (
    CONFIG,
    Entry,
    Free,
    Kind,
    Leaf,
    ListOf,
    Named,
    Path,
    Scalar,
    Section,
    key_text,
)
from uwf_core.errors import ConfigError, DefinitionError

if TYPE_CHECKING:
    from uwf_core.workflow.problem import Place, Problem
    from uwf_core.workflow.yaml_source import YamlMapping, YamlNode


class _Wrong(Exception):
    """The value is invalid, and the problem has been recorded."""


def read_settings(data: bytes, file: str) -> dict[Path, Leaf]:
    """The values of a settings file, by key.

    Raises:
        ConfigError: it is not YAML, or has unknown keys or invalid values; see `problems`.
    """
    from uwf_core.workflow.yaml_source import compose_all

    composed = compose_all(settings_text(data, file), file=file)
    checker = _Checker(composed.problems)
    if composed.node is not None:
        checker.section(CONFIG, composed.node, ())
    if checker.problems:
        raise config_error(checker.problems, file)
    return checker.leaves


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


class _Checker:
    """Walks a document along the table; collects leaves and problems."""

    def __init__(self, problems: "Iterable[Problem]") -> None:
        self.problems = list(problems)
        self.leaves: dict[Path, Leaf] = {}

    def section(self, kind: Section | Named, node: "YamlNode", path: Path) -> None:
        """A mapping whose values are separate leaves."""
        mapping = self._mapping(node, path)
        if mapping is None:
            return
        for name, value in mapping.values.items():
            below = self._kind_below(kind, name, mapping, path)
            if below is None or _is_unset(value):
                continue
            here = (*path, name)
            if isinstance(below, Section | Named):
                self.section(below, value, here)
            else:
                self._leaf(below, value, here, mapping.keys[name].place)

    def _leaf(self, kind: Kind, node: "YamlNode", path: Path, place: "Place") -> None:
        try:
            self.leaves[path] = Leaf(self._value(kind, node, path), f"{place.file}:{place.line}")
        except _Wrong:
            return

    def _value(self, kind: Kind, node: "YamlNode", path: Path) -> Any:
        if isinstance(kind, Entry):
            return self._entry(kind, node, path)
        if isinstance(kind, ListOf):
            return self._list(kind, node, path)
        if isinstance(kind, Free):
            return self._free(node, path)
        assert isinstance(kind, Scalar)
        return self._scalar(kind, node, path)

    def _entry(self, kind: Entry, node: "YamlNode", path: Path) -> dict[str, Any]:
        mapping = self._mapping(node, path)
        if mapping is None:
            raise _Wrong
        entry = {}
        before = len(self.problems)
        for name, value in mapping.values.items():
            below = self._kind_below(kind, name, mapping, path)
            if below is not None and not _is_unset(value):
                try:
                    entry[name] = self._value(below, value, (*path, name))
                except _Wrong:
                    continue
        fault = kind.fault(entry) if len(self.problems) == before else None
        if fault is not None:
            self._report(node, "entry", f"{key_text(path)}: {fault}")
        return entry

    def _list(self, kind: ListOf, node: "YamlNode", path: Path) -> list[Any]:
        from uwf_core.workflow.yaml_source import YamlSequence

        if not isinstance(node, YamlSequence):
            self._report(node, "type", f"{key_text(path)} must be a list", "write [a, b]")
            raise _Wrong
        return [
            self._scalar(kind.item, item, (*path, str(at))) for at, item in enumerate(node.items)
        ]

    def _free(self, node: "YamlNode", path: Path) -> Any:
        from uwf_core.workflow.yaml_source import to_value

        self._mapping(node, path)
        return to_value(node)

    def _scalar(self, kind: Scalar, node: "YamlNode", path: Path) -> Any:
        from uwf_core.workflow.yaml_source import YamlScalar

        if isinstance(node, YamlScalar) and kind.accepts(node.value):
            return node.value
        hint = ""
        if kind.is_text and isinstance(node, YamlScalar) and kind.accepts(node.text):
            hint = f'put it in quotes: "{node.text}"'
        self._report(node, "type", f"{key_text(path)} must be {kind.what}", hint)
        raise _Wrong

    def _mapping(self, node: "YamlNode", path: Path) -> "YamlMapping | None":
        from uwf_core.workflow.yaml_source import YamlMapping

        if isinstance(node, YamlMapping):
            return node
        name = key_text(path) or "the configuration"
        self._report(node, "type", f"{name} must be a mapping", "write `key: value` lines")
        return None

    def _kind_below(
        self, kind: Section | Named | Entry, name: str, mapping: "YamlMapping", path: Path
    ) -> Kind | None:
        if isinstance(kind, Named):
            if name.strip():
                return kind.value
            self._report(mapping.keys[name], "name", f"{kind.what} needs a name")
            return None
        if name in kind.keys:
            return kind.keys[name]
        message = f"unknown key {key_text((*path, name))!r}"
        self._report(mapping.keys[name], "unknown-key", message, nearest(name, kind.keys))
        return None

    def _report(self, node: "YamlNode", code: str, message: str, hint: str = "") -> None:
        from uwf_core.workflow.problem import error_at

        self.problems.append(error_at(node.place, code, message, hint))


def _is_unset(node: "YamlNode") -> bool:
    """A key without a value (or null) is unset: the next layer decides."""
    from uwf_core.workflow.yaml_source import YamlScalar

    return isinstance(node, YamlScalar) and node.value is None


def nearest(name: str, known: Mapping[str, Any]) -> str:
    """Suggest the nearest name, else list all names."""
    import difflib

    lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    if near:
        return f"did you mean {lower[near[0]]}?"
    return f"known: {', '.join(known)}" if known else "none are known"
