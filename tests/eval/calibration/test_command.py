"""`uwf-eval calibrate`, against a model with a known bias."""

import json
from random import Random

import pytest
from calibration_kit import CRITERIA, fair

from uwf_core.client import Client
from uwf_eval.calibration.catalog import copy_calibrations
from uwf_eval.calibration.weigh import run_judges
from uwf_eval.task.load import find_task, take_task

FORM = {"name": "form", "builtin": "frontmatter-compliance"}


def test_a_fair_judge_reaches_its_bar_and_counts(desk):
    desk.task()
    found, figures, text = desk.calibrate("--fail-if", "below")
    assert (found["verdict"], found["weight"]) == ("reached", 2)
    assert (found["items"], found["passing"], found["same"]) == (16, 8, 16)
    assert found["asked"] == desk.asked == 16 * (2 + 1 + 1) and found["failed"] == 0
    assert {each["verdict"] for each in figures.values()} == {"reached"}
    assert figures["kappa"]["value"] == 1.0 and figures["kappa"]["low"] < 1.0
    assert found["identity"]["model"].startswith("first of local (127.0.0.1")
    assert "kappa       1.00" in text and "counts with weight 2" in text


def longer(seen):
    """It gives all to a longer text, and half to a right one."""
    return [4, 4] if seen.is_long else [n // 2 for n in fair(seen)]


def first(seen):
    """It gives all to the criterion that it reads first, and nothing to the other."""
    return [4, 0] if seen.item % 2 else [0, 0]


def always(seen):
    return [4, 4]


def dice(seen):
    return [Random(seen.number).choice([0, 4])] * 2


@pytest.mark.parametrize(
    ("points", "figure"),
    [(longer, "length"), (first, "position"), (always, "kappa"), (dice, "agreement")],
    ids=["length", "position", "constant", "dice"],
)
def test_a_judge_with_a_bias_has_weight_0_and_the_bias_a_name(desk, points, figure):
    desk.points = points
    desk.task(24, options={"criteria": [{**CRITERIA[0], "weight": 99}, CRITERIA[1]]})
    found, figures, text = desk.calibrate("--fail-if", "below", code=1)
    assert figures[figure]["verdict"] == "below", figures
    assert (found["verdict"], found["weight"]) == ("below", 0)
    assert "below the bar" in text and "weight 0 in every run" in text
    assert ("same verdict" in text) == (points is always)


def test_a_set_that_is_too_small_cannot_tell_and_says_how_many_are_needed(desk):
    desk.task(items=6)
    found, _, text = desk.calibrate("--fail-if", "cannot_tell", code=1)
    assert (found["verdict"], found["weight"], found["needed"]) == ("cannot_tell", 0, 16)
    assert "cannot tell" in text and "at least 16 items" in text


def test_nothing_is_asked_for_a_wrong_set_or_a_judge_without_one(desk):
    desk.task()
    file = desk.folder / "task" / "set.yaml"
    items = json.loads(file.read_text())["items"]
    for wrong, words in (
        ({"items": [{**items[0], "gold": 1}, {**items[1], "gold": 1}]}, "all gold labels pass"),
        ({"items": [items[0], items[0]]}, "two items 'i0'"),
        ({"items": [{**items[0], "gold": 7}, items[1]]}, "gold"),
        ({"items": []}, "no items"),
        ({"items": [{**items[0], "files": {"../x": ""}}, items[1]]}, "outside"),
        ([1], "must be a mapping"),
        ({"bar": {"kapa": 1}, "items": items}, "kapa"),
    ):
        file.write_text(json.dumps(wrong))
        _, said = desk.call("calibrate", "task/quality", code=4)
        assert words in said, said
        document, _ = desk.call("check", "task", code=4)
        assert words in json.dumps(document)
    desk.task(calibration=None)
    assert "no calibration set" in desk.call("calibrate", "task/quality", code=2)[1]
    assert "did you mean 'quality'" in desk.call("calibrate", "task/qualty", code=2)[1]
    assert "unknown task 'other'" in desk.call("calibrate", "other", code=2)[1]
    desk.task(calibration="none.yaml")
    assert "missing file" in desk.call("calibrate", "task/quality", code=4)[1]
    desk.task(more=[{**FORM, "calibration": "set.yaml"}])
    assert "asks no model" in desk.call("calibrate", "task/quality", code=4)[1]
    desk.task()
    assert desk.call("calibrate", "task", "--dry-run")[0]["calibrations"][0]["asked"] == 16 * 5
    assert desk.asked == 0


def test_a_judge_that_gives_no_score_for_an_item_is_not_measured(desk):
    desk.task()
    desk.points = lambda seen: [9, 9]
    _, said = desk.call("calibrate", "task/quality", code=1)
    assert "no score for the item 'i0'" in said
    assert "not calibrated" in desk.call("run", "task", code=2)[1]


def test_a_changed_model_prompt_option_or_label_is_not_calibrated(desk):
    desk.task()
    desk.calibrate()
    desk.configure(desk.url, name="second")
    assert "not calibrated" in desk.call("run", "task", code=2)[1]
    desk.configure(desk.url)
    desk.task(options={"criteria": CRITERIA, "temperature": 0.5})
    assert "not calibrated" in desk.call("run", "task", code=2)[1]
    desk.task(items=17)
    assert "uwf eval calibrate" in desk.call("run", "task", code=2)[1]


def test_runs_contain_the_identity_and_give_weight_0_where_the_bar_is_missed(desk):
    desk.task(more=[FORM])
    _, said = desk.call("run", "task", "--name", "before")
    assert "judge quality of count has weight 0: not calibrated" in said
    report, _ = desk.call("report", "before")
    [judge] = report["run"]["tasks"][0]["judges"]
    assert (judge["calibration"], judge["weight"]) == ("missing", 0)
    assert judge["identity"]["model"].startswith("first of local")
    weights = {each["name"]: each["weight"] for each in report["overall"]["judges"]}
    assert weights == {"quality": 0, "form": 1}
    text, _ = desk.call("report", "before", "--format", "text")
    assert "not calibrated" in text
    desk.calibrate()
    _, said = desk.call("run", "task", "--name", "after")
    assert "weight 0" not in said
    report, _ = desk.call("report", "after")
    assert report["run"]["tasks"][0]["judges"][0]["calibration"] == "reached"
    assert {each["name"]: each["weight"] for each in report["overall"]["judges"]}["quality"] == 2


def test_a_run_is_not_resumed_with_another_model_as_judge(desk):
    desk.task(more=[FORM])
    desk.call("run", "task", "--repeat", "2", "--budget", "1trials", "--name", "half", code=5)
    desk.configure(desk.url, name="second")
    _, said = desk.call("resume", "half", code=2)
    assert "not the one with which the run began" in said


def test_a_calibration_counts_in_a_store_that_it_was_copied_to(desk, tmp_path):
    desk.task()
    desk.calibrate()
    other = {"UWF_HOME": str(desk.home), "UWF_STORE": f"sqlite:{tmp_path / 'sealed.db'}"}
    with Client.open(cwd=desk.folder) as here, Client.open(env=other) as there:
        found = find_task("task", here, desk.folder)
        task = take_task(found, tmp_path / "copy", here).require()
        assert [each.calibration for each in run_judges(there, task)] == ["missing"]
        for _ in range(2):
            copy_calibrations(here, there)
        assert [each.calibration for each in run_judges(there, task)] == ["reached"]
