"""The example workflows: each can be copied, passes the check, and runs to its end."""

import re
from pathlib import Path

import pytest
from tests.e2e.examples_kit import edge_prompts, example, roles, says

from uwf_core.testing.project import Project

EXAMPLES = (
    *("debate", "develop", "fix-bug", "fix-in-worktrees", "improve", "map-reduce"),
    "review-in-parallel",
    *("solve-issue", "write-chapter", "write-document", "write-handbook"),
)
PACKAGE = Path(__file__).parents[2] / "uwf-core" / "src" / "uwf_core" / "examples"


def test_all_examples_are_listed_with_what_they_are_for(project: Project):
    listed = project.uwf("workflow", "new", "--examples").document["examples"]
    assert [each["name"] for each in listed] == list(EXAMPLES)
    assert all(each["description"] for each in listed)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_becomes_a_file_of_ones_own_without_a_warning(name: str, project: Project):
    """Under its own name and under another one; editors find the schema of the format."""
    for words in (
        ("workflow", "new", name, "--from", name),
        ("workflow", "new", "1.0", "--from", name),
    ):
        made = project.uwf(*words)
        file = Path(made.document["file"])
        assert project.uwf("workflow", "check", str(file)).document == {
            "valid": True,
            "problems": [],
        }
        assert Path(made.document["schema"]).is_file()
        text = file.read_text()
        assert made.document["schema"] not in text, "the file goes to other machines"
        comments = [line for line in text.splitlines() if line.startswith("#")]
        assert any(made.document["name"] in line for line in comments)
    assert not any(re.search(rf"(?<![\w-])(?<!uwf ){name}(?![\w-])", each) for each in comments)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_in_the_package_names_the_schema_beside_it(name: str):
    first = (PACKAGE / f"{name}.yaml").read_text().splitlines()[0]
    assert (PACKAGE / first.removeprefix("# yaml-language-server: $schema=")).is_file()


def test_a_new_workflow_of_the_project_can_be_started_by_its_name(project: Project):
    """Its folder is made where there is none yet; a bad name makes nothing."""
    assert project.uwf("workflow", "new", ".workflow/-bad.yaml").exit_code == 2
    assert list(project.folder.iterdir()) == []
    assert project.uwf("workflow", "new", ".workflow/first.yaml").exit_code == 0
    assert project.uwf("thread", "start", "first", "-p", "x").exit_code == 0


def test_an_unknown_example_or_a_file_that_is_there_changes_nothing(project: Project):
    unknown = project.uwf("workflow", "new", "x", "--from", "fixbug")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "fix-bug" in unknown.error["hint"]
    (project.folder / "x.yaml").write_text("mine")
    assert project.uwf("workflow", "new", "x", "--from", "debate").exit_code == 2
    assert project.uwf("workflow", "new").exit_code == 2
    assert [each.name for each in project.folder.iterdir()] == ["x.yaml"]
    assert (project.folder / "x.yaml").read_text() == "mine"


def test_fix_bug_goes_back_to_the_developer_until_review_and_tests_are_content(project: Project):
    example(project, "fix-bug").script(
        [
            says("planner", "unclear", question="Which total?"),
            says("planner", "planned", file="shop.py", plan="round it"),
            says("developer", "done", summary="Rounded.", files=["shop.py", "test_shop.py"]),
            says("reviewer", "rejected", comments="halves"),
            says("developer", "done", summary="Halves too.", files=["shop.py"]),
            says("reviewer", "approved"),
            says("tester", "failed", report="test_x: 1 != 2"),
            says("developer", "done", summary="And x.", files=["shop.py"]),
            says("reviewer", "approved"),
            says("tester", "passed", tests=7),
        ]
    )
    asked = project.uwf("run", "fix-bug", "-p", "The total is off")
    assert (asked.exit_code, asked.document["steps"][-1]["suspendMessage"]) == (3, "Which total?")
    assert project.uwf("thread", "resume", "@last", "-p", "The invoice's").exit_code == 0
    done = project.uwf("thread", "exec", "@last", "--until-done")
    assert (done.exit_code, done.document["status"]) == (0, "completed")
    resumed = project.uwf("step", "list", "@last").document["steps"][2]["step"]
    prompt = project.uwf("step", "read", resumed, "--prompt").stdout
    assert "You asked:\n\nWhich total?\n\nA person answered:\n\nThe invoice's\n\n" in prompt
    told = edge_prompts(project)
    assert told[2] == "Repair this, in shop.py: round it"
    assert told[3] == "Review this: Rounded. Changed: shop.py test_shop.py"
    assert told[4] == "The reviewer rejects the change: halves"
    assert told[7] == "The tests fail: test_x: 1 != 2"


def test_an_example_that_calls_another_one_brings_it_along(project: Project):
    """Beside it, under its own name; it may be there already, but is never replaced."""
    made = project.uwf("workflow", "new", ".workflow/issue.yaml", "--from", "solve-issue")
    assert [Path(each).name for each in made.document["files"]] == ["issue.yaml", "develop.yaml"]
    assert made.document["file"] == made.document["files"][0]
    again = project.uwf("workflow", "new", ".workflow/other.yaml", "--from", "solve-issue")
    assert (again.exit_code, len(again.document["files"])) == (0, 2)
    folder = project.folder / ".workflow"
    (folder / "develop.yaml").write_text("mine")
    refused = project.uwf("workflow", "new", ".workflow/third.yaml", "--from", "solve-issue")
    assert (refused.exit_code, refused.error["where"]) == (2, ".workflow/develop.yaml")
    assert project.uwf("workflow", "new", "develop", "--from", "solve-issue").exit_code == 2
    assert sorted(each.name for each in folder.iterdir()) == [
        *("develop.yaml", "issue.yaml", "other.yaml")
    ]
    assert (folder / "develop.yaml").read_text() == "mine"
    assert not (project.folder / "develop.yaml").exists()


SUITE = """\
import unittest
from pathlib import Path

class Half(unittest.TestCase):
    def test_half(self):
        self.assertIn("half up", Path("shop.py").read_text())
"""


def test_solve_issue_develops_in_a_called_thread_until_tests_review_and_verifier_agree(
    project: Project,
):
    """The tester really runs the tests; what the developer writes is played by a program."""
    example(project, "solve-issue").script(
        [
            says("planner", "unclear", question="Which total?"),
            says("planner", "planned", file="shop.py", plan="round it"),
            says("developer", "done", summary="Rounded.", files=["shop.py"]),
            says("developer", "unclear", question="Up or down?"),
            says("developer", "done", summary="Half up.", files=["shop.py"]),
            says("reviewer", "approved", summary="It rounds half up."),
            says("verifier", "open", missing="a test"),
            says("developer", "done", summary="A test.", files=["test_shop.py"]),
            says("verifier", "solved", evidence="The total is right."),
        ],
        by_role=True,
    )
    (project.folder / "test_shop.py").write_text(SUITE)
    (project.folder / "shop.py").write_text("# cut off\n")
    refused = project.uwf("run", "solve-issue", "-p", "The total is off")
    assert (refused.exit_code, "python3 -B -m unittest" in refused.stderr) == (2, True)
    allowed = project.uwf("workflow", "add", ".workflow/solve-issue.yaml", "--allow-programs")
    assert allowed.exit_code == 0
    started = project.uwf("run", "solve-issue", "-p", "The total is off")
    assert started.exit_code == 3
    root = started.document["thread"]
    asked = project.uwf("thread", "resume", root, "-p", "The invoice's", "--until-done")
    assert (asked.exit_code, asked.document["suspendMessage"]) == (3, "Up or down?")
    assert [each["role"] for each in asked.document["steps"]] == [
        *("planner", "developer", "tester", "developer")
    ]
    child = asked.document["steps"][-1]["thread"]
    assert child != root
    (project.folder / "shop.py").write_text("# half up\n")
    done = project.uwf("thread", "resume", root, "-p", "Up", "--until-done")
    assert (done.exit_code, done.document["status"]) == (0, "completed")
    steps = project.uwf("step", "list", root).document["steps"][1:]
    assert [(each["role"], each["status"]) for each in steps] == [
        ("planner", "unclear"),
        ("planner", "planned"),
        ("development", "approved"),
        ("verifier", "open"),
        ("development", "approved"),
        ("verifier", "solved"),
    ]
    below = project.uwf("step", "list", child).document["steps"][1:]
    assert [(each["role"], each["status"]) for each in below] == [
        ("developer", "done"),
        ("tester", "failed"),
        ("developer", "unclear"),
        ("developer", "done"),
        ("tester", "passed"),
        ("reviewer", "approved"),
        ("developer", "done"),
        ("tester", "passed"),
        ("reviewer", "approved"),
    ]
    told = [
        project.uwf("step", "show", each["step"]).document["attempt"]["edgePrompt"]
        for each in (*steps, *below)
    ]
    assert told[3] == "This has changed: It rounds half up. Is the issue solved?"
    assert told[8].startswith("The tests fail:") and "half up" in told[8]
    assert told[12] == "The change is not finished.\n\nThe issue is not solved yet: a test"


def test_debate_widens_until_it_is_enough_and_argues_until_the_critics_agree(project: Project):
    """Two loops in one workflow; whoever speaks again goes on in his own session."""
    example(project, "debate").script(
        [
            says("inventor", "ideas", ideas=["wood", "gas"]),
            says("surveyor", "wider", direction="heating less"),
            says("inventor", "ideas", ideas=["insulation"]),
            says("surveyor", "enough", shortlist=["wood", "insulation"]),
            says("advocate", "proposed", position="Insulate."),
            says("sceptic", "objects", objections="Old walls."),
            says("advocate", "proposed", position="Insulate roofs."),
            says("sceptic", "agrees"),
            says("practitioner", "objects", objections="Who pays?"),
            says("advocate", "proposed", position="Insulate roofs, the town lends."),
            says("sceptic", "agrees"),
            says("practitioner", "agrees"),
        ]
    )
    done = project.uwf("run", "debate", "-p", "How shall we heat?")
    assert (done.exit_code, done.document["status"]) == (0, "completed")
    steps = [project.uwf("step", "show", each["step"]).document for each in done.document["steps"]]
    told = [each["attempt"]["edgePrompt"] for each in steps]
    assert told[1] == "New ideas:\n- wood\n- gas\nIs the field wide enough?"
    assert told[2] == "Nobody has looked here yet: heating less"
    assert told[4] == "These are worth an argument:\n- wood\n- insulation"
    assert told[9] == "The practitioner objects: Who pays?"
    sessions = {(each["role"], each["session"]["id"]) for each in steps}
    assert len(sessions) == len({role for role, _ in sessions}) == 5


def test_a_debate_that_is_stuck_asks_a_person(project: Project):
    example(project, "debate").script(
        [
            says("inventor", "ideas", ideas=["a"]),
            says("surveyor", "enough", shortlist=["a"]),
            says("advocate", "deadlock", question="Cheap or safe?"),
            says("advocate", "proposed", position="Safe."),
        ]
    )
    stuck = project.uwf("run", "debate", "-p", "Which?")
    assert stuck.exit_code == 3
    assert project.uwf("thread", "show", "@last").document["suspendMessage"] == "Cheap or safe?"
    assert project.uwf("thread", "resume", "@last", "-p", "Safe").document["status"] == "idle"
    assert roles(project)[-2:] == ["advocate", "advocate"]


def test_a_document_goes_out_only_when_a_person_has_approved_it(project: Project):
    """A person plays one role; only an answer that satisfies its form moves anything."""
    example(project, "write-document").script(
        [
            says("writer", "written", file="notice.md", summary="New hours."),
            says("editor", "returned", comments="Too long."),
            says("writer", "written", file="notice.md", summary="Shorter."),
            says("editor", "ready", file="notice.md"),
            says("approver", "nobody plays this role but a person"),
            says("writer", "written", file="notice.md", summary="With the date."),
            says("editor", "ready", file="notice.md"),
        ]
    )
    waits = project.uwf("run", "write-document", "-p", "A notice of the new hours")
    assert waits.exit_code == 3
    shown = project.uwf("thread", "show", "@last").document
    assert shown["suspendMessage"] == "Please read notice.md and decide whether it may go out."
    assert [each["properties"]["$status"]["const"] for each in shown["form"]["oneOf"]] == [
        "approved",
        "changes",
    ]
    for words in (("-p", "fine"), ("--answer", "$status=perhaps"), ("--answer", "$status=changes")):
        refused = project.uwf("thread", "resume", "@last", *words)
        assert (refused.exit_code in (2, 4), refused.stdout) == (True, "")
    assert project.uwf("thread", "show", "@last").document == shown

    answer = '{"$status": "changes", "comments": "Name the date."}'
    assert project.uwf("thread", "resume", "@last", "--answer", answer).exit_code == 0
    assert project.uwf("thread", "exec", "@last", "--until-done").exit_code == 3
    assert edge_prompts(project)[-2] == "The approver wants changes: Name the date."
    done = project.uwf("thread", "resume", "@last", "--answer", "$status=approved")
    assert (done.exit_code, done.document["status"]) == (0, "completed")
    assert roles(project) == [
        *("writer", "editor", "writer", "editor", "approver"),
        *("writer", "editor", "approver"),
    ]
