"""Names of OpenTelemetry for what uwf records: the GenAI conventions of the pinned version.

Ids follow from references, so the observer and a later export give the same spans.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from uwf_core.api.sums import UsagePayload

CONVENTIONS = "1.41.0"
"""The version of the semantic conventions; the last one whose main registry has GenAI spans."""
SCHEMA_URL = f"https://opentelemetry.io/schemas/{CONVENTIONS}"

Attributes = dict[str, Any]


class SpanRecord(NamedTuple):
    """A span.

    Attributes:
        id, parent: as hexadecimal text; None for the first one.
        error: the kind of the failure; None if it succeeded. message: more of it.
        start_ms, end_ms: in ms since 1970.
    """

    id: str
    parent: str | None
    name: str
    start_ms: int
    end_ms: int
    attributes: Attributes
    error: str | None = None
    message: str = ""


def trace_id(root: str) -> str:
    """The trace of a root thread and all that it calls: 32 hexadecimal digits."""
    return sha256(f"trace {root}".encode()).hexdigest()[:32]


def span_id(*words: object) -> str:
    """The span of a thing that has this reference, or place below it: 16 hexadecimal digits."""
    return sha256(" ".join(("span of", *map(str, words))).encode()).hexdigest()[:16]


def workflow_attributes(thread: str, name: str) -> Attributes:
    """Of a run of a workflow."""
    return {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": name,
        "gen_ai.conversation.id": thread,
        "uwf.thread": thread,
    }


def agent_attributes(role: str, agent: str, session: str | None = None) -> Attributes:
    """Of an attempt of an agent or a person."""
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": _program_name(agent),
        "gen_ai.agent.name": role,
        **({} if session is None else {"gen_ai.conversation.id": session}),
    }


def tool_attributes(name: str, call: str) -> Attributes:
    """Of a use of a tool."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call,
        "gen_ai.tool.type": "function",
    }


def program_attributes(command: str) -> Attributes:
    """Of a role that a program plays."""
    name = _program_name(command)
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "extension",
    }


def usage_attributes(usage: UsagePayload) -> Attributes:
    """What an attempt used. By the conventions the input tokens include the cached ones."""
    read, written = usage["cacheReadTokens"], usage["cacheWriteTokens"]
    inputs = [each for each in (usage["inputTokens"], read, written) if each is not None]
    found = {
        "gen_ai.usage.input_tokens": sum(inputs) if inputs else None,
        "gen_ai.usage.output_tokens": usage["outputTokens"],
        "gen_ai.usage.cache_read.input_tokens": read,
        "gen_ai.usage.cache_creation.input_tokens": written,
        "uwf.usage.cost_usd": None if usage["costUsd"] is None else float(usage["costUsd"]),
        "uwf.usage.at_least": [*usage["atLeast"]] or None,
    }
    return {name: each for name, each in found.items() if each is not None}


def tool_spans(
    step: str,
    turns: Iterable[tuple[int, Sequence[Mapping[str, Any]]]],
    span: tuple[str, int, int],
    *,
    content: bool,
) -> Iterator[SpanRecord]:
    """The uses of tools in an attempt.

    Args:
        step: the reference of the attempt.
        turns: the number of each turn, and its uses of tools as a recorded turn has them.
        span: the id, start and end of the attempt's span; a time that is unknown is of that.
        content: whether arguments and results are attributes.
    """
    parent, start, end = span
    for number, calls in turns:
        for place, call in enumerate(calls):
            begin = start if call["startedAtMs"] is None else call["startedAtMs"]
            finish = end if call["endedAtMs"] is None else call["endedAtMs"]
            attributes = tool_attributes(call["name"], call["id"])
            if content:
                attributes["gen_ai.tool.call.arguments"] = call["arguments"]
                attributes["gen_ai.tool.call.result"] = call["result"] or ""
            yield SpanRecord(
                *(span_id(step, number, place), parent, f"execute_tool {call['name']}"),
                *(begin, max(begin, finish), attributes),
                "tool_error" if call["isError"] else None,
            )


def _program_name(command: str) -> str:
    """An agent's name, or the name of a program without its folder and arguments."""
    words = command.split()
    return words[0].rpartition("/")[2] if words else "unknown"
