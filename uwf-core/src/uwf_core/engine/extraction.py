"""Stage 9's choice: a typed object is checked as it is, text goes through the extractors."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.agent import AgentContext, AgentReply
from uwf_core.api.extract import NO_USAGE, ExtractReply, ExtractRequest
from uwf_core.errors import InternalFailure
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
        if each.output is not None:
            return ExtractReply(output=each.output, body=each.body, usage=usage)
        first = first or each
    if first is None:
        return ExtractReply()
    return ExtractReply(body=first.body, errors=first.errors, usage=usage)


def _replies(engine: "Engine", raw: str, schema: Mapping[str, Any]) -> Iterator[ExtractReply]:
    plugins = engine.plugins
    for name in engine.settings.extractors:
        spec = plugins.record(EXTRACTORS, name)
        factory = plugins.attribute(EXTRACTORS, name, spec.factory)
        options = plugins.attribute(EXTRACTORS, name, spec.options)() if spec.options else None
        folder = str(Path(engine.home, "extractors", name))
        alias = engine.settings.model_overrides.get("extract")
        request = ExtractRequest(
            raw=raw,
            schema=schema,
            model=None if alias is None else engine.settings.model(alias),
            options=options,
        )
        with plugins.guard:
            reply = factory(options, AgentContext(name=name, state_dir=folder)).extract(request)
        if not isinstance(reply, ExtractReply):
            raise InternalFailure(
                f"the extractor {name!r} gave {type(reply).__name__}, no ExtractReply",
                hint="`uwf config set extractors '[frontmatter]'` does without it",
            )
        yield reply
