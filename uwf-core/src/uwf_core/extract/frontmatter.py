"""The built-in extractor: YAML frontmatter at the start of the reply, the body after it."""

from collections.abc import Sequence
from typing import Any

from uwf_core.api.extract import ExtractProblem, ExtractReply, ExtractRequest
from uwf_core.extract.split import split_reply
from uwf_core.extract.typed import checked, keeps, variant_for
from uwf_core.workflow.entered_fields import value_of
from uwf_core.workflow.lattice import at
from uwf_core.workflow.variants import BODY, STATUS
from uwf_core.yaml.nodes import YamlMapping, YamlScalar
from uwf_core.yaml.problem import Problem
from uwf_core.yaml.source import compose_texts


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
        text, line, body, noted = reply
        composed = compose_texts(text, file="reply")
        if composed.problems:
            return ExtractReply(body=body, errors=_yaml_errors(composed.problems, line))
        fields = composed.node
        if not isinstance(fields, YamlMapping):
            found = "nothing" if fields is None else "one text or a list"
            return _refused(
                f"the frontmatter holds {found}; write one field per line, `name: value`"
            )
        own_body = fields.values.get(BODY)
        if noted and not body and isinstance(own_body, YamlScalar):
            body = own_body.text
        extracted = _typed(request, fields, body)
        return extracted._replace(notices=(noted,)) if noted else extracted


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


def _yaml_errors(problems: Sequence[Problem], first_line: int) -> tuple[ExtractProblem, ...]:
    """The errors in the YAML, at the lines of the reply."""
    return tuple(
        ExtractProblem(
            path="",
            message=f"line {each.line + first_line - 1}, column {each.column}: {each.message}"
            + (f" ({each.hint})" if each.hint else ""),
        )
        for each in problems
    )
