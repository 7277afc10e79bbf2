"""The command that uwf prints for its installation installs a plugin, and keeps the others."""

import shlex
import subprocess
from pathlib import Path

import pytest
from installed import TOOLS, Environment, make_environment


def printed_command(environment: Environment, wheel: Path) -> list[str]:
    """What `uwf install` answers, for a wheel."""
    done = environment.uwf("install")
    assert done.exit_code == 2
    line = done.error["hint"].partition("your installer does that: ")[2]
    words = shlex.split(line)
    assert words.count("DISTRIBUTION") == 1, line
    return [str(wheel) if word == "DISTRIBUTION" else word for word in words]


@pytest.mark.parametrize("tool", TOOLS)
def test_the_printed_command_adds_a_plugin_beside_the_others(tool: str, tmp_path: Path) -> None:
    environment = make_environment(tool, tmp_path)
    for name in ("one", "two"):
        command = printed_command(environment, environment.wheel(name))
        done = subprocess.run(
            command, env=environment.env, cwd="/", capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done
    assert environment.plugins() == {"one": "ready", "two": "ready"}
