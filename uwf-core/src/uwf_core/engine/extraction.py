"""Stage 9: validate a typed object, or find the output in a text with the extractors."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.agents.cleaning import clean_text
from uwf_core.api.extract import (
    NO_USAGE,
    ExtractProblem,
    ExtractReply,
)
from uwf_core.cas.codec import dotted
from uwf_core.cas.references import claims
from uwf_core.engine.labels import note
from uwf_core.engine.open_plugins import each_text
from uwf_core.extract.typed import check_structured, variant_for
from uwf_core.ids import Ref
from uwf_core.workflow.definition import SUSPEND
from uwf_core.workflow.variants import BODY, STATUS, Variant

if TYPE_CHECKING:
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.engine.engine import Engine


NODE_MARK, FILE_MARK = "cas_ref", '"format": "file"'
"""Parts of the JSON of a schema with fields that name nodes, and files to deliver."""


def extract_output(run: "Run", attempt: "Attempt") -> tuple[ExtractReply, str | None]:
    """The valid output of the reply, redacted, with the name of the first extractor that finds one:
    None for an object that the agent has typed. The files that it names are stored.

    If no extractor finds one, the errors are those of the first extractor, since the prompt
    describes its format. The usage of all of them is summed.

    Raises:
        InternalFailure: an extractor failed.
    """
    reply, request = attempt.reply, attempt.request
    assert reply is not None and request is not None
    schema = request.schema
    if reply.structured is not None:
        return _checked(run.engine, attempt, _typed(reply.structured), schema), None
    first: ExtractReply | None = None
    usage = NO_USAGE
    for each in run.plugins.extractors:
        found = each.extract(reply.text or "", schema)
        usage = usage.plus(found.usage)
        found = _checked(run.engine, attempt, found, schema)
        if found.output is not None:
            for notice in found.notices:
                note(run, attempt, notice)
            return found if first is None else found._replace(usage=usage), each.name
        first = first or found
    if first is None:
        return ExtractReply(), None
    return first._replace(usage=usage), None


def _typed(found: Mapping[str, Any]) -> ExtractReply:
    """A typed object, whose text `_body` is the body of the step."""
    body = found.get(BODY)
    return ExtractReply(output=found, body=clean_text(body) if isinstance(body, str) else "")


def _checked(
    engine: "Engine", attempt: "Attempt", reply: ExtractReply, schema: Mapping[str, Any]
) -> ExtractReply:
    """The reply as it is stored, with every text redacted once, here, and a valid output or none.

    The errors of an extractor are stored as well, and may quote the answer of its model.
    """
    body = engine.redactor.text(reply.body)
    if reply.output is None:
        errors = each_text(engine.redactor.text, reply.errors)
        return reply._replace(body=body, errors=errors)
    output = engine.redactor.value(dict(reply.output))
    checked = check_structured(schema, output)
    checked = checked._replace(body=body, usage=reply.usage, notices=reply.notices)
    if checked.output is None:
        return checked
    marks, wrong = json.dumps(schema), tuple[ExtractProblem, ...]()
    if NODE_MARK in marks:
        wrong = unknown_nodes(schema, checked.output, engine.store.present)
    if FILE_MARK in marks and not wrong:
        from uwf_core.engine.delivery import deliver  # not for every step

        wrong = deliver(engine, attempt, schema, checked.output)
    return checked._replace(output=None, errors=wrong) if wrong else checked


def unknown_nodes(
    schema: Mapping[str, Any],
    output: Mapping[str, Any],
    present: Callable[[set[str]], Collection[str]],
) -> tuple[ExtractProblem, ...]:
    """A problem for each reference to an unknown node, which would damage the store.

    Args:
        schema: of the role. output: valid by it.
        present: selects the references of nodes that exist.
    """
    variant = variant_for(schema, output[STATUS])
    assert isinstance(variant, Variant)
    if variant.status == SUSPEND:
        return ()
    named = {*claims(schema, output, sure=False), *claims(variant.schema, output)}
    stored = present({text for _, text in named if Ref.matches(text)})
    return tuple(
        ExtractProblem(dotted(keys), unknown_node(text))
        for keys, text in sorted(named, key=str)
        if text not in stored
    )


def unknown_node(text: str) -> str:
    """The problem of a text that is not the reference of a node."""
    return f"unknown node {text[:80]!r}"
