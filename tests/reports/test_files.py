"""Files that somebody else chooses: one test for each public report."""

import os
import resource
from pathlib import Path

import pytest

from uwf_core.config.dotenv import decode_dotenv, parse_dotenv, with_variable
from uwf_core.testing.project import CommandOutcome, Project

SECRET = "secret-of-yours:1:2:\nanother-secret: x\n"
WORKFLOW = """\
version: 1
name: {name}
roles:
  writer:
    goal: Write
    frontmatter:
      properties: {{$status: {{const: done}}}}
      required: [$status]
graph:
  $START:
    new: {{role: writer, prompt: "Write."}}
    resume: {{role: writer, prompt: "Write again."}}
  writer:
    done: {{role: $END, prompt: "Done."}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def run_bounded(project: Project, *words: str, stdin: str = "") -> CommandOutcome:
    """Run `uwf` with 1 GB of address space beyond Python's, for at most 20 seconds."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, before[1]))
    try:
        return project.uwf(*words, stdin=stdin, seconds=20)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def pipe(file: Path) -> None:
    os.mkfifo(file)


def endless(file: Path) -> None:
    file.symlink_to("/dev/zero")


def huge(file: Path) -> None:
    file.touch()
    os.truncate(file, 1 << 33)


def folder(file: Path) -> None:
    file.mkdir()


def itself(file: Path) -> None:
    file.symlink_to(file)


FILES = {
    ".uwf/config.yaml": ("thread", "list"),
    "home/config.yaml": ("thread", "list"),
    "home/.env": ("thread", "list"),
    "home/trusted.json": ("thread", "list"),
    ".workflow/flow.yaml": ("workflow", "check", ".workflow/flow.yaml"),
    "text.md": ("run", "good.yaml", "-p", "@text.md"),
    "old.thread": ("bundle", "verify", "old.thread"),
    "node.json": ("cas", "put", "string", "node.json"),
}


@pytest.mark.parametrize("make", [pipe, endless, huge, folder, itself])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_plain_small_file_is_an_error_that_names_it(
    project: Project, name: str, make
) -> None:
    """psviderski/uncloud #331 (`.env`), and found while attacking uwf: every file by its name."""
    (project.folder / "good.yaml").write_text(WORKFLOW.format(name="good"))
    project.home.mkdir(mode=0o700)
    place = project.home / name[5:] if name.startswith("home/") else project.folder / name
    place.parent.mkdir(exist_ok=True)
    make(place)
    (project.folder / ".uwf").mkdir(exist_ok=True)
    (project.folder / ".uwf" / "plugins").mkdir(exist_ok=True)
    ended = run_bounded(project, *FILES[name], "--format", "json")
    assert 0 < ended.exit_code < 100, ended
    assert place.name in ended.stdout + ended.stderr


LINKS = {
    "configuration": (".uwf/config.yaml", ("thread", "list")),
    "folder-of-the-configuration": (".uwf", ("thread", "list")),
    "workflow": (".workflow/flow.yaml", ("run", "flow", "-p", "x")),
    "workflow-by-path": ("flow.yaml", ("workflow", "check", "flow.yaml")),
    "folder-of-workflows": (".workflow", ("run", "config", "-p", "x")),
    "text": ("text.md", ("cas", "put", "string", "text.md")),
    "prompt": ("text.md", ("run", "good.yaml", "-p", "@text.md")),
}


@pytest.mark.parametrize("name", LINKS)
def test_no_line_of_a_file_outside_of_a_repository_is_printed_or_used(
    project: Project, name: str
) -> None:
    """Found while attacking uwf (configuration-link-out-of-the-repository)."""
    private = project.folder.parent / "private"
    private.mkdir()
    (private / "config.yaml").write_text(SECRET)
    link, words = LINKS[name]
    (project.folder / ".git").mkdir()
    (project.folder / "good.yaml").write_text(WORKFLOW.format(name="good"))
    place = project.folder / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(private if not place.suffix else private / "config.yaml")
    for form in ("text", "json"):
        ended = project.uwf(*words, "--format", form)
        assert ended.exit_code != 0
        assert "secret" not in ended.stdout + ended.stderr
        assert place.name in ended.stderr


def test_a_bundle_of_a_repository_is_no_link_out_of_it(project: Project, tmp_path: Path) -> None:
    """Found while attacking uwf: the other file that a repository can bring."""
    (project.folder / ".git").mkdir(exist_ok=True)
    private = tmp_path / "private"
    private.write_text("secret")
    (project.folder / "thread.bundle").symlink_to(private)
    ended = project.uwf("cas", "import", "thread.bundle")
    assert ended.exit_code != 0 and "leads out of its folder" in ended.stderr


def test_a_link_that_stays_in_the_repository_works(project: Project) -> None:
    """The workflow of a repository may be a link to another file of it."""
    (project.folder / ".git").mkdir()
    (project.folder / "flows").mkdir()
    (project.folder / "flows" / "flow.yaml").write_text(WORKFLOW.format(name="flow"))
    (project.folder / ".workflow").symlink_to("flows")
    assert project.uwf("workflow", "check", ".workflow/flow.yaml").exit_code == 0


def test_the_files_of_the_own_home_may_be_links(project: Project) -> None:
    """Programs that keep the files of a home elsewhere put links in their place."""
    kept = project.folder.parent / "dotfiles"
    kept.mkdir()
    (kept / "env").write_text("A_KEY=1\n")
    (kept / "config.yaml").write_text("defaultAgent: mock\n")
    for each in kept.iterdir():
        each.chmod(0o600)
    project.home.mkdir(mode=0o700)
    (project.home / ".env").symlink_to(kept / "env")
    (project.home / "config.yaml").symlink_to(kept / "config.yaml")
    ended = project.uwf("thread", "list")
    assert (ended.exit_code, ended.stderr) == (0, "")


@pytest.mark.parametrize("between", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_line_feed_ends_a_line_of_the_environment_file(
    project: Project, between: str
) -> None:
    """Found while attacking uwf (env-file-line-separator)."""
    project.home.mkdir(mode=0o700)
    file = project.home / ".env"
    text = f'A_TEXT="before{between}after"\r\nB=x{between}y\n'
    file.write_bytes(text.encode())
    file.chmod(0o600)
    assert project.uwf("thread", "list").exit_code == 0
    found = parse_dotenv(decode_dotenv(file.read_bytes(), ".env"), ".env")
    assert found == {"A_TEXT": f"before{between}after", "B": f"x{between}y"}
    changed = with_variable(text, "C", "1")
    assert parse_dotenv(changed, ".env") == {**found, "C": "1"}


WITH_SKILL = WORKFLOW.format(name="flow").replace("Write\n", "Write\n    skills: [scene]\n", 1)
SKILLS = {
    "earendil-works/pi #4725": 'description: Use for: "create a scene" or when asked',
    "anthropics/claude-plugins-official #6261": "description: Reviews. Example: user says: go",
    "a colon on the next line": "description: Use this\n  for: all of it",
    "a sign that YAML reserves": "description: @scene and `code`",
    "brackets and text": "description: [beta] draws a scene",
    "another field": "description: Draws\nargument-hint: [a] [b]\nallowed-tools: x: y",
    "a nested field": "description: Draws\nmetadata:\n  note: a: b",
    "crewAIInc/crewAI #7538": "description: Draws",
}


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_that_works_elsewhere_works_here(project: Project, name: str) -> None:
    """The frontmatter of a SKILL.md is read as its authors' programs read it."""
    file = project.folder / ".agents" / "skills" / "scene" / "SKILL.md"
    file.parent.mkdir(parents=True)
    start = "\ufeff" if "#7538" in name else ""
    file.write_text(f"{start}---\nname: scene\n{SKILLS[name]}\n---\nBody\n", encoding="utf-8")
    ended = project.uwf("workflow", "check", str(project.workflow("flow", WITH_SKILL)))
    assert (ended.exit_code, ended.stderr) == (0, "")


def test_a_skill_that_nobody_can_read_is_an_error_with_its_line(project: Project) -> None:
    """earendil-works/pi #4725: the error names the line and the cure."""
    file = project.folder / ".agents" / "skills" / "scene" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: scene\nabout: Use for: a scene\n---\n")
    workflow = project.workflow("flow", WITH_SKILL)
    ended = project.uwf("workflow", "check", str(workflow), "--format", "text")
    assert ended.exit_code != 0
    assert "SKILL.md:3:" in ended.stdout + ended.stderr
    assert "quotes" in ended.stdout + ended.stderr


@pytest.mark.parametrize("file", [".workflow/flow.yaml", "home/config.yaml", "home/.env"])
def test_a_byte_order_mark_is_accepted_everywhere(project: Project, file: str) -> None:
    """crewAIInc/crewAI #7538, PrefectHQ/fastmcp #4532: editors of Windows write one."""
    texts = {
        "flow.yaml": WORKFLOW.format(name="flow"),
        "config.yaml": "limits: {}\n",
        ".env": "A=b",
    }
    project.home.mkdir(mode=0o700)
    place = project.home / file[5:] if file.startswith("home/") else project.folder / file
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"\xef\xbb\xbf" + texts[place.name].encode())
    place.chmod(0o600)
    words = ("workflow", "check", file) if place.name == "flow.yaml" else ("thread", "list")
    ended = project.uwf(*words)
    assert (ended.exit_code, ended.stderr) == (0, "")
