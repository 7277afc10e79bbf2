"""Other distributions of the same Python have no say in how a workflow is read."""

from pathlib import Path

import pytest

from uwf_core.testing.project import Project

WORKFLOW = """
name: one
roles:
  writer:
    goal: Write it.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Again.}
  writer:
    done: {role: $END, prompt: Done.}
"""
MALFORMED = "[console_scripts]\nno equals sign\n"
PLUGIN = "[pydantic]\nfoul = foul\n"


@pytest.mark.parametrize("entry_points", [MALFORMED, PLUGIN], ids=["malformed", "pydantic-plugin"])
def test_a_foreign_distribution_stops_no_command(tmp_path: Path, entry_points: str) -> None:
    project = Project(tmp_path)
    file = str(project.workflow("one", WORKFLOW))
    project.script([{"role": "writer", "output": {"$status": "done"}}])
    info = tmp_path / "site" / "foul-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foul\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    (info.parent / "foul.py").write_text(
        "open(__file__ + '.ran', 'w').close(); raise SystemExit('foul')"
    )
    project.env["PYTHONPATH"] = str(info.parent)
    for words in (
        ("workflow", "check", file),
        ("workflow", "add", file),
        ("thread", "start", file, "-p", "x"),
        ("run", file, "-p", "x"),
    ):
        done = project.uwf(*words)
        assert done.exit_code == 0, (words, done.stderr)
        assert "foul" not in done.stderr
    assert not (info.parent / "foul.py.ran").exists()
