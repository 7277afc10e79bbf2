"""`{{steps.ROLE.field}}`: the newest output of a role of the thread, in prompts and arguments."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from uwf_core.testing.project import Project

TEXT: dict[str, Any] = {"type": "string"}


def output(*statuses: str, **fields: Any) -> dict[str, Any]:
    """A schema with one variant for each status, all with these fields."""
    variants = [
        {
            "properties": {"$status": {"const": status}, **fields},
            "required": ["$status", *fields],
        }
        for status in statuses
    ]
    return {"oneOf": variants}


FLOW: dict[str, Any] = {
    "version": 1,
    "name": "flow",
    "roles": {
        "planner": {"goal": "Plan.", "frontmatter": output("planned", plan=TEXT)},
        "developer": {"goal": "Do.", "frontmatter": output("done", diff=TEXT)},
        "tests": {
            "program": {
                "argv": ["echo", "{{steps.planner.plan}}", "{{^steps.tests}}first{{/steps.tests}}"],
                "statuses": {"0": "passed", "1": "failed"},
            },
            "frontmatter": output("passed", "failed"),
        },
        "reviewer": {"goal": "Review.", "frontmatter": output("ok", "no", text=TEXT)},
    },
    "graph": {
        "$START": {
            "new": {"role": "planner", "prompt": "Plan."},
            "resume": {"role": "planner", "prompt": "Better than {{steps.planner.plan}}."},
        },
        "planner": {
            "planned": {
                "role": "developer",
                "prompt": "{{#steps.reviewer.text?}}({{steps.reviewer.text}}) "
                "{{/steps.reviewer.text?}}Do {{plan}}.",
            }
        },
        "developer": {"done": {"role": "tests", "prompt": "Test."}},
        "tests": {
            "passed": {
                "role": "reviewer",
                "prompt": "Compare {{steps.planner.plan}} and {{steps.developer.diff}}"
                "{{steps.planner._body}}.",
            },
            "failed": {"role": "$END", "prompt": "Over."},
        },
        "reviewer": {
            "ok": {"role": "$END", "prompt": "{{steps.planner.plan}} is done."},
            "no": {"role": "planner", "prompt": "{{text}}, not {{steps.planner.plan}}"},
        },
    },
}


def reply(role: str, status: str, body: str = "", **fields: str) -> dict[str, str]:
    lines = [f"$status: {status}", *(f"{name}: {value}" for name, value in fields.items())]
    return {"role": role, "output": "\n".join(["---", *lines, "---", body])}


PROGRAM = {"role": "tests", "output": "not used"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.trust()
    project.workflow("flow", yaml.safe_dump(FLOW))
    project.script(
        [
            reply("planner", "planned", " at once", plan="P1"),
            reply("developer", "done", diff="D1"),
            PROGRAM,
            reply("reviewer", "no", text="T1"),
            reply("planner", "planned", plan="P2"),
            reply("developer", "done", diff="D2"),
            PROGRAM,
            reply("reviewer", "ok", text="T2"),
            reply("planner", "planned", plan="P3"),
        ]
    )
    return project


def prompts(project: Project, ran: dict[str, Any]) -> list[str]:
    steps = [project.uwf("step", "show", each["step"]).document for each in ran["steps"]]
    return [each["attempt"]["edgePrompt"] for each in steps]


def test_a_prompt_has_the_newest_output_of_each_role(project: Project) -> None:
    checked = project.uwf("workflow", "check", "flow").document
    assert checked["problems"] == []
    ran = project.uwf("run", "flow", "-p", "The task.").document
    assert ran["status"] == "completed", ran["suspendMessage"]
    assert prompts(project, ran) == [
        "Plan.",
        "Do P1.",
        "Test.",
        "Compare P1 and D1 at once.",
        "T1, not P1",
        "(T1) Do P2.",
        "Test.",
        "Compare P2 and D2.",
    ]
    commands = [ran["steps"][number]["step"] for number in (2, 6)]
    for ref, plan in zip(commands, ("P1", "P2"), strict=True):
        assert f"echo {plan}" in project.uwf("step", "read", ref, "--prompt").stdout
    again = project.uwf("thread", "resume", ran["thread"], "-p", "More.").document
    assert prompts(project, again) == ["Better than P2."]
    assert project.uwf("replay", ran["thread"]).exit_code == 0
    assert project.uwf("cas", "verify").exit_code == 0


def test_a_fork_has_the_steps_that_it_inherits(project: Project) -> None:
    ran = project.uwf("run", "flow", "-p", "The task.").document
    forked = project.uwf("thread", "fork", ran["steps"][2]["step"]).document["thread"]
    again = project.uwf("thread", "exec", forked).document
    assert prompts(project, again) == ["Compare P1 and D1 at once."]
    assert project.uwf("replay", forked).exit_code == 0


def test_a_poked_step_counts_in_place_of_the_old_one(project: Project) -> None:
    ran = project.uwf("thread", "start", "flow", "-p", "The task.").document["thread"]
    project.uwf("thread", "exec", ran)
    project.script([reply("planner", "planned", plan="P0"), reply("developer", "done", diff="D")])
    project.uwf("thread", "poke", ran, "-p", "Again.")
    assert prompts(project, project.uwf("thread", "exec", ran).document) == ["Do P0."]
    project.uwf("thread", "exec", ran)
    project.uwf("thread", "poke", ran, "-p", "Again.")
    step = project.uwf("step", "list", ran).document["steps"][-1]["step"]
    assert "echo P0 first" in project.uwf("step", "read", step, "--prompt").stdout
    assert project.uwf("replay", ran).exit_code == 0


def test_a_bundle_with_earlier_steps_is_imported_and_leads_where_it_led(
    project: Project, tmp_path: Path
) -> None:
    ran = project.uwf("run", "flow", "-p", "The task.").document
    bundle = tmp_path / "flow.tar"
    assert project.uwf("thread", "export", ran["thread"], "-o", str(bundle)).exit_code == 0
    assert project.uwf("bundle", "verify", str(bundle)).exit_code == 0


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("{{steps.plannr.plan}}", "template-unknown-field", "unknown role 'plannr'"),
        ("{{steps.planner.pan}}", "template-unknown-field", "(planned) has no field 'pan'"),
        ("{{steps.reviewer.text}}", "template-optional-field", "'reviewer' may not have run"),
        ("{{#steps.reviewer.text}}{{steps.reviewer.text}}{{/steps.reviewer.text}}x", "", ""),
    ],
)
def test_a_reference_is_checked_where_it_is(
    project: Project, text: str, code: str, message: str
) -> None:
    flow = yaml.safe_load(yaml.safe_dump(FLOW))
    flow["graph"]["tests"]["passed"]["prompt"] = f"x {text}"
    project.workflow("flow", yaml.safe_dump(flow))
    problems = project.uwf("workflow", "check", "flow").document["problems"]
    assert [each["code"] for each in problems] == [code] * bool(code)
    assert message in "".join(each["message"] for each in problems)


def test_a_role_whose_step_can_never_be_there_is_an_error(project: Project) -> None:
    flow = yaml.safe_load(yaml.safe_dump(FLOW))
    flow["graph"]["$START"]["new"]["prompt"] = "{{steps.reviewer.text}} x"
    project.workflow("flow", yaml.safe_dump(flow))
    [problem] = project.uwf("workflow", "check", "flow").document["problems"]
    assert "'reviewer' has not run there" in problem["message"]


def test_a_field_cannot_be_called_steps_where_a_template_reads_steps(project: Project) -> None:
    flow = yaml.safe_load(yaml.safe_dump(FLOW))
    flow["roles"]["developer"]["frontmatter"] = output("done", diff=TEXT, steps=TEXT)
    project.workflow("flow", yaml.safe_dump(flow))
    [problem] = project.uwf("workflow", "check", "flow").document["problems"]
    assert (problem["code"], problem["hint"]) == ("reserved-field", "rename the field")


@pytest.mark.parametrize(
    ("roles", "graph", "message"),
    [
        ({}, {}, ""),
        (
            {"planner": {"goal": "Plan.", "frontmatter": output("planned", outline=TEXT)}},
            {"tests": {"passed": {"role": "reviewer", "prompt": "x {{steps.planner.outline}}"}}},
            "graph.tests.passed names steps.planner",
        ),
        (
            {"judge": {"goal": "Judge.", "frontmatter": output("right", why=TEXT)}},
            {
                "planner": {"planned": {"role": "judge", "prompt": "Judge."}},
                "judge": {"right": {"role": "developer", "prompt": "Do it."}},
                "reviewer": {"ok": {"role": "$END", "prompt": "{{steps.judge.why}}"}},
            },
            "graph.reviewer.ok names steps.judge",
        ),
    ],
)
def test_a_fork_onto_a_workflow_is_rejected_where_a_reference_does_not_hold(
    project: Project, roles: dict[str, Any], graph: dict[str, Any], message: str
) -> None:
    """One that the origin has no step for, or a step of another form; else it continues."""
    ran = project.uwf("run", "flow", "-p", "The task.").document
    other = yaml.safe_load(yaml.safe_dump(FLOW))
    other["name"] = "other"
    other["roles"] |= roles
    for source, edges in graph.items():
        other["graph"][source] = {**other["graph"].get(source, {}), **edges}
    if "planner" in roles:
        text = yaml.safe_dump(other).replace("steps.planner.plan}", "steps.planner.outline}")
        other = yaml.safe_load(text.replace("{{plan}}", "{{outline}}"))
    project.workflow("other", yaml.safe_dump(other))
    assert project.uwf("workflow", "check", "other").document["problems"] == []
    project.uwf("workflow", "add", ".workflow/other.yaml", "--allow-programs")
    forked = project.uwf("thread", "fork", ran["steps"][2]["step"], "--workflow", "other")
    assert (message in forked.stderr, forked.exit_code) == (True, 2 if message else 0)


BRANCHES: dict[str, Any] = {
    "version": 1,
    "name": "fan",
    "roles": {
        "planner": {"goal": "Plan.", "frontmatter": output("planned", plan=TEXT)},
        "critic": {"goal": "Ask.", "frontmatter": output("asked", text=TEXT)},
        "writer": {"goal": "Write.", "frontmatter": output("done")},
        "printer": {
            "program": {"argv": ["echo", "{{text}}"], "statuses": {"0": "done"}},
            "frontmatter": output("done"),
        },
    },
    "graph": {
        "$START": {
            "new": {"role": "planner", "prompt": "Plan."},
            "resume": {"role": "planner", "prompt": "Again."},
        },
        "planner": {"planned": {"role": "critic", "prompt": "Ask."}},
        "critic": {
            "asked": {
                "parallel": {
                    "text": {"role": "writer", "prompt": "{{text}} of {{steps.planner.plan}}"},
                    "paper": {"role": "printer", "prompt": "Print {{steps.planner.plan}}"},
                },
                "shared": True,
                "then": {
                    "done": {"role": "$END", "prompt": "{{steps.planner.plan}}: done."},
                    "$mixed": {"role": "planner", "prompt": "Better than {{steps.planner.plan}}"},
                },
            }
        },
    },
}


def test_the_prompt_of_a_branch_names_steps_and_its_thread_has_none(project: Project) -> None:
    project.workflow("fan", yaml.safe_dump(BRANCHES))
    assert project.uwf("workflow", "check", "fan").document["problems"] == []
    project.script(
        [
            reply("planner", "planned", plan="P1"),
            reply("critic", "asked", text="T1"),
            reply("writer", "done"),
        ],
        by_role=True,
    )
    ran = project.uwf("run", "fan", "-p", "The task.").document
    assert ran["status"] == "completed", ran["suspendMessage"]
    [asked] = [each for each in ran["steps"] if each["role"] == "writer"]
    assert "T1 of P1" in project.uwf("step", "read", asked["step"], "--prompt").stdout
    [printed] = [each for each in ran["steps"] if each["role"] == "printer"]
    thread = project.uwf("thread", "show", printed["thread"]).document
    assert "P1" not in str(thread["input"])
    assert project.uwf("replay", ran["thread"]).exit_code == 0
    assert project.uwf("cas", "verify").exit_code == 0


def test_a_program_of_a_branch_cannot_name_the_steps_of_its_caller(project: Project) -> None:
    fan = yaml.safe_load(yaml.safe_dump(BRANCHES))
    fan["roles"]["printer"]["program"]["argv"] = ["echo", "{{steps.planner.plan}}"]
    project.workflow("fan", yaml.safe_dump(fan))
    [problem] = project.uwf("workflow", "check", "fan").document["problems"]
    assert problem["code"] == "template-unknown-field"
    assert "steps.planner.plan is never available" in problem["message"]
