"""AGENTS.md: the agent gets the nearest one of a project that the user trusts, before the task."""

import subprocess
from pathlib import Path

import pytest
from builtin_kit import DONE

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

ONE = """\
version: 1
name: one
roles:
  worker:
    goal: Work.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Begin., location: LOCATION}
    resume: {role: worker, prompt: Again.}
  worker:
    done: {role: $END, prompt: Done.}
"""


class World:
    """A project with rules at its top and in a folder below, and a scripted model."""

    def __init__(self, root: Path, model: ScriptedModel) -> None:
        self.project, self.model = Project(root), model
        del self.project.env["UWF_DEFAULT_AGENT"]
        self.place("")
        self.configure("{}")
        (self.project.folder / "part").mkdir()
        self.rules = self.project.folder / "AGENTS.md"
        self.rules.write_text("Use tabs.\n")
        self.notices: list[str] = []

    def place(self, location: str) -> None:
        self.project.workflow("one", ONE.replace("LOCATION", f'"{location}"'))

    def configure(self, options: str) -> None:
        self.project.config(
            f"providers: {{local: {{baseUrl: {self.model.openai_url}}}}}\n"
            "models: {scripted: {provider: local, name: m}}\ndefaultModel: scripted\n"
            f"defaultAgent: coder\nagents: {{coder: {{use: builtin, options: {options}}}}}\n"
        )

    def trust(self) -> None:
        self.project.trust()

    def run(self) -> tuple[str, list[dict]]:
        """The text that the model got, and the record of the step."""
        with self.project.client(on_notice=self.notices.append) as uwf:
            thread = uwf.start("one", "The task.")["thread"]
            uwf.exec(thread, count=1)
            step = uwf.step(uwf.steps(thread)[1]["step"])
            assert uwf.replay(thread)["verdict"] == "same"
        return self.model.requests[-1].messages[-1]["content"], step["attempt"]["skills"]


@pytest.fixture
def world(tmp_path):
    with ScriptedModel([DONE, DONE]) as model:
        yield World(tmp_path, model)


def test_the_rules_of_a_trusted_project_come_before_the_task(world):
    world.trust()
    sent, [found] = world.run()
    assert sent.index("# Your role") < sent.index("Use tabs.") < sent.index("# Task")
    assert (found["kind"], found["name"], found["path"]) == ("rules", "AGENTS.md", "AGENTS.md")


def test_the_nearest_rules_hold(world):
    subprocess.run(["git", "init", "-q", world.project.folder], check=True)
    world.trust()
    world.place("part")
    sent, _ = world.run()
    assert "Use tabs." in sent, "those above, if the folder has none"
    (world.project.folder / "part/AGENTS.md").write_text("Use blanks.\n")
    sent, [found] = world.run()
    assert "Use blanks." in sent and "Use tabs." not in sent
    assert found["path"] == str(world.project.folder / "part/AGENTS.md")


def test_the_rules_of_a_folder_that_is_not_trusted_are_not_read(world):
    sent, found = world.run()
    assert "Use tabs." not in sent and not found
    [notice] = [each for each in world.notices if "AGENTS.md" in each]
    assert f"uwf config trust {world.project.folder}" in notice


def test_no_link_out_of_the_project_is_followed(world, tmp_path):
    world.trust()
    (tmp_path / "secret").write_text("top secret")
    world.rules.unlink()
    world.rules.symlink_to(tmp_path / "secret")
    sent, found = world.run()
    assert "top secret" not in sent and not found


def test_long_rules_are_cut(world):
    world.trust()
    world.rules.write_text("x" * 70_000)
    sent, [found] = world.run()
    assert "[cut after 64 KB]" in sent and found["kind"] == "rules"
    assert any("cut" in each for each in world.notices)


def test_the_option_turns_them_off(world):
    world.trust()
    world.configure("{rules: false}")
    sent, found = world.run()
    assert "Use tabs." not in sent and not found
