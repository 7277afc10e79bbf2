"""The pages that are written from the code say something about everything."""

import dataclasses
import re
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from generate import page
from generate.cli import commands
from generate.documents import schemas
from uwf_core import api
from uwf_core.cli.main import Root
from uwf_core.workflow.changes import KINDS
from uwf_core.workflow.codes import CODES
from uwf_eval.judges.builtin_judges import builtin_judges

WITHOUT_DOCUMENT = {"acp", "mcp"}  # they serve a protocol
WITHOUT_EXAMPLE = {"too-large", "too-many-problems"}  # each needs a large file


def rows_of(name):
    """The cells of each row of a page's tables."""
    lines = [line for line in page(name).splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_every_code_of_check_has_a_meaning_and_a_real_message():
    rows = {cells[0].strip("`"): cells for cells in rows_of("problems")}
    assert rows.keys() == CODES.keys()
    unexplained = {code for code, cells in rows.items() if not (cells[1] and cells[3])}
    assert unexplained == WITHOUT_EXAMPLE


def test_every_command_that_prints_a_document_has_its_schema():
    root = Root()
    paths = {
        ".".join(context.command_path.split())
        for command, context in commands(root, click.Context(root, info_name=""))
        if not isinstance(command, click.Group)
    }
    assert paths - schemas().keys() == WITHOUT_DOCUMENT


def test_every_kind_of_change_has_a_row_in_the_guide():
    guide = (Path(__file__).parents[2] / "docs/guides/workflows.md").read_text()
    table = re.search(r"^\| change \|.*\n(?:\|.*\n)+", guide, re.MULTILINE)
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table[0], re.MULTILINE)) == set(KINDS)


def test_every_built_in_judge_has_a_section_and_every_option_a_meaning():
    text = page("judges")
    assert all(f"\n## {name}\n" in text for name in builtin_judges())
    assert [cells for cells in rows_of("judges") if not cells[2]] == []


def test_every_name_of_the_api_has_an_entry_and_every_record_all_its_fields():
    text = page("api")
    for name in api.__all__:
        entry = text.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        assert entry.strip(), name
        record = getattr(api, name)
        is_record = isinstance(record, type) and dataclasses.is_dataclass(record)
        fields = [f.name for f in dataclasses.fields(record)] if is_record else []
        for field in getattr(record, "_fields", fields):
            (row,) = re.findall(rf"^\| `{field}` \|.*$", entry, re.MULTILINE)
            assert not row.endswith("|  |"), f"{name}.{field} has no meaning"
