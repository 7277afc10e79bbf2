"""Commands that users find and call: one test for each public report."""

import re
from pathlib import Path

import click
import pytest

from uwf_core.cli.main import Root
from uwf_core.cli.operation import Group
from uwf_core.cli.plugin_commands import plugin_commands
from uwf_core.testing.project import Project

WORKFLOW = """\
version: 1
name: triage
roles:
  writer:
    goal: Write
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
graph:
  $START:
    new: {role: writer, prompt: "Write."}
    resume: {role: writer, prompt: "Write again."}
  writer:
    done: {role: $END, prompt: "Done."}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("triage", WORKFLOW)
    project.script([{"role": "writer", "output": {"$status": "done"}}], repeat=True)
    return project


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("check", "--bound"),
        ("check", "--fix"),
        ("show",),
        ("graph",),
        ("diff", "./.workflow/triage.yaml"),
        ("add",),
    ],
    ids=" ".join,
)
def test_the_name_of_a_workflow_works_wherever_its_file_does(project: Project, words) -> None:
    """Found while using uwf (workflow-by-name)."""
    ended = project.uwf("workflow", words[0], *words[1:], "triage")
    assert ended.exit_code == 0, ended.stderr
    with project.client() as client:
        assert client.check_workflow("triage")["valid"]
        client.add_workflow("triage")


def test_a_command_that_reads_a_file_says_so_for_a_registered_name(project: Project) -> None:
    """Found while using uwf (workflow-by-name): the message says what the command takes."""
    assert project.uwf("workflow", "add", "triage").exit_code == 0
    (project.folder / ".workflow" / "triage.yaml").unlink()
    ended = project.uwf("workflow", "check", "triage")
    assert ended.exit_code == 2
    assert "reads a file" in ended.stderr
    assert "unknown workflow 'triag'" in project.uwf("workflow", "check", "triag").stderr


def test_the_id_of_a_thread_means_its_newest_step(project: Project) -> None:
    """Found while using uwf (fork-by-thread-id): each command that takes a step takes a thread."""
    thread = project.uwf("run", "triage", "-p", "Go").document["thread"]
    for word in (thread, thread.lower(), thread[:16]):
        for words in (("step", "show"), ("step", "read"), ("step", "fork"), ("thread", "fork")):
            ended = project.uwf(*words, word)
            assert ended.exit_code == 0, (words, ended.stderr)
    step = project.uwf("step", "show", thread).document["step"]
    assert step == project.uwf("step", "list", thread).document["steps"][-1]["step"]


def test_a_program_gets_the_task_of_each_thread(project: Project) -> None:
    """Found while using uwf (thread-list-without-the-task): columns and document are the same."""
    tasks = ["Mend the roof", '"quoted"\tand \\ more', "two\nlines", "ä\u2028ö " + "long " * 100]
    for task in tasks:
        assert project.uwf("thread", "start", "triage", "-p", task).exit_code == 0
    rows = project.uwf("thread", "list", "--format", "json").document["threads"]
    wanted = ["Mend the roof", '"quoted"\tand \\ more', "two"]
    assert [row["task"] for row in rows][:0:-1] == wanted
    assert rows[0]["task"].startswith("ä\u2028ö long")
    assert len(rows[0]["task"]) == 200
    with project.client() as client:
        assert [row["task"] for row in client.list()] == [row["task"] for row in rows]


def test_a_thread_of_an_earlier_uwf_has_its_task_in_the_list(project: Project) -> None:
    """Found while using uwf: a head without the tag gets the task from its start."""
    from uwf_core.thread.names import TASK

    project.uwf("thread", "start", "triage", "-p", "Mend the roof")
    with project.client() as client:
        store = client._engine.store
        [head] = store.rows("@uwf/thread/")
        tags = {tag: text for tag, text in head.tags.items() if tag != TASK}
        store.set_variable(head.name, head.value, tags, head)
        assert [row["task"] for row in client.list()] == ["Mend the roof"]


def groups() -> list[tuple[str, Group, list[tuple[str, click.Command]]]]:
    """Each list of commands: its name, and what it lists."""
    found, waiting = [], [("uwf", Root())]
    for name, entries in plugin_commands(Root().rows).items():
        from importlib import import_module

        module, _, attribute = entries[0].target.partition(":")
        command = getattr(import_module(module), attribute)
        waiting += [(f"uwf {name}", command)] if isinstance(command, Group) else []
    for name, group in waiting:
        context = click.Context(group, info_name=name)
        commands = []
        for each in group.rows:
            command = group.get_command(context, each)
            assert command is not None
            commands.append((each, command))
            if isinstance(command, Group):
                waiting.append((f"{name} {each}", command))
        found.append((name, group, commands))
    return found


def words_of(text: str) -> set[str]:
    return {each[:5] for each in re.findall(r"\w+", text.lower())}


@pytest.mark.parametrize("group", groups(), ids=lambda group: group[0])
def test_the_line_of_a_command_in_a_list_is_about_it(group) -> None:
    """Found while using uwf (help-line-of-another-command): no line is about another command."""
    name, listing, commands = group
    lines = {each: listing.help_of(each) for each, _ in commands}
    assert len(set(lines.values())) == len(lines), "two commands have one line"
    helps = {each: words_of(f"{each} {command.help}") for each, command in commands}
    for each, line in lines.items():
        shared = len(words_of(line) & helps[each]) / len(words_of(line))
        assert shared >= 0.4, f"{name} {each}: {line}"


def test_the_line_of_a_plugins_command_is_the_first_of_its_help() -> None:
    """Found while using uwf (help-line-of-another-command): also where one plugin has two."""
    from importlib import import_module

    root = Root()
    for name, entries in plugin_commands(root.rows).items():
        module, _, attribute = entries[0].target.partition(":")
        command = getattr(import_module(module), attribute)
        assert root.help_of(name) == command.help.strip().partition("\n")[0].rstrip("."), name


SOURCES = {
    '@command("x")\ndef main():\n    """Does this.\n\n    More.\n    """\n': "Does this",
    '@command(help="Does this")\n@click.option(help="z")\ndef main(): ...\n': "Does this",
    'main = click.Group("x", help="Does this.")\n': "Does this",
    "this is not Python": "from .uwf/plugins",
    "def main(): ...\n": "from .uwf/plugins",
    'def main():\n    """\x1b[31mred"""\n': "[31mred",
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_line_of_a_strangers_command_is_read_and_not_run(project: Project, source: str) -> None:
    """Found while using uwf (help-line-of-another-command): commands of third parties."""
    file = project.folder / ".uwf" / "plugins" / "commands" / "stranger.py"
    file.parent.mkdir(parents=True)
    file.write_text(f"{source}\nopen({str(project.folder / 'ran')!r}, 'w')\n")
    assert project.uwf("config", "trust", ".").exit_code == 0
    shown = project.uwf("--help").stdout
    [line] = [each for each in shown.splitlines() if each.startswith("  stranger ")]
    assert line.removeprefix("  stranger ").strip().startswith(SOURCES[source])
    assert not (project.folder / "ran").exists()
