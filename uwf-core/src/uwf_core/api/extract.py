"""The extractor contract: raw text -> typed output, or the errors to correct."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from uwf_core import API_VERSION
from uwf_core.api.agent import Usage

if TYPE_CHECKING:
    from uwf_core.api.models import Model

NO_USAGE: Usage = Usage(
    turns=0,
    input_tokens=0,
    output_tokens=0,
    cache_read_tokens=0,
    cache_write_tokens=0,
    cost_usd=0.0,
    duration_ms=0,
)
"""The usage of an extractor or agent that calls no model: all zero."""


class ExtractorSpec(NamedTuple):
    """An extractor as its distribution announces it; import paths are text, so nothing is loaded.

    Attributes:
        name: what `extractors` of the configuration lists; equals the entry point's name.
        summary: one line for people.
        factory: `module:attribute`, called as `factory(options, context)`, gives an `Extractor`.
        options: `module:attribute` of a frozen dataclass whose fields are the options, or None.
        api: the version of this contract that the extractor was written for.
    """

    name: str
    summary: str
    factory: str
    options: str | None = None
    api: str = API_VERSION


class ExtractRequest(NamedTuple):
    """The agent's raw text and the role's JSON Schema.

    Attributes:
        raw: the reply, unchanged.
        schema: of the role; do not change it.
        model: of `modelOverrides.extract`, else `defaultModel`; None if neither is set.
        options: those that its factory got.
    """

    raw: str
    schema: Mapping[str, Any]
    model: "Model | None" = None
    options: Any = None


class ExtractProblem(NamedTuple):
    """One error of the output.

    Attributes:
        path: the place (`comments`, `items.2.name`, "" for the whole).
        message: what is wrong there; the agent gets it as a correction.
    """

    path: str
    message: str


class ExtractReply(NamedTuple):
    """The output, or its errors.

    Attributes:
        output: with `$status`, if it is valid; else None.
        body: the text after the frontmatter.
        errors: at least one if `output` is None, else none.
        usage: of the call of a model; `NO_USAGE` without one.
        notices: how the text differs from what the role was asked for, for people.
    """

    output: Mapping[str, Any] | None = None
    body: str = ""
    errors: tuple[ExtractProblem, ...] = ()
    usage: Usage = NO_USAGE
    notices: tuple[str, ...] = ()


@runtime_checkable
class Extractor(Protocol):
    """Converts raw text to typed output. Errors of the text are in the reply, not raised."""

    def extract(self, request: ExtractRequest) -> ExtractReply:
        """The output, or its errors."""
