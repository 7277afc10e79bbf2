"""How a comparison reads. Golden files: `UWF_GOLDEN=write pytest`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from compare_kit import A, B, trial, trials

from uwf_core.api import Usage
from uwf_core.commands import Screen
from uwf_core.fields.records import read_record, write_record
from uwf_eval.compare import wording
from uwf_eval.compare.compare import compare
from uwf_eval.compare.records import CompareOptions, Comparison
from uwf_eval.compare.text import as_markdown, as_text
from uwf_eval.records import Trial

GOLDEN = Path(__file__).parent / "golden"
NAMES = (f"{A} baseline", f"{B} careful-review")
LOW = [[0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0], [1, 0, 0]]
HIGH = [[1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 0, 1], [1, 1, 1]]


def spent(run: str, scores: list[list[int]], dollars: float, ms: int) -> list[Trial]:
    """Trials whose costs and durations differ from task to task."""
    return [
        trial(
            run, each.cell.task, each.cell.repeat, each.score,
            usage=Usage(input_tokens=9000 + 700 * nth, output_tokens=800,
                        cost_usd=dollars + nth / 1000),
            duration_ms=ms + 1500 * (nth * 7 % 5),
        )
        for nth, each in enumerate(trials(run, scores))
    ]  # fmt: skip


def better() -> Comparison:
    a, b = spent(A, LOW, 0.02, 41_000), spent(B, HIGH, 0.03, 62_000)
    return compare(a, b, CompareOptions(names=NAMES))


def unclear() -> Comparison:
    """Some of everything: two metrics, trials that do not count, a task that changed."""
    a, b = spent(A, LOW, 0.02, 41_000), spent(B, LOW[::-1], 0.02, 41_300)
    b[3] = trial(B, "task-2", 1, None, state="infra_error")
    b[4] = trial(B, "task-2", 2, 0.0, state="tampered")
    b[5] = trial(B, "task-2", 3, 0.0, usage=Usage(), task_digest="t2")
    b[6:9] = trials(B, [[], [], [1, 1, 1]], fixture="f2")
    a += trials(A, [[], [], [], [], [], [], [], [], *[[1]] * 7])
    return compare(a, b, CompareOptions(metrics=("passed", "cost"), names=NAMES))


def one_task() -> Comparison:
    a = [trial(A, "debate", 1, 0.5, case=case) for case in ("short", "long")]
    b = [trial(B, "debate", 1, 0.7, case=case) for case in ("short", "long")]
    return compare(a, b, CompareOptions(names=NAMES))


def nothing() -> Comparison:
    return compare(trials(A, [[1.0]]), [], CompareOptions(names=NAMES))


def same() -> Comparison:
    many = [[1, 0, 1], [1, 1, 1]] * 40
    return compare(trials(A, many), trials(B, many), CompareOptions(names=NAMES))


CASES = {each.__name__: each for each in (better, unclear, one_task, nothing, same)}


def golden(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("UWF_GOLDEN") == "write":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


@pytest.mark.parametrize("name", CASES)
def test_text_reads_as_in_the_golden_file(name: str) -> None:
    golden(f"{name}.txt", as_text(CASES[name](), Screen(100, False)) + "\n")


@pytest.mark.parametrize("name", CASES)
def test_markdown_reads_as_in_the_golden_file(name: str) -> None:
    golden(f"{name}.md", as_markdown(CASES[name]()))


@pytest.mark.parametrize("width", [30, 40, 60, 80])
@pytest.mark.parametrize("make", CASES.values())
def test_no_sentence_is_wider_than_the_terminal(make: Callable[[], Comparison], width: int) -> None:
    text = as_text(make(), Screen(width, False))
    beyond = [line for line in text.splitlines() if len(line) > width]
    table = [line for line in beyond if line.lstrip().startswith(("METRIC", *words_of_metrics()))]
    names = [line for line in beyond if line.startswith(("A  ", "B  "))]
    assert len(beyond) == len(table) + len(names)
    assert not table or width < 40


def words_of_metrics() -> list[str]:
    return [wording.name_of(each) for each in ("score", "passed", "cost", "tokens", "duration")]


def test_colours_are_for_screens_that_show_them() -> None:
    assert "\x1b[32m" in as_text(better(), Screen(80, True))
    assert "\x1b" not in as_text(better(), Screen(80, False))


@pytest.mark.parametrize("make", CASES.values())
def test_the_json_document_says_all_of_it(make: Callable[[], Comparison]) -> None:
    document = write_record(make())
    again = read_record(Comparison, document)
    assert write_record(again) == document
    assert as_markdown(again) == as_markdown(make())
    assert document["verdict"] == document["tested"][0]["verdict"]


def test_names_of_runs_and_tasks_mean_nothing_to_markdown() -> None:
    a = [trial(A, "a|b `c` <script>", 1, 1.0)]
    text = as_markdown(compare(a, [], CompareOptions(names=("**x**", "[y](http://z)"))))
    assert "<script>" not in text and "**x**" not in text and "[y](" not in text


def test_small_differences_keep_a_figure_that_counts_and_none_has_no_sign() -> None:
    assert wording.change("score", 0.004) == "+0.004"
    assert wording.change("score", -0.00001) == "0.00"
    assert wording.change("passed", -0.12) == "-12 points"
    assert wording.change("cost", -0.0123) == "-$0.012"
    assert wording.change("duration", 61_000.4) == "+1m01s"
    assert wording.change("tokens", None) == "–"
