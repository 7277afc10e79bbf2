"""The example `edit-docx` on real Word files: a small program plays the writer, all else are the
programs of the example.
"""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.testing.project import CommandOutcome, Project

EXAMPLE = Path(__file__).parents[2] / "examples" / "edit-docx"
WRITER = """\
import json, pathlib, sys
for name, text in json.loads(pathlib.Path("edits.json").read_text()):
    file = pathlib.Path(name)
    changed = text if isinstance(text, str) else file.read_text().replace(*text)
    file.write_text(changed)
print(json.dumps({"output": {"$status": "written", "draft": sys.argv[1]}}))
"""


class Office(Project):
    """A copy of the example, whose writer is a small program that makes the edits of a test."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        shutil.copytree(EXAMPLE, self.folder, dirs_exist_ok=True)
        (self.folder / "writer.py").write_text(WRITER)
        own = Path(sys.executable).parent
        self.env["PATH"] = f"{own}{os.pathsep}{self.env.get('PATH', os.defpath)}"
        allowed = self.uwf("workflow", "add", ".workflow/edit-docx.yaml", "--allow-programs")
        assert allowed.exit_code == 0, allowed.stderr

    def run(self, draft: str, edits: list[Any], **given: str) -> CommandOutcome:
        """Run the workflow, with a writer that replaces texts in the draft."""
        return self.run_edits(draft, [[draft, each] for each in edits], **given)

    def run_edits(self, draft: str, edits: list[Any], **given: str) -> CommandOutcome:
        """Run the workflow, with a writer that edits files."""
        (self.folder / "edits.json").write_text(json.dumps(edits))
        command = json.dumps({"command": sys.executable, "args": ["writer.py", draft]})
        self.config(f"agents: {{office-agent: {command}}}\n")
        inputs = [f"--input={name}={value}" for name, value in given.items()]
        return self.uwf("run", "edit-docx", "-p", "A letter", "--agent", "office-agent", *inputs)

    def results(self) -> list[tuple[str, str]]:
        """Role and status of each step."""
        rows = self.uwf("step", "list", "@last").document["steps"][1:]
        return [(row["role"], row["status"]) for row in rows]

    def output(self, number: int) -> Mapping[str, Any]:
        """The output of a step, from 1."""
        row = self.uwf("step", "list", "@last").document["steps"][number]
        return self.uwf("step", "show", row["step"]).document["output"]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


@pytest.fixture
def letter(office: Office) -> Path:
    """A document with headings, formats, a list and a table."""
    document = Document()
    document.add_heading("Opening hours", level=1)
    paragraph = document.add_paragraph("We open at ")
    paragraph.add_run("nine").bold = True
    paragraph.add_run(" every day.")
    document.add_paragraph("Bring your own cup.", style="List Bullet")
    document.add_table(rows=1, cols=1).cell(0, 0).text = "in a table"
    document.add_paragraph("See you soon.")
    file = office.folder / "letter.docx"
    document.save(str(file))
    return file


def texts(file: Path) -> list[tuple[str, str]]:
    return [(each.style.name, each.text) for each in Document(str(file)).paragraphs if each.text]


def test_without_a_document_a_new_one_is_written(office: Office):
    text = "# Notice\n\nWe close\nat five.\n\n- Ring twice.\n\n1. Wait.\n\n## More\n"
    done = office.run("document-1/draft.md", [text], prompt="Write a notice.")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done.stderr
    assert office.results() == [
        ("reader", "generate"),
        ("writer", "written"),
        ("builder", "generated"),
    ]
    assert office.output(3)["document"] == "document-1/document.docx"
    assert texts(office.folder / "document-1" / "document.docx") == [
        ("Heading 1", "Notice"),
        ("Normal", "We close at five."),
        ("List Bullet", "Ring twice."),
        ("List Number", "Wait."),
        ("Heading 2", "More"),
    ]


def test_an_edit_leaves_the_original_as_it_is_and_writes_new_files(office: Office, letter: Path):
    before = letter.read_bytes()
    edits = [["See you soon.", "See you at ten.\n\nYours"], ["- Bring your own cup.\n\n", ""]]
    done = office.run("letter-1/draft.md", edits, prompt="Name ten.", inputDocx="letter.docx")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done.stderr
    assert office.results() == [
        ("reader", "edit"),
        ("writer", "written"),
        ("builder", "modified"),
        ("differ", "different"),
    ]
    assert letter.read_bytes() == before
    assert office.output(4)["diff"] == "letter-1/diff.docx"
    assert office.output(4)["changes"] == 3
    modified = office.folder / "letter-1/modified.docx"
    assert texts(modified) == [
        ("Heading 1", "Opening hours"),
        ("Normal", "We open at nine every day."),
        ("Normal", "See you at ten."),
        ("Normal", "Yours"),
    ]
    document = Document(str(modified))
    assert [run.bold for run in document.paragraphs[1].runs] == [None, True, None]
    assert document.tables[0].cell(0, 0).text == "in a table"
    shown = [run for each in Document(str(office.folder / "letter-1/diff.docx")).paragraphs
             for run in each.runs]  # fmt: skip
    struck = " ".join(run.text.strip() for run in shown if run.font.strike)
    added = " ".join(run.text.strip() for run in shown if run.font.underline)
    assert (struck, added) == ("Bring your own cup. soon.", "at ten. Yours")


def test_a_document_elsewhere_keeps_its_files_together(office: Office, letter: Path):
    folder = office.folder.parent / "elsewhere"
    folder.mkdir()
    moved = letter.rename(folder / "-my letter.docx")
    draft = "-my letter-1/draft.md"
    done = office.run(draft, [["nine", "ten"]], prompt="Ten.", inputDocx=str(moved))
    assert done.document["status"] == "completed", done.stderr
    assert [each.name for each in folder.iterdir()] == ["-my letter.docx"]
    assert sorted(each.name for each in (office.folder / "-my letter-1").iterdir()) == [
        "diff.docx",
        "draft.md",
        "modified.docx",
        "original.docx",
    ]


def test_the_original_is_stored_and_no_two_threads_share_a_file(office: Office, letter: Path):
    before = letter.read_bytes()
    for number, word in enumerate(("ten", "eleven"), 1):
        draft = f"letter-{number}/draft.md"
        done = office.run(draft, [["nine", word]], prompt="Later.", inputDocx="letter.docx")
        assert done.document["status"] == "completed", done.stderr
        files = office.uwf("step", "list", "@last").document["steps"][1]["step"]
        out = office.folder.parent / f"delivered-{number}"
        assert office.uwf("step", "files", files, "-o", str(out)).exit_code == 0
        assert (out / f"letter-{number}" / "original.docx").read_bytes() == before
    modified = [texts(office.folder / f"letter-{n}" / "modified.docx")[1][1] for n in (1, 2)]
    assert modified == ["We open at ten every day.", "We open at eleven every day."]


@pytest.mark.parametrize("which", ["letter.docx", "letter-1/original.docx"])
def test_an_original_that_has_changed_is_a_failed_check(office: Office, letter: Path, which: str):
    draft = "letter-1/draft.md"
    edits = [[draft, ["nine", "ten"]], [which, "changed"]]
    done = office.run_edits(draft, edits, prompt="Ten.", inputDocx="letter.docx")
    assert (done.exit_code, done.document["status"]) == (3, "suspended"), done.stderr
    assert office.results()[2] == ("builder", "changed")
    assert which in office.output(3)["reason"]
    assert not (office.folder / "letter-1" / "modified.docx").exists()


def test_an_edit_that_changes_nothing_goes_back_to_the_writer(office: Office, letter: Path):
    done = office.run("letter-1/draft.md", [], prompt="Change it.", inputDocx="letter.docx")
    assert (done.exit_code, done.document["suspendReason"]) == (5, "limit")
    assert office.results()[2:6] == [
        ("builder", "modified"),
        ("differ", "same"),
        ("writer", "written"),
        ("builder", "modified"),
    ]
    assert not (office.folder / "letter-1/diff.docx").exists()


def test_a_draft_that_is_missing_is_rejected_with_the_reason(office: Office):
    done = office.run("notes.md", [], prompt="Write.")
    assert done.exit_code == 5
    assert office.results()[2] == ("builder", "rejected")
    assert "there is no file 'notes.md'" in office.output(3)["reason"]


def test_an_error_of_a_program_is_not_a_difference(office: Office):
    (office.folder / "letter.docx").write_text("this is not a Word file")
    done = office.run("letter-1/draft.md", [], prompt="Edit.", inputDocx="letter.docx")
    assert (done.exit_code, done.document["suspendReason"]) == (6, "failure")
    differ = [sys.executable, "programs/diff_docx.py", "--original=letter.docx"]
    ended = subprocess.run(differ, cwd=office.folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr


def test_another_differ_takes_the_place_of_the_program(office: Office, letter: Path):
    """As README.md shows: one line of the workflow; the exit code means the same."""
    tool = office.folder / "docx-diff"
    tool.write_text(
        '#!/bin/sh\ncp "$1" "$3"\necho "{\\"diff\\": \\"$3\\", \\"changes\\": 1}"\nexit 1\n'
    )
    tool.chmod(0o755)
    file = office.folder / ".workflow" / "edit-docx.yaml"
    [old] = re.findall(r"argv: .*diff_docx.*", file.read_text())
    new = 'argv: [./docx-diff, "./{{original}}", "./{{modified}}", "./{{modified}}.diff.docx"]'
    file.write_text(file.read_text().replace(old, new))
    added = office.uwf("workflow", "add", ".workflow/edit-docx.yaml", "--allow-programs")
    assert "edit-docx runs for differ: ./docx-diff" in added.stderr
    done = office.run(
        "letter-1/draft.md", [["nine", "ten"]], prompt="Ten.", inputDocx="letter.docx"
    )
    assert done.document["status"] == "completed", done.stderr
    assert office.output(4)["diff"] == "./letter-1/modified.docx.diff.docx"


TEXT = st.text("ab ", min_size=1, max_size=8).map(str.split).filter(bool).map(" ".join)
STYLES = st.sampled_from(["Normal", "Heading 1", "Heading 2", "List Bullet", "List Number"])
LINES = st.lists(st.tuples(STYLES, TEXT), max_size=6)


@settings(max_examples=25)
@given(LINES, LINES.filter(bool))
def test_a_modified_document_has_the_text_of_the_draft_whatever_was_edited(old: Any, new: Any):
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as name:
        patch.syspath_prepend(str(EXAMPLE / "programs"))
        build = importlib.import_module("build_docx").build
        lines = importlib.import_module("docx_lines")
        original, draft = Path(name, "original.docx"), Path(name, "draft.md")
        document = Document()
        for style, text in old:
            document.add_paragraph(text, style=style)
        document.save(str(original))
        draft.write_text(lines.as_markdown([lines.Line(*each) for each in new]))
        assert lines.lines_of(Document(str(original))) == [lines.Line(*each) for each in old]
        code, fields = build(Namespace(draft=str(draft), original=str(original)))
        assert code == 0
        assert lines.lines_of(Document(fields["modified"])) == [lines.Line(*each) for each in new]
