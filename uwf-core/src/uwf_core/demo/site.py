"""The place of one demo: a folder with a project, a home of its own, and the agent's sessions."""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from uwf_core.errors import UsageError
from uwf_core.examples.shelf import example_text

WORKFLOW = "fix-bug"
AGENT = "demo"
CAPABILITIES = ("continue", "fork", "ask", "stream")
_KEPT = "UWF_BLOCK_PLUGINS"
_CONFIG = """\
# Written by `uwf demo`: the agent is a script, no model. Read it, change it.
agents:
  {agent}:
    command: {python}
    args: [{script}]
    capabilities: {capabilities}
defaultAgent: {agent}
"""


class Site(NamedTuple):
    """The folders of one demo, and the script that plays the roles; all absolute."""

    folder: Path
    project: Path
    home: Path
    agent: Path

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """`env` with this home, and without the settings that are meant for the user's own."""
        kept = {
            name: value
            for name, value in env.items()
            if not name.startswith("UWF_") or name == _KEPT
        }
        return {**kept, "UWF_HOME": str(self.home)}


def lay_out(folder: str | None) -> Site:
    """Make everything that the demo needs in `folder`, or in a new temporary one.

    Raises:
        UsageError: the folder is not empty, or cannot be written.
    """
    try:
        root = _new_folder(folder)
        site = Site(root, root / "project", root / "home", root / "agent.py")
        _copy(files("uwf_core.demo") / "templates" / "shop", site.project)
        (site.project / ".workflow").mkdir()
        text = example_text(WORKFLOW, WORKFLOW)
        (site.project / ".workflow" / f"{WORKFLOW}.yaml").write_text(text, encoding="utf-8")
        site.agent.write_bytes((files("uwf_core.demo") / "agent.py").read_bytes())
        site.home.mkdir(mode=0o700)
        _write_config(site)
    except OSError as error:
        raise UsageError(
            f"the demo cannot be laid out: {error.strerror}",
            where=str(error.filename or folder or tempfile.gettempdir()),
            hint="name a folder that can be written: --dir DIR",
        ) from error
    return site


def _new_folder(folder: str | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="uwf-demo-")).resolve()
    path = Path(folder).absolute()
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if next(path.iterdir(), None) is not None:
        raise UsageError(
            "the folder is not empty", where=str(path), hint="name a new one: --dir DIR"
        )
    return path.resolve()


def _copy(source: Traversable, target: Path) -> None:
    """Copy a folder of the package; what Python has compiled stays behind."""
    target.mkdir()
    for each in source.iterdir():
        if each.is_file():
            (target / each.name).write_bytes(each.read_bytes())


def _write_config(site: Site) -> None:
    text = _CONFIG.format(
        agent=AGENT,
        python=json.dumps(sys.executable, ensure_ascii=False),
        script=json.dumps(str(site.agent), ensure_ascii=False),
        capabilities=json.dumps(CAPABILITIES),
    )
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(site.home / "config.yaml", flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
