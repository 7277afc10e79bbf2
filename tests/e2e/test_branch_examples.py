"""The examples with parallel branches, each from start to end."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from tests.e2e.examples_kit import edge_prompts, example, roles, says

from uwf_core.testing.project import Project

READER = """\
import json, os, pathlib, re
request = pathlib.Path(os.environ["UWF_REQUEST"]).read_text()
file = re.search(r"Read (\\S+)[.] The question", request)[1]
lines = enumerate(pathlib.Path(file).read_text().splitlines(), 1)
found = [f"{line} (line {number})" for number, line in lines if "omplaint" in line]
output = {"$status": "found", "file": file, "facts": " ".join(found)}
print(json.dumps({"output": output if found else {"$status": "nothing"}}))
"""
"""An agent that really reads: it delivers the lines about complaints."""

DOCUMENTS = {
    "north.txt": "Contract with North\nWe answer complaints within 3 days.\n",
    "south.txt": "Contract with South\nInvoices are due after a month.\n",
    "west.txt": "Contract with West\nComplaints are answered at once.\n",
}
ANSWERED = says("writer", "answered", answer="Within 3 days.", sources=["north.txt"])


def library(project: Project, *listed: str) -> Project:
    """The example with documents, readers who read them, and a librarian who lists some."""
    for name, text in DOCUMENTS.items():
        (project.folder / name).write_text(text)
    (project.folder / "reader.py").write_text(READER)
    command = json.dumps({"command": sys.executable, "args": ["reader.py"]})
    project.config(f"agents: {{really-reads: {command}}}\n")
    documents: list[Mapping[str, Any]] = [{"file": name} for name in listed]
    question = "When do we answer complaints?"
    librarian = says("librarian", "listed", question=question, documents=documents)
    project.script([librarian, ANSWERED], by_role=True)
    return project


def ask(project: Project) -> Any:
    return project.uwf("run", "map-reduce", "-p", "Complaints?", "--agent", "reader=really-reads")


def test_each_document_has_a_reader_and_the_writer_gets_what_they_found(project: Project):
    done = ask(library(example(project, "map-reduce"), *DOCUMENTS))
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done.stderr
    assert roles(project) == ["librarian", "librarian/listed", "writer"]
    assert edge_prompts(project)[2] == (
        "Answer the question. The documents say:\n"
        "- north.txt: We answer complaints within 3 days. (line 2)\n"
        "- west.txt: Complaints are answered at once. (line 2)\n"
    )
    assert sorted(each["role"] for each in done.document["steps"]) == [
        *("librarian", "reader", "reader", "reader", "writer")
    ]
    joint = project.uwf("step", "list", "@last").document["steps"][2]
    results = project.uwf("step", "show", joint["step"]).document["output"]["results"]
    assert [(each["$index"], each["$status"]) for each in results] == [
        *((0, "found"), (1, "nothing"), (2, "found"))
    ]


def test_a_library_without_documents_or_answers_asks_where_to_look(project: Project):
    none = ask(library(example(project, "map-reduce")))
    assert (none.exit_code, none.document["suspendMessage"]) == (
        *(3, "There is no document to read. Where are they?"),
    )
    nothing = ask(library(project, "south.txt"))
    assert (nothing.exit_code, nothing.document["suspendMessage"]) == (
        *(3, "No document answers it. Where else may I look?"),
    )


PREPARED = says("preparer", "prepared", summary="Discounts.", files=["shop.py", "test_shop.py"])
NO_TEST = says("tests", "findings", comments="No test of 100 %.")
JUDGED = says("judge", "judged", recommendation="change", reasons="Nothing tests 100 %.")


def test_a_change_is_reviewed_by_three_and_decided_by_a_person(project: Project):
    """Reviewers that run again continue their own sessions, in the threads that they have."""
    example(project, "review-in-parallel").script(
        [
            PREPARED,
            says("security", "clear"),
            says("style", "clear"),
            NO_TEST,
            says("tests", "clear"),
            JUDGED,
        ],
        by_role=True,
    )
    asked = project.uwf("run", "review-in-parallel", "-p", "The branch discounts")
    assert (asked.exit_code, asked.document["suspendMessage"]) == (
        *(3, "The judge recommends: change. Nothing tests 100 %."),
    ), asked.stderr
    lines = [line for line in asked.stderr.splitlines() if line.startswith("#2")]
    assert lines[0] == "#2 preparer/prepared: 3 branches: security, style, tests"
    assert {line.split()[0] for line in lines[1:]} == {"#2", "#2.style", "#2.tests", "#2.security"}
    assert edge_prompts(project)[2] == "Judge these reviews.\nTests: No test of 100 %.\n"
    again = project.uwf(
        *("thread", "resume", "@last", "--until-done", "--answer"),
        '{"$status": "again", "comments": "There is a test now."}',
    )
    assert again.document["suspendMessage"] == "No reviewer found anything. Accept the change?"
    children = project.uwf("thread", "list", "--all", "--children").document["threads"]
    assert len(children) == 4
    done = project.uwf("thread", "resume", "@last", "--answer", "$status=accepted")
    assert (done.exit_code, done.document["status"]) == (0, "completed")
    assert roles(project) == [
        *("preparer", "preparer/prepared", "judge", "maintainer"),
        *("preparer", "preparer/prepared", "maintainer"),
    ]


def test_a_handbook_is_written_chapter_by_chapter_each_at_its_own_pace(project: Project):
    """A chapter is a workflow; one that asks a person does not stop the others."""
    chapters = [
        {"title": name, "file": f"{name}.md", "contents": "What it is."} for name in ("a", "b")
    ]
    example(project, "write-handbook").script(
        [
            says("planner", "planned", chapters=chapters),
            says("planner", "planned", chapters=chapters[:1]),
            says("writer", "unclear", question="Which bank?"),
            says("writer", "written", file="a.md"),
            says("editor", "returned", comments="Too long."),
            says("editor", "accepted", file="a.md", summary="What it is."),
            says("publisher", "gaps", missing="The bus."),
            says("publisher", "published", file="handbook.md"),
        ],
        by_role=True,
    )
    asked = project.uwf("run", "write-handbook", "-p", "For volunteers")
    root = asked.document["thread"]
    assert (asked.exit_code, asked.document["suspendMessage"]) == (3, "Which bank?"), asked.stderr
    branches = project.uwf("thread", "show", root).document["stack"][-1]["branches"]
    assert [each["status"] for each in branches] == ["suspended", "suspended"]
    both = project.uwf("thread", "resume", root, "-p", "The food bank.")
    assert both.exit_code == 2 and all(each["thread"] in both.stderr for each in branches)
    for each in branches:
        done = project.uwf("thread", "resume", each["thread"], "-p", "Food.", "--until-done")
        assert (done.exit_code, done.document["status"]) == (0, "completed")
    asked = project.uwf("thread", "exec", root, "--until-done")
    assert (asked.exit_code, asked.document["suspendMessage"]) == (3, "Which bank?")
    done = project.uwf("thread", "resume", root, "-p", "Food.", "--until-done")
    assert (done.exit_code, done.document["status"]) == (0, "completed")
    assert roles(project) == [
        *("planner", "planner/planned", "publisher"),
        *("planner", "planner/planned", "publisher"),
    ]
    assert edge_prompts(project)[2] == "Put these together: a.md: What it is. a.md: What it is."
