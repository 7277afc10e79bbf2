"""Stage 9's choice: a typed object is checked as it is, text goes through the extractors."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.agents.cleaning import clean_text
from uwf_core.api.agent import AgentContext, AgentReply
from uwf_core.api.extract import NO_USAGE, ExtractReply, ExtractRequest
from uwf_core.errors import InternalFailure, UwfError
from uwf_core.extract.typed import check_structured
from uwf_core.plugins.scan import EXTRACTORS

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def extract(engine: "Engine", reply: AgentReply, schema: Mapping[str, Any]) -> ExtractReply:
    """The typed output of a reply: by the first extractor that finds a valid one.

    Where none does, the errors are those of the first extractor, which the deliverable format
    speaks of. The usage of all that were tried is summed.

    Raises:
        PluginError, PluginBroken: an extractor of the configuration cannot be loaded.
    """
    if reply.structured is not None:
        return check_structured(schema, reply.structured)
    first: ExtractReply | None = None
    usage = NO_USAGE
    for each in _replies(engine, reply.text or "", schema):
        usage = usage.plus(each.usage)
        each = _checked(each, schema)
        if each.output is not None:
            return each._replace(usage=usage)
        first = first or each
    if first is None:
        return ExtractReply()
    return ExtractReply(body=first.body, errors=first.errors, usage=usage)


def _checked(reply: ExtractReply, schema: Mapping[str, Any]) -> ExtractReply:
    """The reply of any extractor, its output held to the role's schema."""
    if reply.output is None:
        return reply
    return check_structured(schema, reply.output)._replace(body=reply.body, usage=reply.usage)


def _replies(engine: "Engine", raw: str, schema: Mapping[str, Any]) -> Iterator[ExtractReply]:
    plugins = engine.plugins
    for name in engine.settings.extractors:
        spec = plugins.record(EXTRACTORS, name)
        factory = plugins.attribute(EXTRACTORS, name, spec.factory)
        options = plugins.attribute(EXTRACTORS, name, spec.options)() if spec.options else None
        alias = engine.settings.model_overrides.get("extract")
        request = ExtractRequest(
            raw=raw,
            schema=schema,
            model=None if alias is None else engine.settings.model(alias),
            options=options,
        )
        folder = str(Path(engine.home, "extractors", name))
        context = AgentContext(name=name, state_dir=folder)
        with plugins.guard, _its_fault(str(plugins.found(EXTRACTORS, name))):
            reply = factory(options, context).extract(request)
            if not isinstance(reply, ExtractReply):
                raise TypeError(f"it gave {type(reply).__name__}, no ExtractReply")
            if not isinstance(reply.output, Mapping | None):
                raise TypeError(f"its output is {type(reply.output).__name__}, no mapping")
            body = clean_text(reply.body)  # it is stored, and storing must not fail
        yield reply._replace(body=body)


@contextmanager
def _its_fault(extractor: str) -> Iterator[None]:
    """Whatever an extractor raises beside our own errors is a fault of it, and named so."""
    try:
        yield
    except (KeyboardInterrupt, UwfError):
        raise
    except BaseException as error:
        raise InternalFailure(
            f"the extractor {extractor} failed with {type(error).__name__}: {error}",
            hint="`uwf config set extractors '[frontmatter]'` does without it",
        ) from error
