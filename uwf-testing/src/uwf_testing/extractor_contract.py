"""The promises of every extractor, as tests: subclass `ExtractorContract` and define its fixtures.

```python
import json
import pytest
from uwf_testing.extractor_contract import ExtractorContract

class TestJson(ExtractorContract):
    @pytest.fixture
    def extractor(self):
        return "json"                             # the name of the entry point

    @pytest.fixture
    def write(self):                              # writes an output as an agent does
        return lambda output, body: body + json.dumps(output)
```

`options` are the extractor's options, none by default; `model` is the model that it may call, such
as a scripted one (see `uwf_testing.model_server`), or None. Without `write` the clauses about
valid text are skipped.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.api.agent import Model
from uwf_core.api.extract import Extractor, ExtractProblem, ExtractReply, ExtractRequest
from uwf_core.plugins.scan import EXTRACTORS
from uwf_testing.contract import KIT_VERSION, Needs, needs
from uwf_testing.plugin_contract import CalledPluginContract, check_usage

__all__ = ["KIT_VERSION", "ExtractorContract"]

Write = Callable[[Mapping[str, Any], str], str]

SCHEMA: Mapping[str, Any] = {
    "oneOf": [
        {
            "type": "object",
            "properties": {
                "$status": {"const": "done"},
                "summary": {"type": "string"},
                "count": {"type": "integer"},
                "share": {"type": "number"},
                "sure": {"type": "boolean"},
                "files": {"type": "array", "items": {"type": "string"}},
                "more": {"type": "object", "properties": {"note": {"type": "string"}}},
            },
            "required": ["$status"],
        },
        {
            "type": "object",
            "properties": {"$status": {"const": "failed"}, "why": {"type": "string"}},
            "required": ["$status", "why"],
        },
    ]
}
"""The schema of the kit's requests: two variants, every type of field."""
OUTPUTS: tuple[Mapping[str, Any], ...] = (
    {"$status": "done"},
    {"$status": "failed", "why": 'ä \U0001f680 "quoted" \\ back: yes # no\nsecond line\n'},
    {
        "$status": "done",
        "summary": "1.0",
        "count": -7,
        "share": 0.25,
        "sure": False,
        "files": ["a.py", "- b", ""],
        "more": {"note": "null"},
    },
)
BODY = "What I did.\n\n---\n\n{not: json}\n"
HOSTILE = (
    *(
        "",
        " \n\t\n",
        "\0",
        "\ufeff",
        "---",
        "---\n---\n",
        "---\n- a list\n---\n",
        "{",
        "[]",
        "null",
    ),
    "---\n$status: done\nshare: .nan\ncount: 1e999\n---\n",
    '{"$status": "done", "share": NaN, "count": 1e999}',
    f'{{"$status": "done", "count": {10**400}}}',
    f"---\n$status: done\ncount: {10**400}\n---\n",
    "---\n$status: done\nsummary: *nothing\n---\n",
    "---\na: &a [*a]\n---\n",
    '{"$status": {"$status": "done"}}',
    "[" * 50_000,
    "---\n" + "{a: " * 5_000 + "\n---\n",
    "---\n$status: done\nsummary: " + "\ud83d" + "\n---\n",
    '{"$status": "done", "summary": "\\ud83d"}',
    "Nothing of that kind. " * 200,
)
"""Malformed texts, as agents deliver them."""


class ExtractorContract(CalledPluginContract):
    """The promises of `Extractor`. The engine validates outputs against their schemas."""

    kind = "extractor"
    group = EXTRACTORS

    seconds: ClassVar[float] = 5.0
    """The time limit for a text of a megabyte."""

    @pytest.fixture
    def extractor(self) -> str:
        """The name of the extractor to test."""
        raise NotImplementedError("define a fixture `extractor` that returns the extractor's name")

    @pytest.fixture
    def model(self) -> Model | None:
        """The model that it may call."""
        return None

    @pytest.fixture
    def write(self) -> Write | None:
        """Writes an output and a body as raw text; None without such a function."""
        return None

    @pytest.fixture
    def extract(
        self, create: Callable[[], tuple[Any, Any]], model: Model | None
    ) -> Callable[[str], ExtractReply]:
        """Calls a new extractor, which is created as by the engine."""

        def call(raw: str, schema: Mapping[str, Any] = SCHEMA) -> ExtractReply:
            made, options = create()
            assert isinstance(made, Extractor), f"its factory gave {type(made).__name__}"
            request = ExtractRequest(raw=raw, schema=schema, model=model, options=options)
            reply: ExtractReply = made.extract(request)
            return reply

        return call

    def missing(self, wanted: Needs, request: pytest.FixtureRequest) -> str | None:
        """Why a clause is skipped: it needs the fixture `write`."""
        if "write" in wanted.peer and request.getfixturevalue("write") is None:
            return "no fixture `write` is defined"
        return None

    @needs("write")
    def test_what_was_written_is_read(
        self, extract: Callable[[str], ExtractReply], write: Write
    ) -> None:
        """The output has every field with its type."""
        for output in OUTPUTS:
            reply = extract(write(output, ""))
            assert not reply.errors, f"{output}: {reply.errors}"
            assert reply.output == output
            assert repr(dict(reply.output)) == repr({name: output[name] for name in reply.output})

    @needs("write")
    def test_the_body_is_a_part_of_the_text(
        self, extract: Callable[[str], ExtractReply], write: Write
    ) -> None:
        """The body is a verbatim part of the text: nothing is added, escaped or trimmed inside."""
        raw = write(OUTPUTS[0], BODY)
        assert extract(raw).body in raw

    @needs("write")
    def test_what_stands_beside_the_fields_is_the_body(
        self, extract: Callable[[str], ExtractReply], write: Write
    ) -> None:
        """The text beside the fields is the body, which is stored and shown to later roles."""
        raw = write(OUTPUTS[0], BODY)
        if BODY.strip() in raw:
            assert extract(raw).body.strip(), "the body is lost"

    def test_bad_text_is_an_answer_and_never_an_exception(
        self, extract: Callable[[str], ExtractReply]
    ) -> None:
        """Malformed text, as agents deliver it, gives a reply with errors, never an exception."""
        for raw in HOSTILE:
            try:
                reply = extract(raw)
            except Exception as error:
                pytest.fail(f"{raw[:60]!r} raises {type(error).__name__}: {error!s:.200}")
            assert isinstance(reply, ExtractReply), f"{raw[:60]!r} gives {type(reply).__name__}"

    def test_any_text_is_answered(self, extract: Callable[[str], ExtractReply]) -> None:
        """Random text gives a reply, never an exception."""

        @settings(
            max_examples=50,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.text())
        def try_one(raw: str) -> None:
            assert isinstance(extract(raw), ExtractReply)

        try_one()

    def test_there_is_an_output_or_an_error(self, extract: Callable[[str], ExtractReply]) -> None:
        """A reply has either an output or at least one error."""
        for raw, reply in _answers(extract):
            assert (reply.output is None) == bool(reply.errors), f"{raw[:60]!r} gives {reply}"

    def test_every_error_says_what_is_wrong(self, extract: Callable[[str], ExtractReply]) -> None:
        """Every error has a message; uwf quotes it to the agent, which corrects itself by it."""
        for raw, reply in _answers(extract):
            for error in reply.errors:
                assert isinstance(error, ExtractProblem), f"{error!r} is not an ExtractProblem"
                assert error.message.strip(), f"an error about {raw[:60]!r} says nothing"
                assert isinstance(error.path, str)

    def test_a_large_text_takes_no_longer_than_it_may(
        self, extract: Callable[[str], ExtractReply]
    ) -> None:
        """A text of a megabyte stays within the time limit."""
        import time

        for text in ("{" * 10, "---\n", "word ", "\n"):
            started = time.monotonic()
            extract(text * (1_000_000 // len(text)))
            took = time.monotonic() - started
            assert took < self.seconds, f"a megabyte of {text!r} took {took:.1f} s"

    def test_the_request_is_left_as_it_was(self, extract: Any) -> None:
        """The extractor does not change the request; the schema belongs to the workflow."""
        schema = deepcopy(dict(SCHEMA))
        list(_answers(lambda raw: extract(raw, schema)))
        assert schema == SCHEMA

    def test_the_usage_is_a_record_of_known_and_unknown(
        self, extract: Callable[[str], ExtractReply]
    ) -> None:
        """Without a call of a model the usage is empty; unknown numbers are None, and none is
        negative.
        """
        for raw in (HOSTILE[0], HOSTILE[-1]):
            check_usage(extract(raw).usage)

    def test_two_at_once_stay_apart(
        self, extract: Callable[[str], ExtractReply], write: Write | None
    ) -> None:
        """Two extractions at the same moment each get the reply to their own text."""
        texts = [write(each, "") for each in OUTPUTS] if write else list(HOSTILE[:4])
        alone = [extract(text) for text in texts]
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(extract, texts * 5))
        assert [each[:3] for each in together] == [each[:3] for each in alone * 5]

    def test_it_prints_nothing(
        self, extract: Callable[[str], ExtractReply], capfd: pytest.CaptureFixture[str]
    ) -> None:
        """The extractor does not write to standard output."""
        capfd.readouterr()
        extract(HOSTILE[-1])
        printed = capfd.readouterr()
        assert printed.out + printed.err == ""


def _answers(extract: Callable[[str], ExtractReply]) -> Iterator[tuple[str, ExtractReply]]:
    """The malformed texts with their replies; another clause tests that none raises."""
    for raw in HOSTILE:
        reply = None
        with suppress(Exception):
            reply = extract(raw)
        if reply is not None:
            yield raw, reply
