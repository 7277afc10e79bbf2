"""Replace texts of a workflow file; comments and formatting of the rest stay."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from uwf_core.errors import UsageError

_UNPRINTABLE: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\u2028\u2029]"
)


def with_texts(text: str, texts: Mapping[str, str]) -> str:
    """The file with other texts at these places (`roles.writer.goal`, `graph.a.b.prompt`).

    Raises:
        UsageError: the file has no such place, or a text has characters that YAML cannot have.
    """
    try:
        for place, new in texts.items():
            text = _with_text(text, place, new)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"the texts cannot be written as YAML: {reason}") from error
    return text


def _with_text(text: str, place: str, new: str) -> str:
    root = yaml.compose(text, yaml.SafeLoader)
    path = path_of(root, place)
    if path is None:
        raise UsageError(
            f"the workflow has no text {place!r}",
            hint="`uwf improve reflect W --show-prompt` lists the places",
        )
    parent, key = path
    found = next((each for each in parent.value if each[0].value == key), None)
    if found is None:
        first = parent.value[0][0].start_mark
        if parent.flow_style:
            return f"{text[: first.index]}{key}: {_quoted(new)}, {text[first.index :]}"
        line = f"{key}: {_written(new, first.column)}"
        return f"{text[: first.index]}{line}\n{' ' * first.column}{text[first.index :]}"
    name, value = found
    begin, end = value.start_mark.index, value.end_mark.index
    column = None if parent.flow_style else name.start_mark.column
    written = _quoted(new) if column is None else _written(new, column)
    if text[begin:end].endswith("\n"):  # a block ends with its line
        written += "\n"
        blank = text[begin:end]
        written += "\n" * (len(blank) - len(blank.rstrip("\n")) - 1)
    return text[:begin] + written + text[end:]


def _written(new: str, column: int) -> str:
    """A text as the value of a key in this column."""
    is_block = "\n" in new.strip("\n") and new == new.rstrip() + "\n" and not new[:1].isspace()
    if not is_block or _UNPRINTABLE.search(new):
        return _quoted(new)
    indent = " " * (column + 2)
    lines = [f"{indent}{line}".rstrip() for line in new.rstrip("\n").split("\n")]
    return "|\n" + "\n".join(lines)


def _quoted(new: str) -> str:
    """A text in double quotes: JSON, with escapes for what YAML rejects or takes for a line end."""
    text = json.dumps(new, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def path_of(root: Any, place: str) -> tuple[yaml.MappingNode, str] | None:
    """The mapping that has or could have the last part of a place. Keys may contain dots."""
    return _descend(root, place.split("."))


def _descend(node: Any, parts: Sequence[str]) -> tuple[yaml.MappingNode, str] | None:
    if not isinstance(node, yaml.MappingNode) or not node.value:
        return None
    if len(parts) == 1:
        return node, parts[0]
    for size in range(1, len(parts)):
        key = ".".join(parts[:size])
        for name, value in node.value:
            if name.value == key:
                found = _descend(value, parts[size:])
                if found is not None:
                    return found
    return None
