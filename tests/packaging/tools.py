"""`python tools.py WHEELS FOLDER`: uwf as `uv tool` and `pipx` install it, with a plugin beside it.

Where one of them cannot be had, that is said and it is no fault. The commands that uwf names as
the cure are those of the tool that installed it, and they are run as they stand.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from environment import finish, uv, wheel_in

CORE, PLUGIN = "uwf-core", "uwf-agent-echo"


class Tool:
    """A tool that installs applications, with folders of its own below `folder`."""

    def __init__(self, folder: Path, name: str) -> None:
        self.bin = folder / "bin"
        self.name = name
        for part in ("bin", "home", "project"):
            (folder / part).mkdir(parents=True)
        self.folder = folder
        self.env = {
            **os.environ,
            "UV_TOOL_DIR": str(folder / "tools"),
            "UV_TOOL_BIN_DIR": str(self.bin),
            "PIPX_HOME": str(folder / "pipx"),
            "PIPX_BIN_DIR": str(self.bin),
            "PIPX_MAN_DIR": str(folder / "man"),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "UWF_HOME": str(folder / "home"),
        }

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program with the tool's folders."""
        return subprocess.run(
            words, cwd=self.folder / "project", env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=170,
        )  # fmt: skip

    def must(self, *words: str) -> list[str]:
        """Run what must go well; what is wrong, if anything."""
        done = self.run(*words)
        print(
            f"isolated: {self.name}: {shlex.join(words[-4:])}: exit {done.returncode}", flush=True
        )
        return [] if done.returncode == 0 else [f"{shlex.join(words)}:\n{done.stdout}{done.stderr}"]

    def hint_for(self, agent: str) -> str:
        """The cure that uwf names for an agent that is not installed."""
        uwf = str(self.bin / "uwf")
        self.run(uwf, "workflow", "new", "hello")
        done = self.run(uwf, "run", "./hello.yaml", "-p", "x", "--agent", agent)
        return str(json.loads(done.stderr.strip().splitlines()[-1])["error"]["hint"])

    def plugins(self) -> set[str]:
        """The distributions that the installed uwf finds."""
        listed = json.loads(self.run(str(self.bin / "uwf"), "plugin", "list").stdout)["plugins"]
        return {each["distribution"] for each in listed}


def main(wheels: Path, folder: Path) -> int:
    """Try both tools; 1 if something is wrong."""
    faults = [*uv_tool(wheels, folder / "uv"), *pipx(wheels, folder / "pipx")]
    return finish(faults)


def uv_tool(wheels: Path, folder: Path) -> list[str]:
    """A second `uv tool install --with` drops what the first one had; uwf's own line does not."""
    program = uv()
    if program is None:
        print("isolated: uv tool: there is no uv here; not tried", flush=True)
        return []
    tool = Tool(folder, "uv tool")
    links = ("--find-links", str(wheels), "--python", sys.executable)
    links += ("--refresh-package", CORE, "--refresh-package", PLUGIN)  # a version may be built anew
    faults = tool.must(program, "tool", "install", *links, "--with", PLUGIN, CORE)
    if faults:
        return faults
    hint = tool.hint_for("hermes")
    wanted = f"uv tool install {CORE} --with {PLUGIN} --with uwf-agent-hermes"
    if wanted not in hint:
        faults.append(f"uv tool: {wanted!r} is not in the hint {hint!r}")
    upgrade = ("tool", "upgrade", CORE, "--find-links", str(wheels))
    faults += tool.must(program, *upgrade)
    if PLUGIN not in tool.plugins():
        faults.append(f"uv tool: {PLUGIN} is gone after the upgrade")
    return faults


def pipx(wheels: Path, folder: Path) -> list[str]:
    """What is injected is found, and the line that uwf names injects."""
    program = shutil.which("pipx")
    if program is None:
        print("isolated: pipx: it cannot be had here; not tried", flush=True)
        return []
    tool = Tool(folder, "pipx")
    links = ("--pip-args", f"--find-links {wheels}")
    faults = tool.must(program, "install", *links, str(wheel_in(wheels, CORE)))
    if faults:
        return faults
    hint = tool.hint_for("hermes")
    if f"pipx inject {CORE} uwf-agent-hermes" not in hint:
        faults.append(f"pipx: the hint is {hint!r}")
    faults += tool.must(program, "inject", CORE, str(wheel_in(wheels, PLUGIN)))
    if PLUGIN not in tool.plugins():
        faults.append(f"pipx: {PLUGIN} is not found after it was injected")
    return faults


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
