"""Every way in which a run of Claude Code is known to end, and what each has to become.

The same rows are run with the real program (test_claude_code_rows.py) and recorded from it for the
fast tests (`python tests/real_agents/record_claude_code.py`).
"""

import json
from typing import Any, NamedTuple

from claude_code_peer import FAILURES, error, tool

SCHEMA = {"type": "object", "properties": {"_status": {"const": "done"}}, "required": ["_status"]}
WRAPPED = {"type": "object", "properties": {"output": SCHEMA}, "required": ["output"]}
WHOLE = "a text that is long enough to be cut in the middle of it, and goes on"


class Row(NamedTuple):
    """How a run is brought about, and its kind of failure; None is success.

    Attributes:
        turns: what the model answers.
        options: of the agent; arguments: further ones, of the program itself.
        env: additions; an empty text takes a variable away.
        send: the signal to send; when: after how many requests (0: when a tool runs).
    """

    kind: str | None
    turns: tuple[Any, ...] = ("said",)
    options: dict[str, Any] = {}  # noqa: RUF012
    arguments: tuple[str, ...] = ()
    env: dict[str, str] = {}  # noqa: RUF012
    send: str | None = None
    when: str = "waiting"


def failing(kind, **options):
    return Row(kind, tuple(FAILURES[kind]), options)


SLEEP = (tool("Bash", command="echo begun > begun; sleep 31"), "never said")
RESETS_AT = 4_000_000_000
LIMIT_REACHED = {
    "raw": {
        "status": 429,
        "body": '{"type": "error", "error": {"type": "rate_limit_error", "message": "limit"}}',
        "headers": {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-reset": str(RESETS_AT),
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
            "retry-after": "86400",
        },
    },
    "repeat": 9,
}
SUBSCRIBED = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-test"}
NO_CREDIT = (
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to "
    "upgrade or purchase credits."
)
USED = {"inputTokens": 500, "outputTokens": 50}
LOOK = tool("Agent", description="look", prompt="Look.", subagent_type="general-purpose")


def hook(event, command):
    """Settings with a hook."""
    hooks = [{"hooks": [{"type": "command", "command": command}]}]
    return {"settings": json.dumps({"hooks": {event: hooks}})}


WAIT = ({"text": "x", "hang": "start", "repeat": 9},)
NO_SESSION = "11111111-1111-4111-8111-111111111111"

ROWS = {
    "success": Row(None, (tool("Write", file_path="written.txt", content="x"), "said")),
    "auth": failing("auth"),
    "forbidden": Row("auth", (error(403),)),
    "rate_limited": failing("rate_limited"),
    "limit_of_a_subscription": Row("rate_limited", (LIMIT_REACHED,), env=SUBSCRIBED),
    "bad_request": failing("bad_request"),
    "no_such_model": Row("bad_request", (error(404, "model: nope"),)),
    "too_large": Row("bad_request", (error(413, "too large"),)),
    "context_too_long": failing("context_too_long"),
    "no_credit": Row("auth", (error(400, NO_CREDIT),)),
    "subagent": Row(None, ({**LOOK, "usage": USED}, {"text": "said", "usage": USED, "repeat": 9})),
    "hook_blocks_prompt": Row(
        "bad_request", options=hook("UserPromptSubmit", "echo 'not this one' >&2; exit 2")
    ),
    "hook_blocks_end": Row(
        "bad_request", ("said",) * 19, options=hook("Stop", "echo 'not yet' >&2; exit 2")
    ),
    "hook_blocks_end_once": Row(
        None,
        ("said", "said"),
        options=hook("Stop", "test -e seen || { touch seen; echo 'not yet' >&2; exit 2; }"),
    ),
    "overloaded": failing("unavailable"),
    "nobody_listens": Row("unavailable", env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}),
    "no_key": Row("unavailable", env={"ANTHROPIC_API_KEY": ""}),
    "max_turns": failing("max_turns", max_turns=1),
    "budget": failing("max_budget", budget=0.01),
    "refusal": failing("refused"),
    "max_tokens": failing("truncated"),
    "denied": Row(None, (tool("Write", file_path="/outside.txt", content="x"), "said")),
    "schema_satisfied": Row(
        None,
        (tool("StructuredOutput", output={"_status": "done"}), "said"),
        {"structured": True},
    ),
    "schema_never_satisfied": Row(None, ("said",) * 4, {"structured": True}),
    "stream_cut_once": Row(None, ({"text": WHOLE, "drop": "middle"}, WHOLE)),
    "stream_always_cut": Row("unavailable", ({"text": WHOLE, "drop": "middle", "repeat": 9},)),
    "no_json": Row("unavailable", ({"raw": {"body": "<h1>no</h1>"}, "repeat": 9},)),
    "empty_once": Row(None, ("", "said")),
    "empty": failing("empty"),
    "unknown_session": Row("session_lost", arguments=("--resume", NO_SESSION)),
    "used_session_id": Row("crashed", arguments=("--session-id", "no id")),
    "unknown_option": Row("crashed", arguments=("--no-such-option",)),
    "root": Row("crashed", arguments=("--dangerously-skip-permissions",)),
    "term_while_waiting": Row("interrupted", WAIT, send="SIGTERM"),
    "int_while_waiting": Row("interrupted", WAIT, send="SIGINT"),
    "kill_while_waiting": Row("crashed", WAIT, send="SIGKILL"),
    "term_during_a_tool": Row("interrupted", SLEEP, send="SIGTERM", when="tool"),
    "int_during_a_tool": Row("interrupted", SLEEP, send="SIGINT", when="tool"),
}
