"""What `workflow check` says of broken workflows, word for word, as a file keeps it."""

import json
from functools import cache
from pathlib import Path

from tests.core.workflow.checking import Checked

ROOT = Path(__file__).parents[3]
FILE = Path(__file__).parent / "broken" / "expected.json"


@cache
def expected() -> dict[str, list[str]]:
    """The rows of each workflow: the name of a file, or `EXAMPLE, OPERATOR: PLACE` of a mutant."""
    return dict(json.loads(FILE.read_text("utf-8")))


def said(checked: Checked) -> list[str]:
    """The rows, without the place of this checkout."""
    rows = [
        f"{Path(each.file).name}:{each.line}:{each.column} {each.severity} {each.code}: "
        f"{each.message} | {each.hint}"
        for each in checked.problems
    ]
    return [row.replace(str(ROOT), "ROOT") for row in rows]
