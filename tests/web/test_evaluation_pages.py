"""Evaluations in the browser: the runs, and the report of one, also while it runs."""

import sys
from pathlib import Path

import pytest
from web_site import WebSite

from uwf_eval.records import Run, Trial
from uwf_eval.store.results import Results

sys.path.insert(0, str(Path(__file__).parents[1] / "eval" / "report"))

from report_kit import HOSTILE, cell, not_run, rich_run, run_of, scored


def stored(web: WebSite, run: Run, trials: list[Trial]) -> str:
    with web.open() as client:
        results = Results(client)
        results.save_run(run, [not_run(each.number, each.cell) for each in trials])
        results.save_trials(each for each in trials if each.state != "not_run")
    return f"/evaluations/{run.run}"


def test_the_list_and_the_report_are_those_of_the_commands(web: WebSite):
    run, trials = rich_run()
    path = stored(web, run, trials)
    listed = web.visitor.get("/evaluations.json").json()
    assert listed["runs"] == web.project.uwf("eval", "list").document["runs"]
    assert f'href="{path}"' in web.visitor.get("/evaluations").text
    document = web.visitor.get(f"{path}.json").json()
    assert document == web.project.uwf("eval", "report", run.run).document
    page = web.visitor.get(path).text
    assert "Cost against score" in page
    assert page.count("<main") == 1


def test_the_page_of_a_run_that_has_not_ended_follows_it(web: WebSite):
    trials = [scored(1, 1.0), not_run(2), not_run(3)]
    run = run_of(trials, finished_at_ms=None)
    path = stored(web, run, trials)
    page = web.visitor.get(path).text
    assert 'data-running="1"' in page
    assert "<b>1</b> scored" in page
    with web.open() as client:
        Results(client).save_trial(scored(2, 1.0))
    assert "<b>2</b> scored" in web.visitor.get(path).text


def test_what_a_trial_says_is_text(web: WebSite):
    trials = [scored(1, 1.0, cell(HOSTILE.replace("\ud800", "")))]
    page = web.visitor.get(stored(web, run_of(trials), trials)).text
    assert "<script>alert" not in page


@pytest.mark.parametrize("run", ["nothing", "01K9ZZZZZZ0000000000000009"])
def test_an_unknown_run_is_a_404(web: WebSite, run: str):
    assert web.visitor.get(f"/evaluations/{run}").status_code == 404


def test_without_uwf_eval_the_page_tells_how_to_get_it(
    web: WebSite, monkeypatch: pytest.MonkeyPatch
):
    for name in [each for each in sys.modules if each.startswith("uwf_eval.store")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uwf_eval.store.results", None)
    assert "pip install uwf-eval" in web.visitor.get("/evaluations").text
    assert web.visitor.get("/evaluations/x").status_code == 404
