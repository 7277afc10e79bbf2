"""A plugin's options, and records on the wire: what the dataclass says, or a clear error."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core import api
from uwf_core.api.agent import PromptParts, RunLimits, ToolCall, Turn, Usage
from uwf_core.api.models import Model, Price
from uwf_core.errors import ConfigError
from uwf_core.fields.mismatch import FieldFault
from uwf_core.fields.records import read_options, read_record, write_record

WHERE = "agents -> hermes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    deep: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    name: str = "x"
    max_turns: int = 30
    temperature: float = 0.5
    allow_shell: bool = False
    timeout: float | None = None
    mode: Literal["fast", "safe"] = "safe"
    tools: tuple[str, ...] = ()
    pair: tuple[int, str] = (0, "")
    paths: list[str] = field(default_factory=list)
    words: Sequence[str] = ()
    kinds: frozenset[str] = frozenset()
    headers: dict[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    inner: Inner = Inner()
    either: int | str = 0

    def __post_init__(self) -> None:
        if self.max_turns < 1:
            raise ValueError("maxTurns must be at least 1")


def test_plugin_authors_have_it_in_the_api() -> None:
    assert api.read_options is read_options


def test_options_are_read_by_their_camel_case_names() -> None:
    read = read_options(
        Options,
        {
            "maxTurns": 5,
            "temperature": 1,
            "timeout": 2.5,
            "mode": "fast",
            "tools": ["a", "b"],
            "pair": [1, "z"],
            "kinds": ["k"],
            "headers": {"X-A": "b"},
            "extra": {"any": [1, None]},
            "inner": {"deep": 3},
            "either": "text",
        },
        where=WHERE,
    )
    assert read == Options(
        max_turns=5,
        temperature=1.0,
        timeout=2.5,
        mode="fast",
        tools=("a", "b"),
        pair=(1, "z"),
        kinds=frozenset(("k",)),
        headers={"X-A": "b"},
        extra={"any": [1, None]},
        inner=Inner(deep=3),
        either="text",
    )
    assert isinstance(read.temperature, float)


def test_what_is_not_said_has_its_default() -> None:
    assert read_options(Options, {}, where=WHERE) == Options()


@pytest.mark.parametrize(
    ("mapping", "place", "words"),
    [
        ({"max_turns": 5}, "max_turns", "is not a known key"),
        ({"maxturns": 5}, "maxturns", "is not a known key"),
        ({"maxTurns": "5"}, "maxTurns", "is '5'; wanted a whole number"),
        ({"maxTurns": True}, "maxTurns", "is true; wanted a whole number"),
        ({"maxTurns": 5.0}, "maxTurns", "is 5.0; wanted a whole number"),
        ({"maxTurns": None}, "maxTurns", "is null; wanted a whole number"),
        ({"temperature": True}, "temperature", "is true; wanted a number"),
        ({"temperature": float("nan")}, "temperature", "is nan; wanted a number"),
        ({"temperature": 10**400}, "temperature", "wanted a number"),
        ({"allowShell": 1}, "allowShell", "is 1; wanted true or false"),
        ({"timeout": "soon"}, "timeout", "is 'soon'; wanted a number"),
        ({"name": 5}, "name", "is 5; wanted text"),
        ({"mode": "slow"}, "mode", "is 'slow'; wanted one of fast, safe"),
        ({"tools": "a"}, "tools", "is 'a'; wanted a list"),
        ({"tools": ["a", 5]}, "tools -> 1", "is 5; wanted text"),
        ({"pair": [1]}, "pair", "must have 2 items, and has 1"),
        ({"headers": []}, "headers", "is a list; wanted a mapping"),
        ({"headers": {"a": 1}}, "headers -> a", "is 1; wanted text"),
        ({"headers": {1: "a"}}, "headers", "has the key 1, which is not text"),
        ({"inner": {"deeep": 1}}, "inner -> deeep", "is not a known key"),
        ({"inner": 5}, "inner", "is 5; wanted a mapping"),
        ({"either": 1.5}, "either", "is 1.5; wanted a whole number or text"),
    ],
)
def test_a_wrong_option_is_named_with_its_whole_path(
    mapping: dict[Any, Any], place: str, words: str
) -> None:
    with pytest.raises(ConfigError) as failure:
        read_options(Options, mapping, where=WHERE)
    assert failure.value.where == f"{WHERE} -> {place}"
    assert words in failure.value.message
    assert failure.value.message.startswith(place.split(" -> ")[-1])


@pytest.mark.parametrize("typed", ["max_turns", "maxTurn", "MaxTurns", "maxturns"])
def test_an_unknown_option_gets_the_nearest_name(typed: str) -> None:
    with pytest.raises(ConfigError) as failure:
        read_options(Options, {typed: 5}, where=WHERE)
    assert failure.value.hint == "did you mean 'maxTurns'?"


def test_one_that_is_near_to_nothing_gets_the_list() -> None:
    with pytest.raises(ConfigError) as failure:
        read_options(Inner, {"xyz": 5}, where=WHERE)
    assert failure.value.hint == "known: deep"


def test_a_class_can_refuse_its_own_values() -> None:
    with pytest.raises(ConfigError, match="maxTurns must be at least 1") as failure:
        read_options(Options, {"maxTurns": 0}, where=WHERE)
    assert failure.value.where == WHERE


def test_a_missing_option_without_a_default_is_named() -> None:
    @dataclass
    class Needs:
        script: str

    with pytest.raises(ConfigError, match="script is missing"):
        read_options(Needs, {}, where=WHERE)


def test_a_type_that_json_cannot_say_is_the_fault_of_the_plugin() -> None:
    @dataclass
    class Odd:
        where: complex = 0j

    with pytest.raises(TypeError, match="cannot be said in JSON"):
        read_options(Odd, {"where": 1}, where=WHERE)


def test_a_lenient_reader_passes_over_what_it_does_not_know() -> None:
    said = {"inputTokens": 1, "turns": None, "somethingNew": [1]}
    assert read_record(Usage, said, lenient=True) == Usage(input_tokens=1)
    with pytest.raises(FieldFault, match="not a known key"):
        read_record(Usage, said)


COUNTS = st.none() | st.integers(0, 2**53 - 1)
USAGES = st.builds(
    Usage,
    turns=COUNTS,
    input_tokens=COUNTS,
    output_tokens=COUNTS,
    cost_usd=st.none() | st.floats(0, 1e9),
    duration_ms=COUNTS,
)
TEXTS = st.text(max_size=10)
TOOL_CALLS = st.builds(
    ToolCall,
    id=TEXTS,
    name=TEXTS,
    arguments=TEXTS,
    result=st.none() | TEXTS,
    is_error=st.booleans(),
    started_ms=COUNTS,
)
TURNS = st.builds(
    Turn,
    index=st.integers(0, 1000),
    role=st.sampled_from(["assistant", "tool", "note"]),
    text=TEXTS,
    reasoning=st.none() | TEXTS,
    tool_calls=st.lists(TOOL_CALLS, max_size=2).map(tuple),
    usage=st.none() | USAGES,
)
MODELS = st.builds(
    Model,
    alias=TEXTS,
    name=TEXTS,
    provider=TEXTS,
    base_url=TEXTS,
    api_key=st.none() | TEXTS,
    price=st.none() | st.builds(Price, input=st.none() | st.floats(0, 100)),
)
LIMITS = st.builds(RunLimits, seconds=st.floats(0, 1e6), idle_seconds=st.none() | st.floats(0, 1e6))
PARTS = st.builds(PromptParts, task=TEXTS, instruction=TEXTS)


@settings(max_examples=150, deadline=None)
@given(st.one_of(USAGES, TURNS, MODELS, LIMITS, PARTS), st.booleans())
def test_a_record_that_was_written_as_json_reads_back_the_same(record: Any, lenient: bool) -> None:
    document = json.loads(json.dumps(write_record(record)))
    assert read_record(type(record), document, lenient=lenient) == record


@dataclass(frozen=True, kw_only=True)
class TimedOptions:
    """Options of an author who uses the contract alone."""

    timeout: api.Seconds | None = None
    pause: api.Seconds = 2.0


@pytest.mark.parametrize(
    ("written", "seconds"), [(90, 90), ("30s", 30), ("45m", 2700), ("2d", 172_800)]
)
def test_an_option_of_time_is_seconds_or_a_duration(written, seconds):
    options = api.read_options(
        TimedOptions, {"timeout": written, "pause": written}, where="agents -> mine"
    )
    assert (options.timeout, options.pause) == (seconds, seconds)
    with pytest.raises(ConfigError, match="a duration such as"):
        api.read_options(TimedOptions, {"pause": "soon"}, where="agents -> mine")


def test_the_agents_of_the_family_take_durations():
    from uwf_agent_acp.agent.options import AcpOptions
    from uwf_agent_builtin.options import BuiltinOptions
    from uwf_agent_claude_code.options import ClaudeCodeOptions
    from uwf_agent_hermes.options import HermesOptions

    for cls in (AcpOptions, BuiltinOptions, ClaudeCodeOptions, HermesOptions):
        assert api.read_options(cls, {"timeout": "45m"}, where="x").timeout == 2700
