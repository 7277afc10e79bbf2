"""Stage 9's choice: a typed object is checked as it is, text goes through the extractors."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.agents.cleaning import clean_text
from uwf_core.api.agent import AgentContext, AgentReply
from uwf_core.api.extract import (
    NO_USAGE,
    Extractor,
    ExtractProblem,
    ExtractReply,
    ExtractRequest,
)
from uwf_core.cas.codec import dotted
from uwf_core.cas.references import claims
from uwf_core.cas.schemas import CompiledSchema
from uwf_core.errors import AgentFailure, InternalFailure, PayloadError
from uwf_core.extract.typed import check_structured, variant_for
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.plugins.scan import EXTRACTORS
from uwf_core.workflow.variants import STATUS, SUSPEND, Variant

if TYPE_CHECKING:
    from uwf_core.api.agent import Model
    from uwf_core.engine.engine import Engine


class OpenExtractor(NamedTuple):
    """An extractor ready to be called, and what each of its requests carries."""

    name: str
    origin: str
    made: Extractor
    options: Any
    model: "Model | None"


def open_extractors(engine: "Engine") -> list[OpenExtractor]:
    """The extractors of the configuration, in the order in which they are tried.

    Raises:
        PluginError, PluginBroken: one of them cannot be loaded.
        ConfigError: the model for extraction is at fault.
    """
    return [_open(engine, name) for name in engine.settings.extractors]


def _open(engine: "Engine", name: str) -> OpenExtractor:
    plugins = engine.plugins
    spec = plugins.record(EXTRACTORS, name)
    factory = plugins.attribute(EXTRACTORS, name, spec.factory)
    options = plugins.attribute(EXTRACTORS, name, spec.options)() if spec.options else None
    context = AgentContext(name=name, state_dir=str(Path(engine.home, "extractors", name)))
    origin = str(plugins.found(EXTRACTORS, name))
    with plugins.guard, _its_fault(origin):
        made = factory(options, context)
    return OpenExtractor(name, origin, made, options, engine.extract_model)


def extract(
    engine: "Engine",
    extractors: Sequence[OpenExtractor],
    reply: AgentReply,
    schema: Mapping[str, Any],
) -> tuple[ExtractReply, str | None]:
    """The typed output of a reply, by the first extractor that finds a valid one, and the name of
    that: None for an object that the agent has typed itself.

    Where none does, the errors are those of the first extractor, which the deliverable format
    speaks of. The usage of all that were tried is summed.

    Raises:
        InternalFailure: an extractor failed.
    """
    if reply.structured is not None:
        return _checked(engine, ExtractReply(output=reply.structured), schema), None
    first: ExtractReply | None = None
    usage = NO_USAGE
    for each in extractors:
        found = _called(engine, each, reply.text or "", schema)
        usage = usage.plus(found.usage)
        found = _checked(engine, found, schema)
        if found.output is not None:
            return found._replace(usage=usage), each.name
        first = first or found
    if first is None:
        return ExtractReply(), None
    return ExtractReply(body=first.body, errors=first.errors, usage=usage), None


def _called(
    engine: "Engine", opened: OpenExtractor, raw: str, schema: Mapping[str, Any]
) -> ExtractReply:
    """What an extractor says of a text, its body made storable."""
    request = ExtractRequest(raw=raw, schema=schema, model=opened.model, options=opened.options)
    with engine.plugins.guard, _its_fault(opened.origin):
        reply = opened.made.extract(request)
        if not isinstance(reply, ExtractReply):
            raise TypeError(f"it gave {type(reply).__name__}, no ExtractReply")
        if not isinstance(reply.output, Mapping | None):
            raise TypeError(f"its output is {type(reply.output).__name__}, no mapping")
        return reply._replace(body=clean_text(reply.body))


def _checked(engine: "Engine", reply: ExtractReply, schema: Mapping[str, Any]) -> ExtractReply:
    """The reply of any extractor, its output as it will be stored, and held to what it must be."""
    if reply.output is None:
        return reply
    output = engine.redactor.value(dict(reply.output))
    checked = check_structured(schema, output)._replace(body=reply.body, usage=reply.usage)
    wrong = () if checked.output is None else _problems(engine, schema, checked.output)
    return checked._replace(output=None, errors=wrong) if wrong else checked


def schema_fault(form: Mapping[str, Any]) -> str | None:
    """Why no answer could ever be checked against a form; None if one can."""
    try:
        CompiledSchema(form)
    except PayloadError as error:
        return f"{error.where}: {error.message}" if error.where else error.message
    return None


def _problems(
    engine: "Engine", schema: Mapping[str, Any], output: Mapping[str, Any]
) -> tuple[ExtractProblem, ...]:
    """A problem for each text that has to name a node and names none, which would be damage, and
    for a form that is no schema.
    """
    variant = variant_for(schema, output[STATUS])
    assert isinstance(variant, Variant)
    if variant.status == SUSPEND:
        fault = schema_fault(output.get("form", {}))
        return () if fault is None else (ExtractProblem("form", f"is no JSON Schema: {fault}"),)
    named = {*claims(schema, output, sure=False), *claims(variant.schema, output)}
    stored = engine.store.present({text for _, text in named if Ref.matches(text)})
    return tuple(
        ExtractProblem(dotted(keys), f"{text[:80]!r} names no node of the store")
        for keys, text in sorted(named, key=str)
        if text not in stored
    )


@contextmanager
def _its_fault(extractor: str) -> Iterator[None]:
    """Whatever an extractor raises, save a failure of an agent, is a fault of it, and named so."""
    try:
        yield
    except (KeyboardInterrupt, AgentFailure):
        raise
    except BaseException as error:
        raise InternalFailure(
            f"the extractor {extractor} failed with {type(error).__name__}: {error}",
            hint="`uwf config set extractors '[frontmatter]'` does without it",
        ) from error
