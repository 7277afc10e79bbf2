"""Recognise an error in a document of a service, whatever its form and its protocol: services send
errors with status 200, in the middle of a stream, and in forms of other protocols. Pure.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.fields.records import integer

_WORDS = ("message", "msg", "detail", "error_message", "error_msg", "errorMessage", "status_msg")
_MORE_WORDS = ("faultstring", "reason", "title", "error_description", "description")
_NESTED = ("error", "errors", "fault", "base_resp", "detail", "details")
_REPLY = frozenset(
    (
        *("choices", "candidates", "usageMetadata", "output", "content", "delta", "response"),
        *("content_block", "item", "part", "usage", "data", "models"),
        *("promptFeedback", "modelVersion"),
    )
)
"""A document with one of these keys is a part of a reply, unless it holds an error as well."""
_OF_CHOICE = ("delta", "message")
_CODES = ("type", "code", "status", "status_code", "statusCode", "http_status", "error_code")
UNKNOWN = 500
"""The status of an error whose kind nothing tells: the request is repeated."""
_STATUS_BY_CODE: tuple[tuple[str, int], ...] = (
    (r"context|too_?long|exceed_max", 400),
    (r"too_?large", 413),
    (r"billing|insufficient_?(quota|balance|credit|funds)|payment", 402),
    (r"api_?key|auth(?!or_)|unauthenticated|unauthorized|\blogin", 401),
    (r"permission|forbidden", 403),
    (r"rate_?limit|too_?many|exhausted|throttl|usage_?limit|quota", 429),
    (r"overload|unavailable|busy|capacity", 529),
    (r"timeout|timed_?out|deadline", 504),
    (r"not_?found", 404),
    (r"invalid|bad_?request|unsupported|content_?(filter|policy)|prohibited", 400),
)
FULL_CONTEXT = (
    r"context[_ ](length|window|size)|maximum context|exceed_context|prompt is too long"
    r"|too many (input )?tokens|input (is )?too long|input length|exceeded model token limit"
    r"|max(imum)? (input|prompt) (tokens|length)|maximum model length|reduce the length"
    r"|(input|prompt)( token count)?\b[^.:;]{0,40} exceeds [^.:;]{0,40}(max|limit|length)"
    r"|inputs.{0,3} tokens \+ .{0,3}max_new_tokens|上下文|超过最大长度"
)
"""The words of services for a prompt that is too long for the model."""
_STATUS_BY_WORDS: tuple[tuple[str, int], ...] = (
    (FULL_CONTEXT, 400),
    (r"(invalid|incorrect|wrong|missing|expired) (api[ _-]?key|token)|unauthorized", 401),
    (r"rate[ _-]?limit|too many requests|slow down|quota exceeded", 429),
)


def error_in(document: Any) -> Any | None:
    """The error that a document holds or is; None if it is not an error.

    Recognised: a field `error` in the document or in its first choice, an object whose `object` or
    `type` is `error`, a status of failure beside no reply, and words without any part of a reply,
    which may be the whole document.
    """
    if isinstance(document, str):
        return {"message": document} if document.strip() else None
    if isinstance(document, list):
        found = (error_in(each) for each in document[:1])
        return next((each for each in found if each is not None), None)
    if not isinstance(document, dict):
        return None
    kind = document.get("type")
    if document.get("error") or document.get("object") == "error" or _named_error(kind):
        return document
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    first = first if isinstance(first, dict) else {}
    for part in (first, *(first.get(name) for name in _OF_CHOICE)):
        if isinstance(part, dict) and part.get("error"):
            return part
    if any(document.get(name) for name in _REPLY) or (kind is not None and not _failed(document)):
        return None
    return document if _is_error(document) else None


def _failed(document: Mapping[str, Any]) -> bool:
    """Whether a document names a status of failure, as problems by RFC 9457 do."""
    return any(str(document.get(name))[:1] in ("4", "5") for name in _CODES[1:])


def _named_error(kind: Any) -> bool:
    return isinstance(kind, str) and "error" in kind.lower()


def _is_error(document: Mapping[str, Any]) -> bool:
    """Whether a document without any part of a reply is an error."""
    base = document.get("base_resp")  # MiniMax
    if isinstance(base, dict) and base.get("status_code"):
        return True
    if document.get("errors") or document.get("fault"):
        return True
    return any(isinstance(document.get(name), str) and document[name].strip() for name in _WORDS)


def error_words(body: Any) -> str | None:
    """The text of an error document: `{error: {message}}`, `{error}`, `{message}`, `{detail}`; the
    document itself if no text is in it, None if it is not a JSON object.
    """
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return None
    return next(_texts(body, 4), None) or json.dumps(body, ensure_ascii=False)


def _texts(error: Mapping[str, Any], levels: int) -> Iterator[str]:
    """The texts of an error, the inner ones first: the outer ones are those of gateways."""
    for name in _NESTED if levels else ():
        inner = error.get(name)
        if isinstance(inner, list) and inner:
            inner = inner[0]
        if isinstance(inner, dict):
            yield from _texts(inner, levels - 1)
    for name in (*_WORDS, *_MORE_WORDS, "error", "errors"):
        said = error.get(name)
        if isinstance(said, list) and said and isinstance(said[0], str):
            said = said[0]
        if isinstance(said, str) and said.strip():
            yield said


def status_in(document: Any) -> int:
    """The HTTP status of an error that came without one, by its codes, else by its words; `UNKNOWN`
    if neither decides.
    """
    codes = list(_codes(document, 4))
    for code in codes:
        if re.fullmatch("[45][0-9][0-9]", code):
            return int(code)
    words = error_words(document) or ""
    told = ((_STATUS_BY_CODE, codes), (_STATUS_BY_WORDS, [words[:20_000]]))
    for table, texts in told:
        for pattern, status in table:
            if any(re.search(pattern, text, re.IGNORECASE) for text in texts):
                return status
    return UNKNOWN


def _codes(error: Any, levels: int) -> Iterator[str]:
    """The codes of an error, the inner ones first."""
    if isinstance(error, list):
        error = error[0] if error else None
    if not isinstance(error, dict) or not levels:
        return
    for name in _NESTED:
        yield from _codes(error.get(name), levels - 1)
    for name in _CODES:
        code = error.get(name)
        if isinstance(code, str | int) and not isinstance(code, bool) and code != "error":
            yield str(code)


def read_json(text: str) -> Any | None:
    """The document; None if the text is not JSON."""
    try:
        return json.loads(text, parse_int=integer)
    except (ValueError, RecursionError):
        return None
