"""Set values in the text of config.yaml and keep every other character.

Libraries that keep comments (ruamel.yaml 0.19 was tried) rebuild the text: they change the
indentation, drop quotes, and move a comment above the next section into the one that
a key is added to. Here the spans of the nodes come from PyYAML's events, the text is cut there,
and the result is parsed again: unless it has exactly the new value, nothing is changed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.config.keys import Path, key_text
from uwf_core.errors import ConfigError, DefinitionError
from uwf_core.yaml.nodes import plain_value
from uwf_core.yaml.source import parse_yaml

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@+~-")
_STEP = "  "
_BLANKS = " \t\r\n\x85\u2028\u2029"  # of YAML: a no-break space is text


def with_value(text: str, path: Path, value: Any, *, file: str) -> str:
    """Return the text with `value` (JSON-like) at `path`, and nothing else changed.

    Raises:
        DefinitionError: `text` is not YAML that uwf reads.
        ConfigError: the place cannot be changed without touching others (an anchor, an alias).
    """
    if 0 < text.count("\r\n") == text.count("\n"):
        lines = with_value(text.replace("\r\n", "\n"), path, value, file=file)
        return lines.replace("\n", "\r\n")
    before = parse_yaml(text, file=file)
    wanted = _canonical(_with(before, path, value))
    if _canonical(before) == wanted:
        return text
    try:
        changed = _changed(text, path, value)
        if _canonical(parse_yaml(changed, file=file)) == wanted:
            return changed
    except (_CannotEdit, DefinitionError) as error:
        raise _refused(path, file) from error
    raise _refused(path, file)


class _CannotEdit(Exception):
    """There is no place for the value in this text."""


class _Span:
    """A node of the text: its kind (scalar, alias, list, map) and its span.

    `entries` are a map's keys (text and end of the key) with their values, in order; of a list its
    items, the text of each in place of the key.
    """

    def __init__(self, kind: str, start: int, end: int, column: int, flow: bool = False) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.column = column
        self.flow = flow
        self.entries: list[tuple[str, int, _Span]] = []

    def entry(self, name: str) -> "tuple[int, _Span] | None":
        """End of the key and value of that name."""
        return next(((end, value) for key, end, value in self.entries if key == name), None)


def _refused(path: Path, file: str) -> ConfigError:
    return ConfigError(
        f"{key_text(path)} cannot be set without changing other keys",
        where=file,
        hint="edit the file by hand",
    )


def _with(document: Any, path: Path, value: Any) -> Any:
    """The value that the document has once `path` is set."""
    if not path:
        return value
    inner = document if isinstance(document, dict) else {}
    return {**inner, path[0]: _with(inner.get(path[0]), path[1:], value)}


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)  # unlike ==, it distinguishes 1, 1.0 and true


def _changed(text: str, path: Path, value: Any) -> str:
    root = _spans(text)
    if root is None or root.start == root.end:
        lines = "".join(f"{line}\n" for line in _block(path, value, ""))
        return _ended(text) + lines
    node = root
    for depth, name in enumerate(path):
        if node.kind != "map":
            raise _CannotEdit
        found = node.entry(name)
        if found is None:
            return _inserted(text, node, path[depth:], value)
        key_end, child = found
        rest = path[depth + 1 :]
        if not rest or (child.kind == "scalar" and _is_null(text, child)):
            return _replaced(text, node, (key_end, child), _nested(rest, value))
        node = child
    raise _CannotEdit


def _inserted(text: str, node: _Span, path: Path, value: Any) -> str:
    """The text with a further entry at the end of a map."""
    if node.flow:
        new = f"{_scalar(path[0])}: {_flow(_nested(path[1:], value))}"
        if not node.entries:
            return f"{text[: node.start + 1]}{new}{text[node.start + 1 :]}"
        at = node.entries[-1][2].end
        return f"{text[:at]}, {new}{text[at:]}"
    at = _line_end(text, node.end)
    lines = "".join(f"{line}\n" for line in _block(path, value, " " * node.column))
    return _ended(text[:at]) + lines + text[at:]


def _replaced(text: str, above: _Span, place: tuple[int, _Span], value: Any) -> str:
    """The text with another value for an existing entry."""
    key_end, node = place
    if node.kind == "alias":
        raise _CannotEdit
    in_block = not above.flow and isinstance(value, dict) and bool(value)
    indent = " " * max(above.column + len(_STEP), 0 if node.flow else node.column)
    lines = "".join(f"{line}\n" for line in _entries(value, indent)) if in_block else ""
    if node.kind == "scalar" or node.flow:
        if in_block and node.start == node.end:
            at = _line_end(text, node.end)
            return _ended(text[:at]) + lines + text[at:]
        blank = "" if text[node.start - 1] in _BLANKS else " "
        return f"{text[: node.start]}{blank}{_flow(value)}{text[node.end :]}"
    colon = text.index(":", key_end) + 1
    if in_block:
        return f"{text[:colon]}\n{lines.rstrip(_BLANKS)}{text[node.end :]}"
    if node.kind == "list" and (items := _items(text, colon, node, value)):
        return items
    return f"{text[:colon]} {_flow(value)}{text[node.end :]}"


def _items(text: str, colon: int, node: _Span, value: Any) -> str | None:
    """The text with other items in a block list: the lines of those that stay, and the comments
    between them, are kept. None if an item is not text, or not on the line of its dash.
    """
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        return None
    gone, new = [], list(value)
    for name, _, item in node.entries:
        if new[:1] == [name]:
            del new[0]
        else:
            gone.append(item)
    dashes = [_line_to(text, item.start) for _, _, item in node.entries]
    if any(each.strip() != "-" for each in dashes):
        return None
    end = _line_end(text, node.end)
    lines = "".join(f"{dashes[0]}{_scalar(each)}\n" for each in new)
    head, after = _ended(text[:end]), text[end:]
    for item in reversed(gone):
        start = item.start - len(_line_to(text, item.start))
        head = head[:start] + head[_line_end(head, item.end) :]
    if len(gone) < len(dashes):
        return head + lines + after
    if text[colon : _line_end(text, colon)].partition("#")[0].strip():  # an anchor
        return None
    return f"{head[:colon]} {_flow(value)}{head[colon:]}{after}"


def _line_to(text: str, at: int) -> str:
    """The line that `at` is on, up to there."""
    return text[text.rfind("\n", 0, at) + 1 : at]


def _nested(path: Path, value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _is_null(text: str, node: _Span) -> bool:
    return plain_value(text[node.start : node.end]) is None


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _line_end(text: str, at: int) -> int:
    """The end of the line that `at` is on, its comment included."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _entries(mapping: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, each in mapping.items():
        yield from _block((key,), each, indent)


def _block(path: Path, value: Any, indent: str) -> Iterator[str]:
    """The lines of an entry in block style; lists and empty mappings in flow style."""
    value = _nested(path[1:], value)
    if isinstance(value, dict) and value:
        yield f"{indent}{_scalar(path[0])}:"
        yield from _entries(value, indent + _STEP)
    else:
        yield f"{indent}{_scalar(path[0])}: {_flow(value)}"


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{_scalar(key)}: {_flow(each)}" for key, each in value.items()) + "}"
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """A scalar as YAML: text without quotes if that is certain to be the same text."""
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = (
        bool(value)
        and _PLAIN.issuperset(value)
        and value[0] not in "-:@"
        and value[-1] != ":"
        and plain_value(value) == value
        and value not in ("y", "n", "yes", "no", "on", "off")  # other readers take these as bools
    )
    return value if is_plain else "".join(map(_escaped, json.dumps(value, ensure_ascii=False)))


def _escaped(character: str) -> str:
    """A character of a JSON text as YAML's double quotes may hold it."""
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _spans(text: str) -> _Span | None:
    """The root of the document; None if it has only comments."""
    import yaml

    root: _Span | None = None
    stack: list[tuple[_Span, list[tuple[str, _Span]]]] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        kind = type(event).__name__
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            stack.append((_opened(event, "map" if kind == "MappingStartEvent" else "list"), []))
            continue
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            done, children = stack.pop()
            key = ""
            _close(done, children, event)
        elif kind in ("ScalarEvent", "AliasEvent"):
            done, key = _leaf(text, event)
        else:
            continue
        if stack:
            stack[-1][1].append((key, done))
        else:
            root = done
    return root


def _opened(event: Any, kind: str) -> _Span:
    mark = event.start_mark
    return _Span(kind, mark.index, mark.index, mark.column, bool(event.flow_style))


def _leaf(text: str, event: Any) -> tuple[_Span, str]:
    start, end = event.start_mark.index, event.end_mark.index
    end = start + len(
        text[start:end].rstrip(_BLANKS)
    )  # a block scalar's span has the line end in it
    kind = "scalar" if hasattr(event, "value") else "alias"
    return _Span(kind, start, end, event.start_mark.column), getattr(event, "value", "")


def _close(node: _Span, children: list[tuple[str, _Span]], event: Any) -> None:
    """Set the entries and the end of a collection: a block one ends with its last child."""
    node.end = event.end_mark.index if node.flow or not children else children[-1][1].end
    if node.kind != "map":
        node.entries = [(name, item.start, item) for name, item in children]
        return
    if not node.flow and children:
        node.column = children[0][1].column  # an anchor may precede the first key
    for (name, key), (_, value) in zip(children[::2], children[1::2], strict=True):
        node.entries.append((name, key.end, value))
