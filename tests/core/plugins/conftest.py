"""Real tiny distributions in a folder, and child processes that have it on their path."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

AGENT = """
from uwf_core.api import AgentSpec, hookimpl

@hookimpl
def uwf_agents():
    return [AgentSpec(name="{name}", summary="for a test", factory="{module}:Agent")]
"""


class Site:
    """A folder like site-packages, and the child processes that import from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder.parent / "home"
        folder.mkdir(exist_ok=True)

    def add(
        self,
        name: str,
        entries: Mapping[str, Mapping[str, str]],
        *,
        version: str = "1.0",
        requires: Sequence[str] = (),
        modules: Mapping[str, str] | None = None,
    ) -> Path:
        """Install a distribution; its metadata folder."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        demands = "".join(f"Requires-Dist: {each}\n" for each in requires)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{demands}\nText: of it\n"
        )
        (info / "entry_points.txt").write_text(
            "".join(
                f"[{group}]\n" + "".join(f"{key} = {target}\n" for key, target in lines.items())
                for group, lines in entries.items()
            )
        )
        for module, code in (modules or {}).items():
            (self.folder / f"{module}.py").write_text(code)
        return info

    def agent(self, name: str, code: str | None = None, **more: Any) -> Path:
        """Install a distribution `demo-<name>` with one agent in a module `demo_<name>`."""
        module = f"demo_{name}"
        return self.add(
            f"demo-{name}",
            {"uwf.agents": {name: module}},
            modules={module: AGENT.format(name=name, module=module) if code is None else code},
            **more,
        )

    def run(
        self, code: str, *, env: Mapping[str, str] | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run `code` in a child process that has this folder on its path; HOME_ is the home."""
        prelude = (
            f"import sys, json; sys.path.insert(0, {str(self.folder)!r})\n"
            f"HOME_ = {str(self.home)!r}\n"
            "from uwf_core.plugins.plugins import Plugins\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", prelude + code],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    def value(self, expression: str, setup: str = "") -> Any:
        """What an expression gives in a child process, through JSON on stdout."""
        done = self.run(f"{setup}\nvalue = {expression}\nprint(json.dumps(value))")
        return json.loads(done.stdout)

    def error(self, call: str, arguments: str = "", after: str = "") -> dict[str, Any]:
        """The error document of a call on `Plugins(...)` that must fail; `after` runs then."""
        done = self.run(
            "from uwf_core.errors import UwfError\n"
            f"plugins = Plugins({arguments})\n"
            f"try: plugins.{call}\n"
            "except UwfError as error: print(json.dumps(error.document()['error']))\n"
            f"{after}\n"
        )
        document: dict[str, Any] = json.loads(done.stdout)
        return document


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")
