"""What is stored is found again: by any of its names, after any interruption, by any process."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.api import Usage
from uwf_core.client import Client
from uwf_core.errors import AmbiguousIdError, StoreVersionError, UnknownIdError, UsageError
from uwf_core.fields.records import payload_schema, read_payload, write_record
from uwf_eval.records import Cell, Failure, JudgeResult, Run, Trial, TrialStep
from uwf_eval.store import pages
from uwf_eval.store.results import Results

FIRST, SECOND = "01JD0000000000000000000AAA", "01JD0000000000000000000BBB"


def run(id_: str = FIRST, **changes: Any) -> Run:
    made = Run(
        run=id_, name="", started_at_ms=1, finished_at_ms=None, seed=7, repeat=1, jobs=1,
        tasks=(), workflows=("0" * 13,), agents=(None, "mock"), models=(None,), trials=3,
        eval_version="0.1.0",
    )  # fmt: skip
    return replace(made, **changes)


def trial(number: int, id_: str = FIRST, **changes: Any) -> Trial:
    cell = Cell(
        task="t", case="", workflow="0" * 13, workflow_name="w", agent=None, model=None,
        repeat=number,
    )  # fmt: skip
    made = Trial(
        run=id_, number=number, cell=cell, state="scored", score=0.5, passed=False,
        judges=(JudgeResult(name="a", judge="builtin:x", weight=1.0, score=0.5, data={"k": [1]}),),
        steps=(TrialStep(role="r", status="done", agent="m", duration_ms=1, usage=Usage()),),
        usage=Usage(cost_usd=0.25),
    )  # fmt: skip
    return replace(made, **changes)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client.open(home=tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def results(client: Client) -> Results:
    return Results(client)


def test_a_run_is_found_by_its_id_a_prefix_its_name_and_last(results: Results) -> None:
    results.save_run(run(name="old"))
    results.save_run(run(SECOND, name="old"))
    assert results.run(FIRST) == run(name="old")
    assert results.run(FIRST.lower()).run == FIRST
    assert results.run("old").run == SECOND, "the newest of that name"
    assert results.run("@last").run == SECOND
    assert results.run(SECOND[:-2]).run == SECOND
    assert [each.run for each in results.runs()] == [SECOND, FIRST]
    with pytest.raises(AmbiguousIdError):
        results.run("01JD")
    for word in ("01J", "nothing", "", "/", "@first", "01JD0000000000000000000CCC"):
        with pytest.raises(UnknownIdError):
            results.run(word)


def test_an_empty_store_says_so(results: Results) -> None:
    assert results.runs() == []
    with pytest.raises(UnknownIdError, match="there are no runs"):
        results.run("@last")


def test_trials_come_back_in_order_those_not_run_included(results: Results) -> None:
    left = [trial(n, state="not_run", score=None, judges=(), steps=()) for n in (1, 2, 3)]
    results.save_run(run(), left)
    assert results.trials(FIRST) == left
    results.save_trial(trial(3))
    results.save_trial(trial(1, state="failed", failure=Failure(kind="crashed", message="x")))
    assert [(t.number, t.state) for t in results.trials(FIRST)] == [
        (1, "failed"), (2, "not_run"), (3, "scored"),
    ]  # fmt: skip
    assert results.trial(f"{FIRST}/3") == results.trial("@last/3") == trial(3)
    assert results.trial("@last/2") == left[1]
    assert results.counts(FIRST) == {"failed": 1, "scored": 1}
    for word in ("@last/4", "@last/0", "nothing/1"):
        with pytest.raises(UnknownIdError):
            results.trial(word)
    for word in ("@last", "@last/", "@last/x", "@last/9999999999"):
        with pytest.raises(UsageError):
            results.trial(word)


def test_pages_say_what_the_trials_themselves_say(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SIZE", 4)
    results.save_run(run(trials=10))
    results.save_trials([trial(n) for n in range(1, 11)])
    results.save_trial(trial(2, score=1.0, attempt=2))  # newer than its page
    found = results.trials(FIRST)
    assert [each.number for each in found] == list(range(1, 11))
    assert found[1] == trial(2, score=1.0, attempt=2)
    results.write_pages(FIRST)
    assert results.trials(FIRST) == found


def test_pages_spare_reading_each_node(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results(client)
    results.save_run(run(trials=40))
    results.save_trials([trial(n) for n in range(1, 41)])
    reads = []
    real = type(client.nodes).get
    monkeypatch.setattr(
        type(client.nodes), "get", lambda self, ref: reads.append(ref) or real(self, ref)
    )
    assert len(results.trials(FIRST)) == 40
    assert len(reads) == 1


def test_several_processes_may_write_at_once(client: Client, tmp_path: Path) -> None:
    results = Results(client)
    results.save_run(run(trials=24))
    code = (
        "import json, sys\nfrom uwf_core.client import Client\n"
        "from uwf_eval.records import Trial\nfrom uwf_eval.store.results import Results\n"
        "from uwf_core.fields.records import read_payload\n"
        "with Client.open(home=sys.argv[1]) as client:\n"
        "    for text in sys.stdin:\n"
        "        Results(client).save_trial(read_payload(Trial, json.loads(text)))\n"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "home")], stdin=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for number in range(1, 25):
        stdin = workers[number % 2].stdin
        assert stdin is not None
        stdin.write(json.dumps(write_record(trial(number))) + "\n")
    for worker in workers:
        worker.communicate(timeout=60)
    assert [each.number for each in results.trials(FIRST)] == list(range(1, 25))


def test_a_run_of_another_version_is_refused_with_its_version(client: Client) -> None:
    results = Results(client)
    results.save_run(run())
    name = client.nodes.name(f"@uwf/eval/run/{FIRST}")
    assert name is not None
    payload = {"run": FIRST, "evalVersion": "9.0", "shape": "new"}
    type_ = client.nodes.put_type({"type": "object"})
    ref = client.nodes.put(type_, payload)
    client.nodes.set_name(name.name, ref, {**name.tags, "format": "9"}, name)
    with pytest.raises(StoreVersionError, match=r"written by uwf-eval 9\.0") as raised:
        results.run("@last")
    assert raised.value.hint


def test_the_types_of_a_store_are_valid_schemas(client: Client) -> None:
    """They are stored as trusted ones; here they are checked as anybody's would be."""
    for cls, title in ((Run, "uwf eval run"), (Trial, "uwf eval trial")):
        schema = payload_schema(cls, title)
        ref = client.nodes.put_type(schema)
        made = run() if cls is Run else trial(1)
        assert client.nodes.get(client.nodes.put(ref, write_record(made))) == write_record(made)


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
_NUMBER = st.none() | st.integers(0, 2**40)
_USAGE = st.builds(
    Usage,
    turns=_NUMBER,
    input_tokens=_NUMBER,
    cost_usd=st.none() | st.floats(0, 1e6, allow_nan=False),
)


@settings(max_examples=40)
@given(
    judges=st.lists(
        st.builds(
            JudgeResult,
            name=_TEXT,
            judge=_TEXT,
            weight=st.floats(0, 9),
            score=st.none() | st.floats(0, 1),
            data=st.dictionaries(_TEXT, st.none() | _TEXT | st.integers(-5, 5)),
            error=st.none() | _TEXT,
            scores=st.lists(st.floats(0, 1), max_size=3).map(tuple),
            usage=_USAGE,
        ),
        max_size=3,
    ).map(tuple),
    usage=_USAGE,
    failure=st.none() | st.builds(Failure, kind=_TEXT, message=_TEXT),
)
def test_every_trial_comes_back_as_it_was(judges: Any, usage: Any, failure: Any) -> None:
    made = trial(1, judges=judges, usage=usage, failure=failure)
    assert read_payload(Trial, json.loads(json.dumps(write_record(made)))) == made
