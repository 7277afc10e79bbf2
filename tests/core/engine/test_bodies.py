"""The body of a step is what the extractor said it is, wherever a body is shown."""

from pathlib import Path

import pytest
from tests.core.engine.conftest import LOOP

from uwf_core.testing.project import Project

PLUGIN = """
import json
from uwf_core.api import ExtractorSpec, ExtractProblem, ExtractReply, hookimpl

class LastLine:
    def __init__(self, options, context):
        pass

    def extract(self, request):
        body, _, last = request.raw.rstrip().rpartition("\\n")
        try:
            return ExtractReply(output=json.loads(last), body=body)
        except ValueError:
            return ExtractReply(errors=(ExtractProblem("", "no JSON in the last line"),))

@hookimpl
def uwf_extractors():
    return [ExtractorSpec(name="last-line", summary="JSON", factory="demo_last_line:LastLine")]
"""
SAID = "MY REPORT\n---\nnot: frontmatter\n---"
WORKFLOW = LOOP.replace("Review it., location", '"Review: {{{_body}}}", location')


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    site = tmp_path / "site"
    info = site / "demo_last_line-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "demo_last_line.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: demo-last-line\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[uwf.extractors]\nlast-line = demo_last_line\n")
    project.env["PYTHONPATH"] = str(site)
    project.workflow("loop", WORKFLOW)
    project.config("extractors: [last-line]\n")
    approved = {"role": "reviewer", "output": '{"$status": "approved"}'}
    said = f'{SAID}\n{{"$status": "done"}}'
    project.script([{"role": "developer", "output": said}, approved])
    return project


def test_the_body_of_an_extractor_is_shown_and_handed_on(project: Project) -> None:
    """To people, to the edge's `_body` and in the history of later roles."""
    ran = project.uwf("run", "loop", "-p", "The task.").document
    assert ran["status"] == "completed"
    first, second = (each["step"] for each in ran["steps"])
    assert project.uwf("step", "show", first).document["body"] == SAID
    assert "MY REPORT" in project.uwf("thread", "read", ran["thread"]).stdout
    prompt = project.uwf("step", "read", second, "--prompt").stdout
    history, _, instruction = prompt.partition("# Your instruction")
    assert SAID in instruction
    assert "MY REPORT" in history
    assert project.uwf("cas", "verify").exit_code == 0


def test_a_fork_leads_where_the_body_led(project: Project) -> None:
    """The graph is asked again with the body that is stored."""
    ran = project.uwf("run", "loop", "-p", "The task.").document
    fork = project.uwf("thread", "fork", ran["steps"][0]["step"]).document["thread"]
    again = project.uwf("thread", "exec", fork).document["steps"][0]["step"]
    assert SAID in project.uwf("step", "show", again).document["attempt"]["edgePrompt"]


def test_no_secret_in_the_errors_of_an_extractor_is_kept_or_shown(
    project: Project, tmp_path: Path
) -> None:
    """They may quote a model; a rejected reply keeps them, and the agent is sent them."""
    secret = "sk-of-a-model-1234"
    plugin = tmp_path / "site" / "demo_last_line.py"
    plugin.write_text(PLUGIN.replace('"no JSON in the last line"', f'"not JSON: {secret} \\ud800"'))
    project.env["MY_API_KEY"] = secret
    project.script([{"role": "developer", "output": "no JSON"} for _ in range(3)])
    ran = project.uwf("run", "loop", "-p", "The task.")
    (failed,) = ran.document["steps"]
    assert failed["failure"]["kind"] == "invalid_output", ran.stdout
    shown = project.uwf("step", "show", failed["step"]).document
    assert [each["errors"] for each in shown["corrections"]] == [
        ["not JSON: [redacted] \ufffd"]
    ] * 2
    assert secret not in ran.stdout + ran.stderr
    files = [file for file in project.home.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if secret.encode() in file.read_bytes()]


def test_what_a_plugin_extracted_or_rejected_replays_the_same(project: Project) -> None:
    """Its extractor may call a model, so a replay validates its outputs and repeats none."""
    accepted = project.uwf("run", "loop", "-p", "The task.").document["thread"]
    assert project.uwf("replay", accepted).exit_code == 0
    project.script([{"role": "developer", "output": "no JSON"} for _ in range(3)])
    rejected = project.uwf("run", "loop", "-p", "The task.").document["thread"]
    found = project.uwf("replay", rejected).document["replays"][0]
    assert [(each["kind"], each["verdict"]) for each in found["steps"]] == [("failed", "same")]
