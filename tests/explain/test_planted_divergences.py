"""Of two runs that differ in one known place, `thread diff` names that step and that aspect."""

import sys
from pathlib import Path

import pytest
from tests.forms import form

import uwf_explain
from uwf_core.testing.project import Project

sys.path.insert(0, str(Path(__file__).parent))

from planted import CHANGES, Scene, case, play, run, run_case

CASES = [case(seed) for seed in range(form(short=21, long=200))]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def uwf(project):
    with project.client(durable=False) as client:
        yield client


def compared(uwf, a, b):
    return uwf_explain.diff(uwf, a, b)


def mirrored(document):
    """The same comparison with the sides exchanged."""
    swapped = dict(document, a=document["b"], b=document["a"])
    swapped["rows"] = [exchanged(row) for row in document["rows"]]
    return swapped


def exchanged(row):
    found = [dict(each, a=each["b"], b=each["a"]) for each in row["differences"]]
    return dict(row, a=row["b"], b=row["a"], differences=found)


def by_side(document):
    """The rows, without their order: where only one side has a step, either may come first."""
    return sorted(document["rows"], key=lambda row: (row["role"], row["visit"]))


@pytest.mark.parametrize("planted", CASES, ids=lambda planted: planted.name)
def test_the_first_divergence_names_the_planted_step_and_aspect(project, uwf, planted):
    threads = run_case(project, uwf, planted)
    document = compared(uwf, **threads)
    found, change = document["divergence"], planted.change
    assert not document["same"]
    assert (found["aspect"], found["part"]) == (change.aspect, change.part), found["sentence"]
    numbers = {found["numberA"], found["numberB"]} - {None}
    if change.number is None:
        assert numbers <= {1}
    elif change.aspect != "end":
        assert numbers == {planted.step + change.number}
    else:
        assert document["commonSteps"] == planted.step
        assert numbers <= {planted.step + 1}
    again = compared(uwf, threads["b"], threads["a"])
    assert by_side(mirrored(again)) == by_side(document)
    assert (again["divergence"]["a"], again["divergence"]["b"]) == (found["b"], found["a"])


def test_every_kind_of_divergence_is_planted():
    assert {planted.change.kind for planted in CASES} == {change.kind for change in CHANGES}


def test_a_thread_does_not_differ_from_itself_and_from_an_identical_run(project, uwf):
    first, second = (run(project, uwf, Scene(), folder) for folder in ("folder0", "folder1"))
    for other, shared in ((first, 6), (second, 0)):
        document = compared(uwf, first, other)
        assert document["same"] and document["divergence"] is None
        assert (document["commonSteps"], document["sharedSteps"]) == (6, shared)


def test_ids_and_folders_in_prompts_and_replies_are_no_divergence(project, uwf):
    """A long history is cut with the id of the thread and of a step; agents repeat both."""
    threads = []
    for folder in ("folder0", "folder1"):
        scene = Scene()
        for each in scene.plays:
            each["body"] = f"I wrote {project.folder / folder}/text.md.\n" + 12_000 * "x"
            each["output"]["note"] = f"see {project.folder / folder}"
        threads.append(run(project, uwf, scene, folder))
    prompts = [uwf.prompt(uwf.steps(thread)[-1]["step"]) for thread in threads]
    assert all(thread in prompt for thread, prompt in zip(threads, prompts, strict=True))
    assert compared(uwf, *threads)["divergence"] is None


@pytest.mark.parametrize("step", [1, 3, 6])
def test_a_fork_diverges_where_it_got_another_reply(project, uwf, step):
    origin = run(project, uwf, Scene(), "folder0")
    chain = [row["step"] for row in uwf.steps(origin)]
    scene = Scene()
    scene.plays[step - 1] = play(step, note="another note")
    project.script(scene.plays)
    fork = uwf.fork(chain[step - 1])["thread"]
    uwf.exec(fork, until_done=True)
    document = compared(uwf, origin, fork)
    found = document["divergence"]
    assert (found["aspect"], found["part"], found["numberA"]) == ("output", "note", step)
    assert found["stepA"] == chain[step]
    assert document["sharedSteps"] == document["commonSteps"] == step - 1
