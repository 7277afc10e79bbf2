"""What a service's refusal means: a status, headers and a body become one typed failure.

The words that services use for a full context, a filtered content or missing tools are nowhere
specified; the patterns here are what the services of `uwf setup` and ollama, vLLM, llama.cpp and
LM Studio send.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from uwf_core.errors import (
    AgentFailure,
    AuthRefused,
    BadRequest,
    ContextTooLong,
    RateLimited,
    Refused,
    TimedOut,
    Unavailable,
)
from uwf_core.named_tuple import NamedTuple

_WORDS_SHOWN = 2000

_CONTEXT = re.compile(
    r"context[_ ](length|window|size)|maximum context|exceed_context|prompt is too long"
    r"|too many (input )?tokens|input (is )?too long|input length|exceeded model token limit"
    r"|max(imum)? (input|prompt) (tokens|length)|reduce the length|上下文|超过最大长度",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[_ ](filter|policy|management|moderation)|content exists risk|data_?inspection"
    r"|moderation|flagged|sensitive content|inappropriate content|敏感",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"(does not|doesn't|do not|don't|not) support(ed)? (for )?(tool|function)"
    r"|(tools?|tool[_ ](use|calling|choice)|function[_ ]call(s|ing)?) (is|are) not supported"
    r"|no endpoints found that support tool|enable-auto-tool-choice|tools? param requires",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"(invalid|incorrect|wrong|missing|no) api[_ -]?key|api[_ -]?key (is )?(not valid|invalid)",
    re.I,
)
_QUOTA = re.compile(
    r"insufficient[_ ](quota|balance|credit|funds)|exceeded your current quota|billing|余额",
    re.IGNORECASE,
)
_RETRIED = frozenset((408, 409, 425, 429))
_SECRET_WORD = re.compile(r"[^\s\"'`,;:()<>\[\]{}]{8,}")


class ToolsUnsupported(BadRequest):
    """The model, or the way it is served, takes no tools; the message holds the service's words."""


class Fault(Exception):
    """A failed attempt: the failure that it is, and whether another attempt may succeed.

    `after_seconds` is how long the service asks to wait.
    """

    def __init__(
        self, failure: AgentFailure, *, again: bool = False, after_seconds: float | None = None
    ) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.again = again
        self.after_seconds = after_seconds


class Refusal(NamedTuple):
    """An answer that is no success.

    Attributes:
        place: the service's address, without user, password and query.
        model: the model that was asked for; "" where none was.
        now_ms: when it came.
        keyed: whether a key was sent.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    place: str
    model: str
    now_ms: int
    keyed: bool = True

    def words(self) -> str:
        """What the service says, as a person reads it."""
        text = self.body.decode("utf-8", "replace").strip()
        said = error_words(_json(text))
        if said is None:
            said = "" if text[:1] == "<" else text
        return said if len(said) <= _WORDS_SHOWN else f"{said[:_WORDS_SHOWN]}…"

    def everything(self) -> str:
        """The words and the codes, to look for patterns in."""
        return self.body[:20_000].decode("utf-8", "replace")


def fault_of(refusal: Refusal) -> Fault:
    """The failure that a refusal is."""
    status = refusal.status
    if status == 429:
        return _rate_limited(refusal)
    if status >= 500 and status not in (501, 505):
        wait = wait_asked(refusal.headers, refusal.now_ms)
        failure = Unavailable(_sentence(refusal, "the service fails"), hint="try again later")
        return Fault(failure, again=True, after_seconds=wait)
    if status in _RETRIED:
        return Fault(TimedOut(_sentence(refusal, "the service gave up")), again=True)
    return Fault(_final(refusal))


def error_words(body: Any) -> str | None:
    """What an error document says: `{error: {message}}`, `{error}`, `{message}`, `{detail}`."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return None
    error = body.get("error", body)
    if isinstance(error, str) and error:
        return error
    if not isinstance(error, dict):
        error = body
    for name in ("message", "msg", "detail", "error"):
        said = error.get(name)
        if isinstance(said, str) and said:
            return said
    return json.dumps(body, ensure_ascii=False)


def wait_asked(headers: Mapping[str, str], now_ms: int) -> float | None:
    """Seconds that the service asks to wait: `retry-after-ms`, `Retry-After` in seconds or as a
    date, `X-RateLimit-Reset` as a moment (seconds or ms since 1970). None: it does not say.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    if asked is not None:
        seconds = _number(asked)
        return seconds if seconds is not None else _until_date(asked, now_ms)
    reset = _number(headers.get("x-ratelimit-reset"))
    if reset is None or reset < 1e9:
        return reset
    moment_ms = reset if reset > 1e12 else reset * 1000
    return max(0.0, (moment_ms - now_ms) / 1000)


def without_secrets(text: str, secrets: tuple[str, ...]) -> str:
    """`text` without the secrets, and without longer pieces of them: services quote keys."""
    for secret in secrets:
        text = text.replace(secret, "[redacted]")

    def hidden(word: re.Match[str]) -> str:
        bare = word[0].strip(".…*")
        found = len(bare) >= 8 and any(bare in secret for secret in secrets)
        return "[redacted]" if found else word[0]

    return _SECRET_WORD.sub(hidden, text) if secrets else text


def _rate_limited(refusal: Refusal) -> Fault:
    if _QUOTA.search(refusal.everything()):
        return Fault(_out_of_credit(refusal))
    wait = wait_asked(refusal.headers, refusal.now_ms)
    until = None if wait is None else refusal.now_ms + round(wait * 1000)
    failure = RateLimited(_sentence(refusal, "the service asks to wait"), until_ms=until)
    return Fault(failure, again=True, after_seconds=wait)


def _key_refused(refusal: Refusal) -> AuthRefused:
    what, hint = "the key was refused", "check apiKey or apiKeyEnv of the provider"
    if not refusal.keyed:
        what, hint = (
            "a key is wanted, and none was sent",
            "set the variable of apiKeyEnv, or apiKey",
        )
    return AuthRefused(_sentence(refusal, what), hint=f"{hint}: uwf config show --origin")


def _final(refusal: Refusal) -> AgentFailure:
    """What no further attempt makes better."""
    status, everything = refusal.status, refusal.everything()
    if status == 402:
        return _out_of_credit(refusal)
    if status in (400, 403, 422) and _FILTERED.search(everything):
        return Refused(_sentence(refusal, "the service refuses the content"))
    if status in (401, 403) or (status == 400 and _KEY.search(everything)):
        return _key_refused(refusal)
    if status == 413 or _CONTEXT.search(everything):
        return ContextTooLong(_sentence(refusal, "the prompt is too long for the model"))
    if _NO_TOOLS.search(everything):
        return ToolsUnsupported(
            _sentence(refusal, f"the model {refusal.model!r} takes no tools here"),
            hint="choose a model that can call tools; a local server may need a flag for it",
        )
    return BadRequest(_sentence(refusal, "the request was refused"), hint=_hint(refusal))


def _hint(refusal: Refusal) -> str | None:
    if 300 <= refusal.status < 400:
        return "redirects are not followed, so that the key goes nowhere else: correct baseUrl"
    if refusal.status in (404, 405):
        return "is the model's name right, and baseUrl? It usually ends with /v1"
    return None


def _out_of_credit(refusal: Refusal) -> RateLimited:
    return RateLimited(
        _sentence(refusal, "the account's quota or credit is used up"),
        hint="see the account's billing page at the provider",
    )


def _sentence(refusal: Refusal, meaning: str) -> str:
    words = refusal.words()
    said = f": {words}" if words else ""
    moved = refusal.headers.get("location") if 300 <= refusal.status < 400 else None
    aim = f" to {moved.partition('?')[0]}" if moved else ""
    return f"{refusal.place}: {meaning} (HTTP {refusal.status}{aim}){said}"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _number(text: str | None) -> float | None:
    """A number of 0 or more that a header says."""
    if text is None or not re.fullmatch(r"\s*\d{1,15}(\.\d{1,9})?\s*", text):
        return None
    return float(text)


def _until_date(text: str, now_ms: int) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - now_ms / 1000)
