"""Every example of the documentation and of the READMEs does what the page says."""

import re
from pathlib import Path

import pytest

from page_examples import Project, blocks

ROOT = Path(__file__).resolve().parents[2]


def pages() -> list[Path]:
    readmes = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("uwf-*/README.md")]
    return [*readmes, *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path):
    project = Project.below(tmp_path)
    for block in blocks(page):
        project.run(block)


def test_the_ci_script_runs_the_readme_commands():
    """The two commands of the README, so that they cannot rot."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "$ python3 dev.py demo" in readme
    assert "$ python3 dev.py tests" in readme
    assert '"$python" dev.py tests' in script
    (others,) = re.findall(r"^for name in (.+); do$", script, re.MULTILINE)
    assert "demo" in others.split() and '"$python" dev.py "$name"' in script
