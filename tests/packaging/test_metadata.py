"""What a package index shows of each distribution, before anybody installs it."""

import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = {
    file.parent.name: tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    for file in sorted(ROOT.glob("uwf-*/pyproject.toml"))
}
HOMEPAGE = PROJECTS["uwf-core"]["urls"]["Homepage"]


@pytest.mark.parametrize("name", PROJECTS)
def test_a_user_finds_source_documentation_changes_and_issues(name):
    urls = PROJECTS[name]["urls"]
    assert set(urls) == {"Homepage", "Documentation", "Source", "Changelog", "Issues"}
    for url in urls.values():
        assert url.startswith(HOMEPAGE) and urlsplit(url).scheme == "https"
    for key in ("Source", "Documentation", "Changelog"):
        _, _, path = urlsplit(urls[key]).path.partition("/main/")
        assert (ROOT / path).exists(), f"{key} leads to nothing: {path}"


@pytest.mark.parametrize("name", PROJECTS)
def test_a_user_sees_what_it_is_for_whom_and_its_licence(name):
    project = PROJECTS[name]
    assert project["name"] == name and 10 < len(project["description"]) < 200
    assert project["license"] == "MIT" and project["keywords"]
    assert (ROOT / name / project["readme"]).is_file() and (ROOT / name / "LICENSE").is_file()
    known = {each.partition(" :: ")[0] for each in project["classifiers"]}
    assert {"Development Status", "Intended Audience", "Operating System", "Typing"} <= known
    assert project["requires-python"] == ">=3.11"
