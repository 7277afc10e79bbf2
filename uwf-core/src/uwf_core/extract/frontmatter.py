"""The built-in extractor: YAML frontmatter at the start of the reply, the body after it."""

import re
from typing import Any

from uwf_core.api.extract import ExtractProblem, ExtractReply, ExtractRequest
from uwf_core.errors import DefinitionError
from uwf_core.extract.typed import checked, keeps, variant_for
from uwf_core.workflow.variants import STATUS
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlScalar, at, value_of
from uwf_core.workflow.yaml_source import compose

_BEGIN = re.compile(r"\ufeff?(?:[ \t]*\r?\n)*---[ \t]*(?:\r?\n|\Z)")
_END = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")
_SHOWN = 80


class FrontmatterExtractor:
    """Read a reply that begins with YAML frontmatter. Invalid text gives errors, no exception.

    It is created like an agent: with options (it has none) and a context (it needs none).
    """

    def __init__(self, options: Any = None, context: Any = None) -> None:
        del options, context

    def extract(self, request: ExtractRequest) -> ExtractReply:
        """The output and the body, or every error with its place.

        Raises:
            DefinitionError: the *schema* has no clear variants (impossible in a checked workflow).
        """
        reply = split_reply(request.raw)
        if isinstance(reply, str):
            return _refused(reply)
        text, line, body = reply
        try:
            fields = compose(text, file="reply")
        except DefinitionError as error:
            return ExtractReply(body=body, errors=_yaml_errors(error, line))
        if not isinstance(fields, YamlMapping):
            found = "nothing" if fields is None else "one text or a list"
            return _refused(
                f"the frontmatter holds {found}; write one field per line, `name: value`"
            )
        return _typed(request, fields, body)


def _typed(request: ExtractRequest, fields: YamlMapping, body: str) -> ExtractReply:
    node = fields.values.get(STATUS)
    if node is not None and not isinstance(node, YamlScalar):
        problem = ExtractProblem(path=STATUS, message="is a list or mapping; it must be one word")
        return ExtractReply(body=body, errors=(problem,))
    variant = variant_for(request.schema, node.text if node else None)
    if isinstance(variant, ExtractProblem):
        return ExtractReply(body=body, errors=(variant,))
    output = {
        name: value_of(each, at(variant.schema, name))
        for name, each in fields.values.items()
        if keeps(variant, name)
    }
    return checked(request.schema, variant, output, body)


def _refused(message: str) -> ExtractReply:
    return ExtractReply(errors=(ExtractProblem(path="", message=message),))


def _yaml_errors(error: DefinitionError, first_line: int) -> tuple[ExtractProblem, ...]:
    """The errors in the YAML, at the lines of the reply."""
    return tuple(
        ExtractProblem(
            path="",
            message=f"line {each['line'] + first_line - 1}, column {each['column']}: "
            f"{each['message']}" + (f" ({each['hint']})" if each.get("hint") else ""),
        )
        for each in error.problems
    )


def split_reply(raw: str) -> tuple[str, int, str] | str:
    """Split `raw`, or describe what was found instead.

    Returns:
        The frontmatter; its first line in the reply, from 1; and the body, without blank lines
        before it and white space after it (later `---` lines are kept).

    The first line that is not blank must be `---` (a byte order mark before it is allowed); the
    next line that is `---` ends the frontmatter.
    """
    begin = _BEGIN.match(raw)
    if begin is None:
        return _found_instead(raw)
    end = _END.search(raw, begin.end())
    if end is None:
        return "the frontmatter has no end: a second line that is exactly `---` is missing"
    body = raw[end.end() :]
    blank = _BLANK_LINES.match(body)
    return (
        raw[begin.end() : end.start()],
        raw.count("\n", 0, begin.end()) + 1,
        body[blank.end() if blank else 0 :].rstrip(),
    )


def _found_instead(raw: str) -> str:
    text = raw.removeprefix("\ufeff").strip()
    if not text:
        return "the reply is empty"
    first = text.split("\n", 1)[0].rstrip()
    shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN]}…"
    later = _END.search(raw)
    if first.startswith(("```", "~~~")):
        found = f"it begins with a code fence ({shown}); remove the fence"
    elif first.startswith("---"):
        found = f"its first line is {shown!r}, not `---` alone at the left margin"
    elif later:
        lines = raw.count("\n", 0, later.start())
        stand = "line is" if lines == 1 else "lines are"
        found = f"{lines} {stand} before the first `---` line: {shown!r}"
    elif first.startswith(("{", "[")):
        found = f"it begins with JSON: {shown!r}"
    else:
        found = f"it begins with {shown!r}"
    return f"the reply does not begin with a `---` line; {found}"
