"""Nearly every mutant of the example workflows is caught, and the examples raise no alarm.

`python -m tests.core.workflow.test_mutants` checks all mutants and prints a table.
"""

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from tests.core.workflow.checking import check_text
from tests.core.workflow.workflow_mutants import OPERATORS, mutants

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted(
    [
        *ROOT.glob("uwf-core/src/uwf_core/examples/*.yaml"),
        *ROOT.glob("examples/eval/*/*.yaml"),
        *ROOT.glob("examples/edit-docx/.workflow/*.yaml"),
    ]
)
SAMPLE = 150


def example_workflows() -> list[tuple[Path, dict[str, Any]]]:
    found = [(path, yaml.safe_load(path.read_text(encoding="utf-8"))) for path in EXAMPLES]
    return [(path, each) for path, each in found if "roles" in each and "graph" in each]


def _problems(path: Path, document: dict[str, Any]) -> list[str]:
    checked = check_text(json.dumps(document, indent=0), path)
    return sorted(problem.code for problem in checked.problems)


def missed(sample: int | None) -> tuple[int, list[str]]:
    """How many mutants were checked, and those of which nothing was found."""
    every = [(path, *each) for path, document in example_workflows() for each in mutants(document)]
    chosen = every if sample is None else Random(18).sample(every, sample)
    return len(chosen), [f"{p.stem}: {name}" for p, name, one in chosen if not _problems(p, one)]


def test_the_examples_raise_no_alarm() -> None:
    assert len(example_workflows()) >= 15
    assert {str(path): _problems(path, each) for path, each in example_workflows()} == {
        str(path): [] for path, _ in example_workflows()
    }


def test_at_least_95_of_100_mutants_are_caught() -> None:
    count, survivors = missed(SAMPLE)
    assert count >= 100
    assert len(survivors) <= count * 0.05, survivors


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.__name__)
def test_each_operator_breaks_one_of_the_examples(operator: Any) -> None:
    for path, document in example_workflows():
        for _, change in operator(document):
            change()
            assert _problems(path, document), path
            return
    raise AssertionError("no example has a place for it")


if __name__ == "__main__":
    total, left = missed(None)
    print(f"{total} mutants of {len(example_workflows())} workflows, {total - len(left)} caught")
    print("\n".join(left))
    sys.exit(len(left) > total * 0.05)
