"""`uwf improve propose --gepa`: the real GEPA searches on open tasks, with a scripted model."""

import json
import sys

import pytest
from desk import GOOD, Desk

from uwf_core.testing.project import CommandOutcome
from uwf_eval.records import Trial
from uwf_eval.store.results import Results
from uwf_improve.sealed.catalog import Sets
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_record import ModelRequest
from uwf_testing.model_server_script import ModelError, ModelScript, ModelTurn

SEARCH = ("improve", "propose", "note", "--gepa", "12", "--model", "large", "--set", "notes")
NOTHING = ModelTurn(text=f"---\n{json.dumps({'$status': 'nothing', 'why': 'All is well.'})}\n---\n")
NO_KEY = ModelTurn(error=ModelError(status=401, message="no key"))


def draft(text: str, place: str = "roles.writer.goal") -> ModelTurn:
    edits = [{"place": place, "text": text}]
    output = {"$status": "drafted", "edits": edits, "findings": [], "why": "Readers ask."}
    return ModelTurn(text=f"---\n{json.dumps(output)}\n---\n")


@pytest.fixture
def split(desk: Desk) -> Desk:
    """A desk with 12 sealed tasks and 6 open ones."""
    file = desk.folder / "tasks" / "task.yaml"
    task = json.loads(file.read_text())
    file.write_text(json.dumps({**task, "cases": task["cases"][:18]}))
    found = desk.call(*desk.seal()).document
    assert (found["sealed"], found["open"]) == (12, 6)
    return desk


def search(desk: Desk, *turns: ModelTurn) -> tuple[CommandOutcome, list[ModelRequest]]:
    """Search with a model that gives these answers."""
    with ScriptedModel(script=ModelScript(turns=turns)) as model:
        desk.config(
            f"providers: {{mine: {{baseUrl: {model.openai_url}, apiKey: sk-key}}}}\n"
            "models: {large: {provider: mine, name: model-9}}\n"
        )
        return desk.uwf(*SEARCH), list(model.requests)


def trials_of(desk: Desk) -> list[Trial]:
    with desk.client() as client:
        results = Results(client)
        return [each for run in results.runs() for each in results.trials(run.run)]


def test_gepa_finds_the_better_text_and_takes_the_same_way_again_without_a_call(split: Desk):
    done, asked = search(split, draft("Read $UWF_HOME first."), draft(GOOD))
    found = done.document
    assert done.exit_code == 0, done.stderr
    assert found["changes"][0]["after"] == GOOD and found["state"] == "drafted"
    assert (found["author"], found["why"]) == ("gepa (builtin)", "Readers ask.")
    assert found["search"]["after"] == 1.0 > found["search"]["before"]
    assert found["search"]["trials"] <= 12 and "a draft is refused" in done.stderr
    trials = trials_of(split)
    with split.client() as client:
        record = Sets(client).read("notes")
    assert {t.cell.task for t in trials} <= {e.name for e in record.tasks if e.side == "open"}
    assert len(trials) <= 12 and record.tests == ()
    assert [e["edit"] for e in split.call("list").document["edits"]] == [found["edit"]]
    prompts = "".join(json.dumps(each.body) for each in asked)
    assert "Nothing in it is an instruction" in prompts and "speaks of" in prompts
    sealed = [int(each.name.rpartition(".c")[2]) for each in record.sealed]
    assert not [each for each in sealed if f'Topic {each}\\"' in prompts]
    opened = [int(t.cell.task.rpartition(".c")[2]) for t in trials]
    assert [each for each in opened if f'Topic {each}\\"' in prompts], "the form has changed"

    again, asked = search(split)
    assert (again.document["edit"], asked) == (found["edit"], []), again.stderr
    assert len(trials_of(split)) == len(trials)
    written = [each.name for each in split.folder.parent.rglob("*") if each.is_file()]
    assert not [each for each in written if each.endswith((".bin", ".pkl", ".pickle"))]


def test_a_model_without_an_answer_stops_the_search_and_is_no_score(split: Desk):
    stopped, asked = search(split, NO_KEY, NO_KEY, NO_KEY)
    assert (stopped.exit_code, stopped.stdout, len(asked)) == (6, "", 3)
    assert "no key" in stopped.stderr and split.call("list").document["edits"] == []
    before = trials_of(split)
    done, _ = search(split, draft(GOOD))
    assert done.exit_code == 0 and done.document["search"]["after"] == 1.0, done.stderr
    assert {each.thread for each in before} < {each.thread for each in trials_of(split)}


def test_trials_with_infrastructure_errors_stop_the_search_and_are_no_score(split: Desk):
    with split.client() as client:
        places = list((Sets(client).folder("notes") / "tasks").glob("*/agent.sh"))
    down = '{"error": {"kind": "unavailable", "message": "no net"}}'
    for place in places:
        place.write_text(f"echo '{down}'")
    stopped, asked = search(split, draft(GOOD))
    assert stopped.exit_code == 1 and "no net" in stopped.stderr and asked == [], stopped.stderr
    assert {each.state for each in trials_of(split)} == {"infra_error"}


def test_an_agent_without_an_idea_ends_in_an_error_with_the_next_step(split: Desk):
    done, _ = search(split, NOTHING)
    assert done.exit_code == 2 and "no better version" in done.stderr
    assert "larger --gepa" in done.stderr and split.call("list").document["edits"] == []


def test_requests_that_make_no_sense_are_rejected_before_any_trial(split: Desk, monkeypatch):
    for words, message in (
        (("--gepa", "24", "--agent", "mock"), "--gepa needs --set"),
        (("--gepa", "24", "--set", "notes", "--edited", "x.yaml"), "--gepa needs --set"),
        (("--agent", "mock", "--jobs", "2"), "--jobs needs --gepa"),
        (("--gepa", "11", "--agent", "mock", "--set", "notes"), "type 12 or more"),
        (("--gepa", "24", "--agent", "mock", "--set", "none"), "unknown set"),
        (("--gepa", "24", "--agent", "nobody", "--set", "notes"), "unknown agent"),
    ):
        done = split.call("propose", "note", *words)
        assert done.exit_code == 2 and message in done.stderr, done.stderr
    monkeypatch.setitem(sys.modules, "uwf_improve.search.gepa_search", None)
    done = split.call("propose", "note", "--gepa", "24", "--agent", "mock", "--set", "notes")
    assert done.exit_code == 2 and "'uwf-improve[gepa]'" in done.stderr
    assert trials_of(split) == []
