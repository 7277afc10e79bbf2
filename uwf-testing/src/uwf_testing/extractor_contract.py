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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.api.extract import Extractor, ExtractProblem, ExtractReply, ExtractRequest
from uwf_core.api.models import Model
from uwf_core.plugins.scan import EXTRACTORS
from uwf_testing.contract import KIT_VERSION, needs
from uwf_testing.extractor_texts import BODY, HOSTILE, OUTPUTS, SCHEMA, Write, hostile_in_format
from uwf_testing.plugin_contract import CalledPluginContract, check_usage

__all__ = ["KIT_VERSION", "ExtractorContract"]

Extract = Callable[..., ExtractReply]


class ExtractorContract(CalledPluginContract):
    """The promises of `Extractor`. The engine validates outputs against their schemas."""

    kind = "extractor"
    group = EXTRACTORS

    seconds: ClassVar[float] = 5.0
    """The time limit for a text of a megabyte."""

    @pytest.fixture
    def model(self) -> Model | None:
        """The model that it may call."""
        return None

    @pytest.fixture
    def write(self) -> Write | None:
        """Writes an output and a body as raw text; None without such a function."""
        return None

    @pytest.fixture
    def extract(self, create: Callable[[], tuple[Any, Any]], model: Model | None) -> Extract:
        """Calls a new extractor, which is created as by the engine."""

        def call(raw: str, schema: Mapping[str, Any] | None = None) -> ExtractReply:
            schema = deepcopy(dict(SCHEMA)) if schema is None else schema
            made, options = create()
            assert isinstance(made, Extractor), f"its factory gave {type(made).__name__}"
            request = ExtractRequest(raw=raw, schema=schema, model=model, options=options)
            reply: ExtractReply = made.extract(request)
            return reply

        return call

    @pytest.fixture
    def hostile(self, write: Write | None) -> Sequence[str]:
        """Malformed texts; with `write`, also such in the extractor's own format."""
        return (*HOSTILE, *(hostile_in_format(write) if write else ()))

    @needs("write")
    def test_what_was_written_is_read(self, extract: Extract, write: Write) -> None:
        """The output has every field with its type."""
        for output in OUTPUTS:
            reply = extract(write(output, ""))
            assert not reply.errors, f"{output}: {reply.errors}"
            assert reply.output == output
            assert repr(dict(reply.output)) == repr({name: output[name] for name in reply.output})

    @needs("write")
    def test_the_body_is_a_part_of_the_text(self, extract: Extract, write: Write) -> None:
        """The body is a verbatim part of the text: nothing is added, escaped or trimmed inside."""
        raw = write(OUTPUTS[0], BODY)
        assert extract(raw).body in raw

    @needs("write")
    def test_what_stands_beside_the_fields_is_the_body(
        self, extract: Extract, write: Write
    ) -> None:
        """The text beside the fields is the body, which is stored and shown to later roles."""
        raw = write(OUTPUTS[0], BODY)
        if BODY.strip() in raw:
            assert BODY.strip() in extract(raw).body, "a part of the body is lost"

    @needs("write")
    def test_without_other_text_the_body_is_empty(self, extract: Extract, write: Write) -> None:
        """The body has none of the fields: it would repeat them in each later prompt."""
        for output in OUTPUTS:
            body = extract(write(output, "")).body
            assert not body.strip(), f"the body of a text without one is {body!r}"

    def test_the_body_is_always_a_text(self, extract: Extract, hostile: Sequence[str]) -> None:
        """The body is text, also beside errors: an empty one if there is none."""
        for raw, reply in _answers(extract, hostile):
            assert isinstance(reply.body, str), f"the body of {raw[:60]!r} is {reply.body!r}"

    def test_bad_text_is_an_answer_and_never_an_exception(self, extract: Extract) -> None:
        """Malformed text, as agents deliver it, gives a reply with errors, never an exception."""
        _check_answered(extract, HOSTILE)

    @needs("write")
    def test_bad_text_in_its_own_format_is_an_answer(self, extract: Extract, write: Write) -> None:
        """Texts that are cut, deeply nested, with numbers and characters that no JSON has, with
        unknown fields: all in the extractor's own format, and none raises an exception.
        """
        _check_answered(extract, hostile_in_format(write))

    def test_any_text_is_answered(self, extract: Extract) -> None:
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

    def test_there_is_an_output_or_an_error(self, extract: Extract, hostile: Sequence[str]) -> None:
        """A reply has either an output or at least one error, never both."""
        for raw, reply in _answers(extract, hostile):
            assert (reply.output is None) == bool(reply.errors), f"{raw[:60]!r} gives {reply}"

    def test_every_error_says_what_is_wrong(self, extract: Extract, hostile: Sequence[str]) -> None:
        """Every error has a message; uwf quotes it to the agent, which corrects itself by it."""
        for raw, reply in _answers(extract, hostile):
            for error in reply.errors:
                assert isinstance(error, ExtractProblem), f"{error!r} is not an ExtractProblem"
                assert error.message.strip(), f"an error about {raw[:60]!r} says nothing"
                assert isinstance(error.path, str)

    def test_a_large_text_takes_no_longer_than_it_may(self, extract: Extract) -> None:
        """A text of a megabyte stays within the time limit."""
        import time

        for text in ("{" * 10, "---\n", "word ", "\n"):
            started = time.monotonic()
            extract(text * (1_000_000 // len(text)))
            took = time.monotonic() - started
            assert took < self.seconds, f"a megabyte of {text!r} took {took:.1f} s"

    def test_the_request_is_left_as_it_was(self, extract: Any, hostile: Sequence[str]) -> None:
        """The extractor does not change the request; the schema belongs to the workflow, and all
        roles share it.
        """
        schema = deepcopy(dict(SCHEMA))
        list(_answers(lambda raw: extract(raw, schema), hostile))
        assert schema == SCHEMA

    def test_the_usage_is_a_record_of_known_and_unknown(
        self, extract: Extract, write: Write | None
    ) -> None:
        """Without a call of a model the usage is empty; unknown numbers are None, and none is
        negative.
        """
        good = [write(output, BODY) for output in OUTPUTS] if write else []
        for raw in (HOSTILE[0], HOSTILE[-1], *good):
            check_usage(extract(raw).usage)

    def test_two_at_once_stay_apart(self, extract: Extract, write: Write | None) -> None:
        """Two extractions at the same moment each get the reply to their own text."""
        texts = [write(each, "") for each in OUTPUTS] if write else list(HOSTILE[:4])
        alone = [extract(text) for text in texts]
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(extract, texts * 5))
        assert [each[:3] for each in together] == [each[:3] for each in alone * 5]

    def test_it_prints_nothing(self, extract: Extract, capfd: pytest.CaptureFixture[str]) -> None:
        """The extractor does not write to standard output."""
        capfd.readouterr()
        extract(HOSTILE[-1])
        printed = capfd.readouterr()
        assert printed.out + printed.err == ""


def _check_answered(extract: Extract, texts: Iterable[str]) -> None:
    for raw in texts:
        try:
            reply = extract(raw)
        except Exception as error:
            pytest.fail(f"{raw[-60:]!r} raises {type(error).__name__}: {error!s:.200}")
        assert isinstance(reply, ExtractReply), f"{raw[-60:]!r} gives {type(reply).__name__}"


def _answers(extract: Extract, hostile: Sequence[str]) -> Iterator[tuple[str, ExtractReply]]:
    """The malformed texts with their replies; another clause tests that none raises."""
    for raw in hostile:
        reply = None
        with suppress(Exception):
            reply = extract(raw)
        if reply is not None:
            yield raw, reply
