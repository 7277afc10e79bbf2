"""The node types of a thread: a payload type and a JSON Schema for each.

Evolution: a schema that changes is a new type; readers know every type ever released. References
are strings of format `ocas_ref`; a missing value is null, never left out. Times are integer ms
since 1970, durations ms.
"""

from typing import Any, Final, Literal, TypedDict

JsonSchema = dict[str, Any]

REF: Final[JsonSchema] = {"type": "string", "format": "ocas_ref"}
_REF_OR_NULL: Final[JsonSchema] = {"anyOf": [REF, {"type": "null"}]}
_TEXT: Final[JsonSchema] = {"type": "string"}
_TEXT_OR_NULL: Final[JsonSchema] = {"type": ["string", "null"]}
_INTEGER: Final[JsonSchema] = {"type": "integer"}
_INTEGER_OR_NULL: Final[JsonSchema] = {"type": ["integer", "null"]}
_NUMBER_OR_NULL: Final[JsonSchema] = {"type": ["number", "null"]}


def _object(**properties: JsonSchema) -> JsonSchema:
    """A closed object schema in which every property is required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": items}


class UsagePayload(TypedDict):
    """What was used; null is unknown, never 0."""

    turns: int | None
    inputTokens: int | None
    outputTokens: int | None
    cacheReadTokens: int | None
    cacheWriteTokens: int | None
    costUsd: float | None
    durationMs: int | None


USAGE_SCHEMA: Final = _object(
    turns=_INTEGER_OR_NULL,
    inputTokens=_INTEGER_OR_NULL,
    outputTokens=_INTEGER_OR_NULL,
    cacheReadTokens=_INTEGER_OR_NULL,
    cacheWriteTokens=_INTEGER_OR_NULL,
    costUsd=_NUMBER_OR_NULL,
    durationMs=_INTEGER_OR_NULL,
)


class StartPayload(TypedDict):
    """The root of a chain. `agent` keeps the word of `--agent`; `parent` is reserved."""

    workflow: str
    prompt: str
    cwd: str
    agent: str | None
    startedAtMs: int
    parent: str | None


START_SCHEMA: Final = _object(
    workflow=REF,
    prompt=REF,
    cwd=_TEXT,
    agent=_TEXT_OR_NULL,
    startedAtMs=_INTEGER,
    parent=_REF_OR_NULL,
)


class CorrectionPayload(TypedDict):
    """An output that was sent back: what the agent was told, what it had said, what was wrong."""

    prompt: str
    raw: str
    errors: list[str]


class StepPayload(TypedDict):
    """One role's turn, or a failed attempt at one (its `output` is then an error output).

    `prev` is null in the first step. `body` is the text beside the output, as the extractor gave
    it, null where there is none. `prompt` is exactly what the agent got, `edgePrompt` what
    the moderator asked for. `continuation`: new, continued, forked, or restarted (the session
    asked for was lost and a fresh one began).
    """

    thread: str
    start: str
    prev: str | None
    replaces: str | None
    number: int
    role: str
    output: str
    raw: str | None
    body: str | None
    detail: str
    agent: str
    agentVersion: str | None
    engineVersion: str
    model: str | None
    session: str | None
    continuation: str
    edgePrompt: str
    prompt: str
    cwd: str
    startedAtMs: int
    completedAtMs: int
    usage: UsagePayload
    denials: list[str]
    proof: str | None
    stopReason: str | None
    corrections: list[CorrectionPayload]
    previousAttempts: list[str]


STEP_SCHEMA: Final = _object(
    thread=_TEXT,
    start=REF,
    prev=_REF_OR_NULL,
    replaces=_REF_OR_NULL,
    number=_INTEGER,
    role=_TEXT,
    output=REF,
    raw=_REF_OR_NULL,
    body=_REF_OR_NULL,
    detail=REF,
    agent=_TEXT,
    agentVersion=_TEXT_OR_NULL,
    engineVersion=_TEXT,
    model=_TEXT_OR_NULL,
    session=_TEXT_OR_NULL,
    continuation={"type": "string", "enum": ["new", "continued", "forked", "restarted"]},
    edgePrompt=REF,
    prompt=REF,
    cwd=_TEXT,
    startedAtMs=_INTEGER,
    completedAtMs=_INTEGER,
    usage=USAGE_SCHEMA,
    denials=_list(_TEXT),
    proof=_TEXT_OR_NULL,
    stopReason=_TEXT_OR_NULL,
    corrections=_list(_object(prompt=REF, raw=REF, errors=_list(_TEXT))),
    previousAttempts=_list(REF),
)


class ProcessPayload(TypedDict):
    """A process, told from later ones of the same id by its start time."""

    pid: int
    start: str
    host: str


class AttemptPayload(TypedDict):
    """What is known before an agent starts, and, once it failed, the failed step.

    The variable `@uwf/attempt/<thread>/<number>.<try>` points to it. `instruction` is the edge
    prompt with what a person added; `engine` the process that runs it; `marker` is in the
    environment of everything it starts (`UWF_ATTEMPT`). `completedAtMs` and `usage` are of one that
    ended with a question; of one that failed its step has them.
    """

    thread: str
    number: int
    attempt: int
    role: str
    agent: str
    purpose: str
    prev: str | None
    replaces: str | None
    edgePrompt: str
    instruction: str
    prompt: str
    cwd: str
    session: str | None
    startedAtMs: int
    engine: ProcessPayload
    marker: str
    step: str | None
    question: str | None
    completedAtMs: int | None
    usage: UsagePayload | None


ATTEMPT_SCHEMA: Final = _object(
    thread=_TEXT,
    number=_INTEGER,
    attempt=_INTEGER,
    role=_TEXT,
    agent=_TEXT,
    purpose=_TEXT,
    prev=_REF_OR_NULL,
    replaces=_REF_OR_NULL,
    edgePrompt=REF,
    instruction=REF,
    prompt=REF,
    cwd=_TEXT,
    session=_TEXT_OR_NULL,
    startedAtMs=_INTEGER,
    engine=_object(pid=_INTEGER, start=_TEXT, host=_TEXT),
    marker=_TEXT,
    step=_REF_OR_NULL,
    question=_REF_OR_NULL,
    completedAtMs=_INTEGER_OR_NULL,
    usage={"anyOf": [USAGE_SCHEMA, {"type": "null"}]},
)


class QuestionPayload(TypedDict):
    """A question to a person; `form` is the JSON Schema of an answer, as JSON text."""

    message: str
    form: str


QUESTION_SCHEMA: Final = _object(message=REF, form=REF)


class EventPayload(TypedDict):
    """Something that happened to a thread and is not in its chain: it was closed, a limit's
    allowance was granted once more, or `attempt` ended with a question.
    """

    thread: str
    kind: Literal["cancelled", "granted", "asked"]
    atMs: int
    head: str
    attempt: str | None


EVENT_SCHEMA: Final = _object(
    thread=_TEXT,
    kind={"type": "string", "enum": ["cancelled", "granted", "asked"]},
    atMs=_INTEGER,
    head=REF,
    attempt=_REF_OR_NULL,
)


class ToolCallPayload(TypedDict):
    """One use of a tool; `arguments` is text as it came, `result` refers to a string node."""

    id: str
    name: str
    arguments: str
    result: str | None
    isError: bool
    startedAtMs: int | None
    endedAtMs: int | None


class TurnPayload(TypedDict):
    """One message inside the agent's own loop."""

    index: int
    role: str
    text: str
    reasoning: str | None
    toolCalls: list[ToolCallPayload]
    usage: UsagePayload | None


TURN_SCHEMA: Final = _object(
    index=_INTEGER,
    role=_TEXT,
    text=REF,
    reasoning=_REF_OR_NULL,
    toolCalls=_list(
        _object(
            id=_TEXT,
            name=_TEXT,
            arguments=_TEXT,
            result=_REF_OR_NULL,
            isError={"type": "boolean"},
            startedAtMs=_INTEGER_OR_NULL,
            endedAtMs=_INTEGER_OR_NULL,
        )
    ),
    usage={"anyOf": [USAGE_SCHEMA, {"type": "null"}]},
)


class DetailPayload(TypedDict):
    """What went on inside a step: the session and its turns, in order."""

    session: str | None
    turns: list[str]


DETAIL_SCHEMA: Final = _object(session=_TEXT_OR_NULL, turns=_list(REF))


class ErrorPayload(TypedDict):
    """The output of a failed attempt; `kind` is a word of the table of failures."""

    kind: str
    message: str
    until: int | None


ERROR_SCHEMA: Final = _object(kind=_TEXT, message=_TEXT, until=_INTEGER_OR_NULL)

SCHEMAS: Final[dict[str, JsonSchema]] = {
    kind: {"title": f"uwf {kind}", **schema}
    for kind, schema in {
        "start": START_SCHEMA,
        "step": STEP_SCHEMA,
        "attempt": ATTEMPT_SCHEMA,
        "question": QUESTION_SCHEMA,
        "event": EVENT_SCHEMA,
        "turn": TURN_SCHEMA,
        "detail": DETAIL_SCHEMA,
        "error": ERROR_SCHEMA,
    }.items()
}
"""The type of each kind of node. A change here is a new type: the old one stays readable."""
