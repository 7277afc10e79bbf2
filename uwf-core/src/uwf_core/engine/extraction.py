"""Stage 9: validate a typed object, or find the output in a text with the extractors."""

# Loaded by every step: pathlib is not imported for that.
# ruff: noqa: PTH118

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uwf_core.agents.cleaning import clean_text
from uwf_core.api.agent import AgentContext
from uwf_core.api.extract import (
    NO_USAGE,
    Extractor,
    ExtractProblem,
    ExtractReply,
    ExtractRequest,
)
from uwf_core.cas.codec import dotted
from uwf_core.cas.references import claims
from uwf_core.errors import AgentFailure, InternalFailure
from uwf_core.extract.typed import check_structured, variant_for
from uwf_core.ids import Ref
from uwf_core.plugins.scan import EXTRACTORS
from uwf_core.workflow.definition import SUSPEND
from uwf_core.workflow.variants import BODY, STATUS, Variant

if TYPE_CHECKING:
    from uwf_core.engine.attempt import Attempt
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.run import Run


NODE_MARK, FILE_MARK = "cas_ref", '"format": "file"'
"""Parts of the JSON of a schema with fields that name nodes, and files to deliver."""


class OpenExtractor:
    """An extractor that is ready to be called."""

    def __init__(self, engine: "Engine", name: str) -> None:
        plugins = engine.plugins
        self.name = name
        self._guard, self._origin = plugins.guard, str(plugins.found(EXTRACTORS, name))
        self._model = engine.extract_model
        spec = plugins.record(EXTRACTORS, name)
        factory = plugins.attribute(EXTRACTORS, name, spec.factory)
        self._options = (
            plugins.attribute(EXTRACTORS, name, spec.options)() if spec.options else None
        )
        folder = os.path.join(engine.home, "extractors", name)
        context = AgentContext(name=name, state_dir=folder)
        with self._guard, _named_failure(self._origin):
            self._made: Extractor = factory(self._options, context)

    def extract(self, raw: str, schema: Mapping[str, Any]) -> ExtractReply:
        """Call it.

        Raises:
            InternalFailure: it failed, or returned something else than an `ExtractReply`.
        """
        request = ExtractRequest(raw=raw, schema=schema, model=self._model, options=self._options)
        with self._guard, _named_failure(self._origin):
            reply = self._made.extract(request)
            if not isinstance(reply, ExtractReply):
                raise TypeError(f"it returned {type(reply).__name__}, not an ExtractReply")
            if not isinstance(reply.output, Mapping | None):
                raise TypeError(f"its output is {type(reply.output).__name__}, not a mapping")
            errors = _each_text(clean_text, reply.errors)
            notices = tuple(map(clean_text, reply.notices))
            return reply._replace(body=clean_text(reply.body), errors=errors, notices=notices)


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
                attempt.note(run, notice)
            return found._replace(usage=usage), each.name
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
        errors = _each_text(engine.redactor.text, reply.errors)
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


def _each_text(
    change: Callable[[str], str], problems: Iterable[ExtractProblem]
) -> tuple[ExtractProblem, ...]:
    return tuple(ExtractProblem(change(each.path), change(each.message)) for each in problems)


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


@contextmanager
def _named_failure(extractor: str) -> Iterator[None]:
    """Report an error of an extractor, other than a failure of an agent, with the extractor."""
    try:
        yield
    except (KeyboardInterrupt, AgentFailure):
        raise
    except BaseException as error:
        raise InternalFailure(
            f"the extractor {extractor} failed with {type(error).__name__}: {error}",
            hint="next: uwf config set extractors '[frontmatter]'",
        ) from error
