"""What the check says of mutants of the examples stays word for word what people know.

`python -m tests.core.workflow.test_frozen_checks` writes the file anew, also for the broken files:
read the difference, no message may get worse.
"""

import json
from collections.abc import Iterator
from random import Random

import yaml
from tests.core.workflow.checking import Checked, check_file, check_text
from tests.core.workflow.frozen import FILE, expected, said
from tests.core.workflow.test_check import FILES
from tests.core.workflow.test_mutants import example_workflows
from tests.core.workflow.workflow_mutants import mutants

SAMPLE = 240


def _mutants() -> Iterator[tuple[str, Checked]]:
    found = [
        (path, name, mutant)
        for path, document in example_workflows()
        for name, mutant in mutants(document)
    ]
    for path, name, mutant in Random(37).sample(found, SAMPLE):
        yield f"{path.stem}, {name}", check_text(yaml.safe_dump(mutant, sort_keys=False), path)


def test_what_the_check_says_of_mutants_is_what_it_said() -> None:
    assert len(expected()) >= 400
    wanted = {name: rows for name, rows in expected().items() if "," in name}
    assert {name: said(checked) for name, checked in _mutants()} == wanted


if __name__ == "__main__":
    files = {file.stem: said(check_file(file)) for file in FILES}
    every = files | {name: said(checked) for name, checked in _mutants()}
    FILE.write_text(json.dumps(every, indent=0, ensure_ascii=False) + "\n", "utf-8")
