"""Bugs of the client of model services: ends, errors, names, times."""

from tests.mutants.mutant import Mutant

_BROKEN = "tests/llm/test_broken_streams.py"
_SENDABLE = "tests/llm/test_sendable.py"
_WAITS = "tests/llm/test_waits.py"
_REPORTS = "tests/reports/test_models.py"

MODELS = (
    Mutant(
        "models",
        "[DONE] ends every reply",
        "uwf-llm/src/uwf_llm/reception.py",
        "self._check_end(ended=marked and self.done_ends, hint=hint, stray=parser.stray)",
        "self._check_end(ended=marked, hint=hint, stray=parser.stray)",
        f"{_BROKEN}::test_the_end_of_the_connection_is_not_the_end_of_a_reply",
    ),
    Mutant(
        "models",
        "an event named error is a piece of a reply",
        "uwf-llm/src/uwf_llm/reception.py",
        'in ("error", "exception"):',
        'in ("exception",):',
        f"{_BROKEN}::test_an_event_named_error_is_one_whatever_its_data",
    ),
    Mutant(
        "models",
        "Anthropic's reply ends before message_stop",
        "uwf-llm/src/uwf_llm/anthropic/reply.py",
        'self._stop(mapping(event.get("delta")).get("stop_reason"))',
        'self.complete = self._stop(mapping(event.get("delta")).get("stop_reason"))',
        f"{_BROKEN}::test_a_stream_that_is_cut_anywhere_before_its_end_mark_is_cut",
    ),
    Mutant(
        "models",
        "half a character is sent",
        "uwf-llm/src/uwf_llm/characters.py",
        "if text.isascii() or _HALF.search(text) is None:",
        "if text:",
        _SENDABLE,
    ),
    Mutant(
        "models",
        "half a character is sent within arguments",
        "uwf-llm/src/uwf_llm/encoding.py",
        "return call.arguments if has_whole(text) else",
        "return call.arguments if text else",
        f"{_SENDABLE}::test_half_a_character_in_arguments_is_replaced_in_itself_and_in_its_escapes",
    ),
    Mutant(
        "models",
        "a name that a model invented goes back to it",
        "uwf-llm/src/uwf_llm/sendable.py",
        "    name, number = safe_name(call.name), safe_id(call.id)",
        "    name, number = call.name, safe_id(call.id)",
        _SENDABLE,
    ),
    Mutant(
        "models",
        "two tools get one name",
        "uwf-llm/src/uwf_llm/sendable.py",
        'return f"{plain[: _LONGEST - 9]}_{digest}"',
        'return plain[:_LONGEST] or f"_{digest}"',
        f"{_SENDABLE}::test_names_are_unique_and_come_back",
    ),
    Mutant(
        "models",
        "a time of any year is kept",
        "api/moments.py",
        "now_ms - DAY_MS <= moment <= now_ms + FARTHEST_MS",
        "now_ms - DAY_MS <= moment",
        _WAITS,
    ),
    Mutant(
        "models",
        "the label decides what a body is",
        "uwf-llm/src/uwf_llm/reception.py",
        'if start not in (b"{", b"["):',
        'if "json" not in self.response.head.headers.get("content-type", ""):',
        f"{_BROKEN}::test_a_whole_reply_is_requested_once_whatever_its_label",
    ),
    Mutant(
        "models",
        "a rejected conversation is sent again",
        "errors.py",
        '("bad_request", 6, False,',
        '("bad_request", 6, True,',
        f"{_REPORTS}::test_a_rejected_conversation_is_not_offered_again",
    ),
)
