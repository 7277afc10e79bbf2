"""Start-up is a feature: what `uwf-eval` and its workers import, and what they leave closed."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "asyncio", "httpx", "importlib.metadata", "jsonschema", "multiprocessing", "pydantic",
    "rich", "ssl", "tarfile", "unittest",
}  # fmt: skip


def imported(code: str, folder: Path) -> set[str]:
    """The modules that are there after `code`."""
    tail = "\nimport sys; print('\\n' + ' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code + tail], capture_output=True, text=True, cwd=folder,
        env={"UWF_HOME": str(folder / "home"), "HOME": str(folder), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def calling(words: str) -> str:
    return (
        "from uwf_core.cli.main import main\nfrom uwf_eval.cli.main import root\n"
        f"assert main({words.split()!r}, None, lambda: root('uwf-eval')) == 0"
    )


@pytest.mark.parametrize("words", ["--help", "run --help", "list"])
def test_small_commands_import_neither_the_engine_nor_anything_heavy(
    tmp_path: Path, words: str
) -> None:
    there = imported(calling(words), tmp_path)
    assert not there & (HEAVY | {"jsonschema_rs", "pluggy", "uwf_core.engine.step"})
    if words != "list":
        assert "uwf_core.client" not in there and "sqlite3" not in there


def test_a_run_and_its_workers_import_nothing_heavy(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", calling("new mine")], cwd=tmp_path, check=True, capture_output=True,
        env={"UWF_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)},
    )  # fmt: skip
    first = imported(calling("run mine --agent mock").replace("== 0", "in (0, 1)"), tmp_path)
    assert "uwf_eval.run.worker" not in first
    again = imported(calling("run mine --agent mock").replace("== 0", "in (0, 1)"), tmp_path)
    assert not again & (HEAVY | {"pluggy", "statistics", "uwf_core.engine.step"})
    worker = imported("import uwf_eval.run.worker, uwf_eval.judges.run_judge", tmp_path)
    assert not worker & (HEAVY | {"yaml", "pluggy", "jsonschema_rs", "statistics"})


def test_a_worker_judges_without_the_library_that_compiles_schemas(tmp_path: Path) -> None:
    """It takes 20 ms to load; only a schema that needs it does so."""
    code = """
from uwf_eval.judges.run_judge import _checked
from uwf_eval.run.worker import _warm_client
from uwf_core.api import JudgeReply
from uwf_eval.task.model import JudgeSpec
_warm_client()
for schema in (None, {"properties": {"a": {"type": "integer"}}}):
    spec = JudgeSpec(name="any", schema=schema)
    assert _checked(JudgeReply(score=1.0, data={"a": 1}), spec)
"""
    assert "jsonschema_rs" not in imported(code, tmp_path)
