"""uwf in real environments that pip, uv, uv tool and pipx made, all without a network.

The wheel `uwf-core` that they install has no code: it adds the packages of the environment of the
tests to the import path. So nothing needs an index, and the code is that of the checkout.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from wheels import build_wheel

import uwf_core
from uwf_core.testing.project import CommandOutcome

TOOLS = ("pip", "uv", "uv-tool", "pipx")
AGENT = """
from uwf_core.api import AgentSpec, hookimpl

@hookimpl
def uwf_agents():
    return [AgentSpec(name={name!r}, summary="for a test", factory="{module}:create")]

def create(options, context):
    raise NotImplementedError
"""


class Environment(NamedTuple):
    """An environment with uwf: `folder` is for files of the tests, `env` that of the user."""

    tool: str
    folder: Path
    uwf_program: Path
    env: dict[str, str]

    def command(self, *words: str) -> list[str]:
        """The command line of the installed `uwf`."""
        return [str(self.uwf_program), *words]

    def uwf(self, *words: str, cwd: Path | None = None, **env: str) -> CommandOutcome:
        """Run the installed `uwf`."""
        done = subprocess.run(
            self.command(*words), cwd=cwd or self.folder, env={**self.env, **env},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        return CommandOutcome(done.returncode, done.stdout, done.stderr)

    def copy(self, folder: Path) -> "Environment":
        """This environment once more, in another folder."""
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        before, after = str(self.folder), str(folder)
        program = folder / self.uwf_program.relative_to(self.folder)
        program.write_text(program.read_text().replace(before, after))
        env = {name: value.replace(before, after) for name, value in self.env.items()}
        return Environment(self.tool, folder, program, env)

    def plugins(self, field: str = "name") -> dict[str, str]:
        """The status of each plugin of the tests, by its name or another field."""
        rows = self.uwf("plugin", "list", "--all").document["plugins"]
        mine = [each for each in rows if each["distribution"].startswith("demo-")]
        return {each[field]: each["status"] for each in mine}

    def wheel(self, name: str, **more: Any) -> Path:
        """Build the wheel of `demo-NAME`, which has the agent NAME."""
        module = f"demo_{name}"
        entries = more.pop("entries", {"uwf.agents": {name: module}})
        files = {f"{module}.py": AGENT.format(name=name, module=module)}
        wheels = self.folder / "wheels"
        wheels.mkdir(exist_ok=True)
        return build_wheel(wheels, f"demo-{name}", entries, files, **more)


def program(name: str) -> str:
    """The path of a tool; the test is skipped without it."""
    beside = Path(sys.executable).parent
    found = shutil.which(name, path=f"{beside}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{name} is not installed here")
    return found


def make_environment(tool: str, folder: Path) -> Environment:
    """Install uwf below `folder` as this tool does."""
    for name in ("home", "wheels", "bin"):
        (folder / name).mkdir(mode=0o700)
    tools = [] if tool == "pip" else [Path(program(tool.partition("-")[0])).parent]
    env = {
        "PATH": os.pathsep.join(map(str, (folder / "bin", *tools, "/usr/bin", "/bin"))),
        "HOME": str(folder / "home"),
        "UWF_HOME": str(folder / "home" / "uwf"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder / "wheels"),
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(folder / "wheels"),
        "UV_CACHE_DIR": str(folder / "cache"),
        "UV_TOOL_DIR": str(folder / "tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
        "UV_PYTHON": sys.executable,
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_MAN_DIR": str(folder / "man"),
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }
    core = str(_core(folder))
    python = folder / "venv" / "bin" / "python"
    if tool in ("pip", "uv"):
        venv.EnvBuilder(symlinks=True, with_pip=tool == "pip").create(python.parent.parent)
    install = {
        "pip": [str(python), "-m", "pip", "install", core],
        "uv": ["uv", "pip", "install", "--python", str(python), core],
        "uv-tool": ["uv", "tool", "install", core],
        "pipx": ["pipx", "install", core],
    }[tool]
    done = subprocess.run(install, env=env, cwd="/", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    uwf = (python.parent if tool in ("pip", "uv") else folder / "bin") / "uwf"
    return Environment(tool, folder, uwf, env)


def _core(folder: Path) -> Path:
    """The wheel `uwf-core`, which borrows everything but pip from the environment of the tests."""
    libraries = folder / "libraries"
    libraries.mkdir()
    for each in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if each.name.partition("-")[0] != "pip" and not each.name.startswith("uwf"):
            (libraries / each.name).symlink_to(each)
    source = Path(uwf_core.__file__).parent.parent
    entries = {
        "console_scripts": {"uwf": "uwf_core.__main__:main"},
        "uwf.agents": {"mock": "uwf_core.testing.mock", "human": "uwf_core.agents.human"},
        "uwf.extractors": {"frontmatter": "uwf_core.extract.plugin"},
    }
    files = {"uwf_tests.pth": f"{source}\n{libraries}\n"}
    return build_wheel(
        folder / "wheels", "uwf-core", entries, files, requires=(), version=uwf_core.__version__
    )
