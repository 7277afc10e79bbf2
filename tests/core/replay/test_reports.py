"""What `uwf replay` prints, its exit codes, and its pytest plugin."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.core.replay.conftest import TRIO

from uwf_core.client import Client
from uwf_core.replay.words import difference_text
from uwf_core.testing.project import Project

CHANGED = TRIO.replace("goal: Check the facts", "goal: Check it all")


@pytest.fixture
def changed(project: Project) -> str:
    """The file of a workflow with another checker: the last step is stale."""
    file = project.folder / "draft" / "trio.yaml"
    file.parent.mkdir()
    file.write_text(CHANGED, "utf-8")
    return "draft/trio.yaml"


def test_the_exit_code_is_0_only_if_all_steps_are_the_same(
    project: Project, story: str, changed: str
) -> None:
    assert project.uwf("replay", story).exit_code == 0
    assert project.uwf("replay", story, "--workflow", changed).exit_code == 1
    assert project.uwf("replay", story, "--workflow", changed, "--allow", "stale").exit_code == 0
    assert project.uwf("replay", "@last", story).exit_code == 0
    assert project.uwf("replay", "0000000000").exit_code == 2


def test_the_text_shows_the_first_step_that_is_not_the_same_as_a_diff(
    project: Project, story: str, changed: str
) -> None:
    shown = project.uwf("replay", story, "--workflow", changed, "--format", "text").stdout
    first, second, *diff = shown.splitlines()
    assert first.startswith(f"{story} by trio ")
    assert first.endswith(": 6 same, 1 stale")
    assert second.startswith("step 7 (checker, ")
    assert second.endswith("draft/trio.yaml:24)")
    assert "changed: roles.checker.goal (" in second
    assert "-Check the facts." in diff
    assert "+Check it all." in diff


def test_junit_has_a_case_for_each_step(project: Project, story: str, changed: str) -> None:
    text = project.uwf("replay", story, story, "--workflow", changed, "--format", "junit").stdout
    suites = ElementTree.fromstring(text).findall("testsuite")
    assert [(each.get("tests"), each.get("failures")) for each in suites] == [("7", "1")] * 2
    failure = suites[0].find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "stale"
    assert "+Check it all." in str(failure.text)


def test_texts_that_differ_only_in_line_ends_have_a_diff() -> None:
    shown = difference_text({"part": "output", "recorded": "a\r\nb", "now": "a\nb"})
    assert shown.splitlines()[3:] == ["-a\\r", "+a", " b"]


def pytest_in(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "uwf_core.replay.pytest", *words],
        cwd=folder, env=alone, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def tests(project: Project, uwf: Client, story: str, tmp_path: Path) -> Path:
    """A folder of somebody's tests, with the bundle of a thread and a changed workflow."""
    folder = tmp_path / "tests"
    folder.mkdir()
    uwf.export_thread(story, folder / "one.thread")
    (folder / "trio.yaml").write_text(CHANGED, "utf-8")
    return folder


def test_a_bundle_is_a_test_for_each_step(tests: Path) -> None:
    done = pytest_in(tests)
    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout
    assert sorted(each.name for each in tests.iterdir() if each.is_file()) == [
        "one.thread", "trio.yaml",
    ]  # fmt: skip


def test_nothing_is_collected_unless_asked(tests: Path) -> None:
    plain = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=tests, capture_output=True, check=False
    )
    assert plain.returncode == 5, "no tests"


def test_a_changed_workflow_fails_the_test_of_its_step(tests: Path) -> None:
    done = pytest_in(tests, "--uwf-workflow", "trio.yaml")
    assert done.returncode == 1
    assert "1 failed, 6 passed" in done.stdout
    assert "one.thread: 7 checker" in done.stdout
    assert "+Check it all." in done.stdout
    assert "Traceback" not in done.stdout


def test_expectations_are_written_on_request_and_nothing_else(tests: Path) -> None:
    before = {each.name: each.read_bytes() for each in tests.iterdir() if each.is_file()}
    assert pytest_in(tests, "--uwf-workflow", "trio.yaml", "--uwf-update").returncode == 0
    after = {each.name: each.read_bytes() for each in tests.iterdir() if each.is_file()}
    expected = json.loads(after.pop("one.expect.json"))
    assert after == before
    assert [each["verdict"] for each in expected["steps"]] == ["same"] * 6 + ["stale"]
    assert pytest_in(tests, "--uwf-workflow", "trio.yaml").returncode == 0
    assert pytest_in(tests).returncode == 1, "the stale step is the same by its own workflow"


def test_a_workflow_named_in_the_expectations_is_used_and_kept(tests: Path) -> None:
    (tests / "one.expect.json").write_text('{"workflow": "trio.yaml"}', "utf-8")
    assert pytest_in(tests).returncode == 1
    assert pytest_in(tests, "--uwf-update").returncode == 0
    assert json.loads((tests / "one.expect.json").read_text())["workflow"] == "trio.yaml"
    assert pytest_in(tests).returncode == 0


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"workflow": 3}', '{"steps": {}}', '{"steps": [{"verdict": "sam"}]}']
)
def test_bad_expectations_are_an_error_that_names_the_file(tests: Path, text: str) -> None:
    (tests / "one.expect.json").write_text(text, "utf-8")
    done = pytest_in(tests)
    assert done.returncode != 0
    assert "one.expect.json" in done.stdout
    assert "pytest.py:" not in done.stdout, "no traceback"


def test_a_workflow_with_errors_is_reported_with_each_of_them(tests: Path) -> None:
    bad = CHANGED.replace("role: checker", "role: chekker").replace("version: 1", "version: 9")
    (tests / "trio.yaml").write_text(bad, "utf-8")
    done = pytest_in(tests, "--uwf-workflow", "trio.yaml")
    assert "cannot replay" in done.stdout
    assert "one.thread" in done.stdout
    assert "trio.yaml:1:10 " in done.stdout
    assert "unknown role 'chekker'" in done.stdout
    assert "pytest.py:" not in done.stdout, "no traceback"


def test_a_damaged_bundle_is_an_error_that_names_it(tests: Path) -> None:
    data = bytearray((tests / "one.thread").read_bytes())
    data[3000] ^= 1
    (tests / "one.thread").write_bytes(bytes(data))
    done = pytest_in(tests)
    assert done.returncode != 0
    assert "one.thread" in done.stdout


def test_missing_steps_fail(tests: Path) -> None:
    steps = [{"number": n, "role": "x", "verdict": "same"} for n in range(9)]
    (tests / "one.expect.json").write_text(json.dumps({"steps": steps}), "utf-8")
    done = pytest_in(tests)
    assert "2 failed, 7 passed" in done.stdout
