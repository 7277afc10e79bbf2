"""Texts of a file that end where YAML reads a comment: `prompt: Issue #12 has {{text}}`."""

import re
from collections.abc import Iterator
from typing import Final

from uwf_core.fields.mismatch import short
from uwf_core.workflow.problem import Problem, error_at, warning_at
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence

_PROSE: Final = frozenset(
    (
        *("argv", "criteria", "criterion", "description", "goal", "handed", "instructions"),
        *("location", "output", "procedure", "prompt", "question", "result", "rubric", "title"),
    )
)
"""Keys of workflows, tasks and calibration sets that hold sentences or templates."""

_COMMENT = re.compile(r"(?<!\S)#(.*)")
_MEANT = re.compile(r"\w|\{\{")
_TAG = re.compile(r"\{\{.*?\}\}")


def check_comments(root: YamlNode) -> Iterator[Problem]:
    """Each plain text in a key for sentences whose end is a comment to YAML, but hardly to its
    writer: it continues with a digit, a letter or a template. A template that is lost is an error.
    """
    stack: list[tuple[str, YamlNode]] = [("", root)]
    while stack:
        key, node = stack.pop()
        if isinstance(node, YamlMapping):
            stack.extend(node.values.items())
        elif isinstance(node, YamlSequence):
            stack.extend((key, item) for item in node.items)
        elif isinstance(node, YamlScalar) and node.whole != node.text and key in _PROSE:
            yield from _problem(key, node)


def _problem(key: str, node: YamlScalar) -> Iterator[Problem]:
    for number, line in enumerate(node.whole.split("\n")):
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        is_meant = _MEANT.match(comment[1]) is not None
        is_own_line = number > 0 and comment.start() == 0
        tag = None if is_own_line and not is_meant else _TAG.search(comment[1])
        if tag is None and not is_meant:
            continue
        lost = f"the template {short(tag[0])}" if tag else f"{short(comment[0])!r}"
        message = f"{key} ends before {lost}: in a text without quotes, ` #` begins a comment"
        hint = f"put the text in quotes, or after `{key}: |`; write a comment as `# …` above it"
        at = error_at if tag else warning_at
        yield at(node.place, "text-ends-at-comment", message, hint)
        return
