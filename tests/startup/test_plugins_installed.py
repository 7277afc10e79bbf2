"""What is installed costs nothing until it is used: 0 or 50 distributions with plugins."""

import subprocess
import sys
from pathlib import Path

import pytest

HOW_MANY = 50
CODE = """
import json, asyncio
from uwf_core.api import AgentSpec, hookimpl

@hookimpl
def uwf_agents():
    return [AgentSpec(name="many{0}", summary="one of many", factory="many_{0}:make")]

@hookimpl
def uwf_step_started(event):
    raise AssertionError("an agent's module is no observer")

class Agent:
    def run(self, request, sink):
        from uwf_core.api import AgentReply
        return AgentReply(structured={{"$status": "done"}})
    def fork(self, session, request): raise NotImplementedError
    def ask(self, request, sink): raise NotImplementedError
    def close(self): pass

def make(options, context):
    return Agent()
"""

LAUNCHER = Path(__file__).parent / "launcher.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which 50 distributions with an agent each are installed."""
    folder = tmp_path_factory.mktemp("site")
    for number in range(HOW_MANY):
        (folder / f"many_{number}.py").write_text(CODE.format(number))
        info = folder / f"uwf_agent_many{number}-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text(
            f"[uwf.agents]\nmany{number} = many_{number}\n"
            f"[uwf.commands]\nmany{number} = many_{number}:command\n"
        )
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: uwf-agent-many{number}\nVersion: 1.0\n"
            "Requires-Dist: uwf-core>=0.1,<1\n"
        )
    return folder


def modules(place, tmp_path, site, *words: str) -> set[str]:
    """What a call of `uwf` imports with that folder on the import path."""
    out = tmp_path / "modules"
    done = subprocess.run(
        [sys.executable, LAUNCHER, out, *words],
        cwd=place.project,
        env={**place.environment, **({"PYTHONPATH": str(site)} if site else {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return set(out.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("words", ["--version", "thread list --all", "step list @last", "log list"])
def test_a_command_that_needs_no_plugin_imports_the_same_with_fifty(place, tmp_path, site, words):
    without = modules(place, tmp_path, None, *words.split())
    assert modules(place, tmp_path, site, *words.split()) == without


@pytest.mark.parametrize("words", ["--help", "plugin list", "agent list", "workflow list"])
def test_a_command_that_names_them_imports_none_of_their_code(place, tmp_path, site, words):
    found = modules(place, tmp_path, site, *words.split())
    assert [name for name in found if name.startswith("many_")] == []


def test_a_step_imports_the_one_plugin_that_it_needs(place, tmp_path, site):
    words = ["thread", "exec", place.words["thread"], "--agent", "many7"]
    found = modules(place, tmp_path, site, *words)
    assert [name for name in found if name.startswith("many_")] == ["many_7"]


@pytest.mark.parametrize(
    "words",
    [
        *("--help", "plugin list --all", "many7x", "thread lst", "doctor"),
        *("__complete bash 1 uwf m", "__complete bash 4 uwf thread exec --agent m"),
    ],
)
def test_the_installed_distributions_are_read_once(place, tmp_path, site, words):
    """Fifty plugins with commands: `--help` read all of them again for each."""
    trace = tmp_path / "opened"
    code = (
        "import sys\n"
        f"out = open({str(trace)!r}, 'w')\n"
        "sys.addaudithook(lambda event, given: event == 'open' and print(given[0], file=out))\n"
        f"sys.argv = ['uwf', *{words.split()!r}]\n"
        "from uwf_core.__main__ import main\n"
        "sys.exit(main())\n"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=place.project,
        env={**place.environment, "PYTHONPATH": str(site)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    opened = trace.read_text(encoding="utf-8").split("\n")
    of_one = [each for each in opened if each.endswith("many7-1.0.dist-info/entry_points.txt")]
    assert len(of_one) == 1
