"""Convert a service's error response (status, headers, body) to one typed failure.

No specification defines the texts for a full context, filtered content or missing tools; the
patterns here match the services of `uwf setup` and ollama, vLLM, llama.cpp and LM Studio.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

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
from uwf_llm.error_documents import FULL_CONTEXT, error_words, read_json
from uwf_llm.waits import AskedWait, asked_wait

_WORDS_SHOWN = 2000
_UNCLEAR = ", until a time that cannot be right, so it counts as unknown"
_TOO_LONG = "the prompt is too long for the model"

_CONTEXT = re.compile(FULL_CONTEXT, re.IGNORECASE)
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
    r"insufficient[_ ](quota|balance|credit|funds)|credit balance|exceeded your current quota"
    r"|billing|余额",
    re.IGNORECASE,
)
_CREDIT = re.compile(r"credit balance|insufficient[_ ](quota|balance|credit|funds)|余额", re.I)
_RETRIED = frozenset((408, 409, 425, 429))
_SECRET_WORD = re.compile(r"[^\s\"'`,;:()<>\[\]{}]{8,}")


class ToolsUnsupported(BadRequest):
    """The model, or its server, does not support tools; the message has the service's text."""


class RequestFailed(Exception):
    """A failed request: its failure, and whether a retry may succeed.

    `after_seconds` is the wait that the service asks for.
    """

    def __init__(
        self, failure: AgentFailure, *, retryable: bool = False, after_seconds: float | None = None
    ) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.retryable = retryable
        self.after_seconds = after_seconds


class ErrorResponse(NamedTuple):
    """A response with an error.

    Attributes:
        place: the service's address, without user, password and query.
        model: the requested model; "" if none.
        now_ms: when it arrived.
        keyed: whether a key was sent.
        embedded: it came within a reply; the status is that of its words.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    place: str
    model: str
    now_ms: int
    keyed: bool = True
    embedded: bool = False

    def message(self) -> str:
        """The service's message, for people."""
        text = self.body.decode("utf-8", "replace").strip()
        said = error_words(read_json(text))
        if said is None:
            said = "" if text[:1] == "<" else text
        return said if len(said) <= _WORDS_SHOWN else f"{said[:_WORDS_SHOWN]}…"

    def wait(self) -> AskedWait:
        """How long the service asks to wait."""
        error = read_json(self.body.decode("utf-8", "replace"))
        return asked_wait(self.headers, self.now_ms, error)

    def searchable(self) -> str:
        """The message and the codes, to match patterns."""
        return self.body[:20_000].decode("utf-8", "replace")


def failure_from(response: ErrorResponse) -> RequestFailed:
    """Convert an error response to its failure."""
    status = response.status
    if status == 429:
        return _rate_limited(response)
    if status >= 500 and status not in (501, 505):
        if _CONTEXT.search(response.message()):
            return RequestFailed(ContextTooLong(_sentence(response, _TOO_LONG)))
        wait = response.wait()
        failed = "the service failed" + (f", and asks to wait{_UNCLEAR}" if wait.unclear else "")
        failure = Unavailable(_sentence(response, failed), hint="try again later")
        return RequestFailed(failure, retryable=True, after_seconds=wait.seconds)
    if status in _RETRIED:
        return RequestFailed(TimedOut(_sentence(response, "the service timed out")), retryable=True)
    return RequestFailed(_final(response))


def without_secrets(text: str, secrets: tuple[str, ...]) -> str:
    """`text` without the secrets and without longer parts of them: services quote keys."""
    for secret in secrets:
        text = text.replace(secret, "[redacted]")

    def hidden(word: re.Match[str]) -> str:
        bare = word[0].strip(".…*")
        found = len(bare) >= 8 and any(bare in secret for secret in secrets)
        return "[redacted]" if found else word[0]

    return _SECRET_WORD.sub(hidden, text) if secrets else text


def _rate_limited(response: ErrorResponse) -> RequestFailed:
    wait = response.wait()
    if wait.seconds is None and _QUOTA.search(response.searchable()):
        return RequestFailed(_out_of_credit(response))
    until = None if wait.seconds is None else response.now_ms + round(wait.seconds * 1000)
    asks = "the service asks to wait" + (_UNCLEAR if wait.unclear else "")
    failure = RateLimited(_sentence(response, asks), until_ms=until)
    return RequestFailed(failure, retryable=True, after_seconds=wait.seconds)


def _key_rejected(response: ErrorResponse) -> AuthRefused:
    what, hint = "the API key was rejected", "check apiKey or apiKeyEnv of the provider"
    if not response.keyed:
        what, hint = "it requires an API key, and none was sent", "set apiKey or apiKeyEnv"
    return AuthRefused(_sentence(response, what), hint=f"{hint}; next: uwf config show --origin")


def _final(response: ErrorResponse) -> AgentFailure:
    """The failure for a response that a retry cannot change."""
    status, everything = response.status, response.searchable()
    if status == 402 or (status in (400, 403) and _CREDIT.search(everything)):
        return _out_of_credit(response)
    if status in (400, 403, 422) and _FILTERED.search(everything):
        return Refused(_sentence(response, "the service rejects the content"))
    if status in (401, 403) or (status == 400 and _KEY.search(everything)):
        return _key_rejected(response)
    if status == 413 or _CONTEXT.search(everything):
        return ContextTooLong(_sentence(response, _TOO_LONG))
    if _NO_TOOLS.search(everything):
        return ToolsUnsupported(
            _sentence(response, f"the model {response.model!r} does not support tools"),
            hint="choose a model with tool calling; a local server may need a flag for it",
        )
    return BadRequest(_sentence(response, "the request was rejected"), hint=_hint(response))


def _hint(response: ErrorResponse) -> str | None:
    if 300 <= response.status < 400:
        return "fix baseUrl: redirects are not followed, so the key is not sent elsewhere"
    if response.status in (404, 405):
        return "check the model's name, and baseUrl, which usually ends with /v1"
    return None


def _out_of_credit(response: ErrorResponse) -> AuthRefused:
    """The account is rejected: neither waiting nor another request helps, but a person does."""
    return AuthRefused(
        _sentence(response, "the account's quota or credit is used up"),
        hint="check the account's billing page at the provider",
    )


def _sentence(response: ErrorResponse, meaning: str) -> str:
    words = response.message()
    said = f": {words}" if words else ""
    moved = response.headers.get("location") if 300 <= response.status < 400 else None
    aim = f" to {moved.partition('?')[0]}" if moved else ""
    how = "an error within the reply" if response.embedded else f"HTTP {response.status}{aim}"
    return f"{response.place}: {meaning} ({how}){said}"
