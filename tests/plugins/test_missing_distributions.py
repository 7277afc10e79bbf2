"""What needs a distribution that is not installed says so, with the command that installs it."""

import shlex
from pathlib import Path

import pytest
from installed import Environment, make_environment

MISSING = {
    "eval list": "uwf-eval",
    "improve list": "uwf-improve",
    "distill x": "uwf-improve",
    "web": "uwf-web",
    "worker status": "uwf-worker",
    "acp": "uwf-agent-acp",
    "mcp": "uwf-mcp",
    "plugin new agent x": "uwf-testing",
    "setup --protocol gemini --base-url http://localhost:1/v1 --model m": "uwf-llm",
    "thread why {thread} --format json": "uwf-explain",
    "thread diff {thread} {thread}": "uwf-explain",
    "thread export {thread} -o x --format html": "uwf-explain",
    "thread export {thread} -o x --format atif": "uwf-export",
    "thread export {thread} -o x --format otlp-json": "uwf-export",
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The core alone, with a thread."""
    return make_environment("uv-tool", tmp_path_factory.mktemp("alone"))


@pytest.mark.parametrize("words", MISSING)
def test_it_says_in_one_line_what_installs_it_here(alone: Environment, words: str) -> None:
    wanted = MISSING[words]
    thread = _thread(alone) if "{thread}" in words else ""
    done = alone.uwf(*words.format(thread=thread).split())
    assert done.exit_code == 2, done
    assert done.error["message"].endswith(f" needs {wanted}, which is not installed")
    assert "\n" not in done.error["message"] + done.error["hint"]
    line = done.error["hint"].removeprefix("next: ")
    assert shlex.split(line)[:3] == ["uv", "tool", "install"]
    assert shlex.split(line)[-2:] == ["--with", wanted]


def test_a_folder_that_nothing_recognizes_names_the_importer_to_install(
    alone: Environment,
) -> None:
    done = alone.uwf("cas", "import", str(alone.folder))
    assert done.exit_code == 2, done
    line = done.error["hint"].removeprefix("for a home of the original uwf: ")
    assert shlex.split(line)[:3] == ["uv", "tool", "install"]
    assert shlex.split(line)[-2:] == ["--with", "uwf-import-original"]


def test_the_help_of_uwf_does_not_list_it(alone: Environment) -> None:
    shown = alone.uwf("--help").stdout
    assert "thread" in shown and "\n  eval" not in shown


def _thread(alone: Environment) -> str:
    Path(alone.folder, "hello.yaml").unlink(missing_ok=True)
    assert alone.uwf("workflow", "new", "hello").exit_code == 0
    done = alone.uwf("thread", "start", "./hello.yaml", "-p", "Greet", "--agent", "human")
    assert done.exit_code == 0, done
    return str(done.document["thread"])
