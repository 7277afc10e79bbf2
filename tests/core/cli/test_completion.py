"""Completion: the static table, the words of the store, and a real bash that asks."""

import os
import subprocess
import sys

import pytest
from cli_kit import WROTE

from uwf_core.cli.complete import candidates, find_place
from uwf_core.operations.plugin_rows import every_command
from uwf_core.operations.rows import EVERYWHERE, Noun

COMMANDS = every_command().rows


def words_of(before: str, word: str = "") -> list[str]:
    return [each for each, _ in candidates(before.split(), word)]


def test_the_first_word_is_a_command():
    assert set(COMMANDS) <= set(words_of(""))
    assert words_of("", "thr") == ["thread"]
    assert words_of("cas schema") == ["add", "list", "show"]


def test_a_word_that_begins_with_a_dash_is_an_option():
    assert words_of("thread exec", "--b") == ["--background"]
    assert set(words_of("thread list", "--")) >= {each.partition("=")[0] for each in EVERYWHERE}


def test_the_value_of_an_option_is_completed_and_not_taken_for_an_argument():
    assert words_of("thread list --format") == ["text", "json", "yaml"]
    assert "suspended" in words_of("thread list --status")
    assert words_of("thread start --cwd") == [":dir"]
    assert words_of("workflow add") == [":file"]
    assert words_of("cas put string") == [":file"]
    assert words_of("completion --debug") == ["bash", "zsh", "fish"]
    assert find_place(["--format", "json", "thread", "exec", "-c", "3"]).arguments == 0


def test_the_groups_of_plugins_offer_their_commands_and_options():
    assert {"run", "compare", "report"} <= set(words_of("eval"))
    assert {"propose", "decide"} <= set(words_of("improve"))
    assert words_of("worker", "dr") == ["drain"]
    assert words_of("eval run", "--repe") == ["--repeat"]
    assert words_of("distill") == []


def test_nothing_is_offered_where_nothing_fits():
    assert words_of("nonsense") == []
    assert words_of("doctor") == []
    assert words_of("log list --limit") == []


@pytest.fixture
def here(uwf, project):
    """An in-process project with a thread in it; its id."""
    project.script([WROTE])
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    uwf("thread", "exec", thread)
    return thread


def test_threads_steps_workflows_agents_and_settings_are_offered(here, uwf):
    assert words_of("thread show") == ["@last", here]
    steps = [each["step"] for each in uwf("step", "list", here).document["steps"]]
    assert words_of("step show") == ["@last", *reversed(steps)]
    assert words_of("run") == ["pair", ":file"]
    assert {"mock", "human"} <= set(words_of("agent check"))
    assert "defaultAgent" in words_of("config set")


def test_completing_never_complains_and_writes_nothing(project):
    project.config("nonsense: [")
    done = project.uwf("__complete", "bash", "3", "uwf", "thread", "show", "")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    for words in ([], ["bash"], ["bash", "x"], ["bash", "99", "uwf"]):
        assert project.uwf("__complete", *words).exit_code == 0
    assert [each.name for each in project.home.iterdir()] == ["config.yaml"]


def test_completing_imports_no_command_and_no_click(project):
    code = (
        "import sys; sys.argv = ['uwf', '__complete', 'fish', '2', 'uwf', 'thread', ''];"
        "from uwf_core.__main__ import main; main();"
        "print([m for m in sys.modules if m == 'click' or m.startswith('uwf_core.cli.thread')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert "exec\tRun the next step or steps" in lines
    assert lines[-1] == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(uwf, shell):
    answer = uwf("completion", shell)
    assert answer.code == 0
    assert f"uwf __complete {shell} " in answer.out
    assert uwf("completion", shell, "--format", "json").document["script"] == answer.out


def bash(project, line: str) -> list[str]:
    """What a real bash offers after the words of `line`."""
    words = line.split(" ")
    array = " ".join(f"'{word}'" for word in words)
    script = (
        'eval "$(uwf completion bash)"; '
        f"COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _uwf; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    folder = os.path.dirname(sys.executable)  # noqa: PTH120
    env = {**project.env, "PATH": f"{folder}:{project.env['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=project.folder, env=env, capture_output=True, text=True
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def test_bash_completes_commands_options_and_files(project):
    (project.folder / "a file.yaml").write_text("x")
    assert bash(project, "uwf thread st") == ["start", "stop"]
    assert bash(project, "uwf workflow check a") == ["a file.yaml"]


def test_every_noun_offers_its_commands():
    for name, entry in COMMANDS.items():
        if isinstance(entry, Noun):
            assert words_of(name) == list(entry.rows)
