"""`.ci/run` decides over merges: what it calls passed has passed, each time."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SESSIONS = """
import sys
from pathlib import Path
with open("calls", "a") as calls:
    print(*sys.argv[1:], file=calls)
word, *rest = sys.argv[1:]
sys.exit(word == {failing!r} and ({always} or "--last-failed" not in rest))
"""
"""Stands for dev.py: the session `failing` fails, when it is repeated only if `always`."""


def run(folder: Path, failing: str, *, always: bool) -> "subprocess.CompletedProcess[str]":
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    (folder / "dev.py").write_text(SESSIONS.format(failing=failing, always=always))
    command = ["bash", str(folder / ".ci" / "run")]
    return subprocess.run(command, env=dict(os.environ), capture_output=True, text=True)


def test_all_that_passes_is_green_and_each_session_tells_its_seconds_and_budget(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, "nothing", always=False)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = done.stdout.partition("---- summary")[2]
    slow = ("world", "isolated", "kits", "faults", "real_agents", "postgres", "browser")
    for session in ("tests", "lint", "types", *slow):
        assert f"{session} " in summary
    assert "s of 10 min" in summary
    (rest,) = (line for line in summary.splitlines() if line.startswith("ci: the rest"))
    assert rest.endswith("s of  5 min"), "the sessions without a budget of their own have one"
    assert re.search(r"^ci: lint +passed +\d+ s of the rest$", summary, re.MULTILINE)
    assert "FAILED" not in done.stdout
    assert "--last-failed" not in (tmp_path / "calls").read_text()


def test_what_the_tests_leave_to_other_sessions_is_run_by_these(tmp_path: Path) -> None:
    run(tmp_path, "nothing", always=False)
    called = {line.split()[0] for line in (tmp_path / "calls").read_text().splitlines()}
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    (found,) = re.findall(r"^OF_SESSIONS = dict\([^\n]*\n(.*?)^\)", text, re.DOTALL | re.MULTILINE)
    sessions = re.findall(r"^    (\w+)=\(", found, re.MULTILINE)
    assert {"kits", "faults"} <= set(sessions) <= called
    (contract,) = re.findall(r"^CONTRACT = \((.*?)^\)", text, re.DOTALL | re.MULTILINE)
    paths = re.findall(r'"(.*?)"', found + contract)
    assert len(paths) > len(sessions)
    assert all((ROOT / path).exists() for path in paths)
    for session in sessions:
        body = text.partition(f"def {session}(")[2].partition("@check")[0]
        assert "OF_SESSIONS[session.name]" in body


@pytest.mark.parametrize(
    ("always", "verdict"),
    [(False, "passes alone: flaky, still FAILED"), (True, "fails alone as well")],
)
def test_a_test_that_passes_only_on_repetition_has_failed(
    tmp_path: Path, always: bool, verdict: str
) -> None:
    done = run(tmp_path, "tests", always=always)
    assert done.returncode == 1
    assert f"ci: {verdict}" in done.stdout
    assert "ci: FAILED: tests" in done.stderr
    assert "tests       FAILED" in done.stdout


def test_a_session_that_fails_does_not_hide_the_others(tmp_path: Path) -> None:
    done = run(tmp_path, "lint", always=True)
    assert done.returncode == 1
    assert "ci: FAILED: lint" in done.stderr
    assert "browser     passed" in done.stdout


@pytest.mark.parametrize("profile", ["uwf-ci", "uwf-desk"])
def test_with_ci_set_properties_are_tried_on_the_same_examples_each_time(profile: str) -> None:
    env = {key: value for key, value in os.environ.items() if key != "CI"}
    program = (
        "import runpy, hypothesis; runpy.run_path('tests/conftest.py'); "
        "print(hypothesis.settings().derandomize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT, env=env | ({"CI": "true"} if profile == "uwf-ci" else {}),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(profile == "uwf-ci")
