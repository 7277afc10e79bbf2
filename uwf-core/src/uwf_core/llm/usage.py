"""What a service says it used, as `Usage`: unknown stays None."""

from typing import Any

from uwf_core.api.agent import Usage
from uwf_core.api.numbers import LARGEST


def read_usage(usage: Any) -> Usage:
    """The usage of one call; `input_tokens` without the cached ones.

    Cached tokens are `prompt_tokens_details.cached_tokens` (OpenAI and most others),
    `prompt_cache_hit_tokens` (DeepSeek) or `cached_tokens` (Kimi); where none of them is said,
    nothing is known of a cache, and all of the prompt counts as input.
    """
    if not isinstance(usage, dict):
        return Usage(turns=1)
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    read = _first(
        details.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cached_tokens"),
    )
    written = _first(details.get("cache_write_tokens"), details.get("cache_creation_tokens"))
    prompt = _first(usage.get("prompt_tokens"), usage.get("input_tokens"))
    return Usage(
        turns=1,
        input_tokens=None if prompt is None else max(0, prompt - (read or 0) - (written or 0)),
        output_tokens=_first(usage.get("completion_tokens"), usage.get("output_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _first(*numbers: Any) -> int | None:
    """The first that is a count."""
    for number in numbers:
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= LARGEST:
            return number
    return None
