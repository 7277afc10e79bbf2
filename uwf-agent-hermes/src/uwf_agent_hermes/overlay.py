"""What a role changes in Hermes for one call: its memory is off, and a question only reads.

`hermes acp` has no option for either. So the call gets a layer of configuration above the user's
(Hermes' managed scope, `HERMES_MANAGED_DIR`) and a plugin that takes tools away. Both lie in the
temporary folder of the call, out of which Hermes starts and loads the plugin. The home of Hermes
is used as it is: a copy of it would lose renewed logins and new sessions.
"""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from uwf_agent_hermes import role_plugin
from uwf_core.api import ANYWHERE, Call, read_regular

MEMORY = ("memory", "session_search", "skill_manage")
"""The tools by which one session sends text to another one."""
READING = ("read_file", "search_files")
"""The tools that a question is answered with: nothing is changed by them."""

_PROJECT_PLUGINS = "HERMES_ENABLE_PROJECT_PLUGINS"
_ALLOWED = re.compile(
    rf"^\s*(?:export\s+)?{_PROJECT_PLUGINS}\s*=\s*['\"]?(1|true|yes|on)\b", re.MULTILINE | re.I
)
_FORGETFUL: Mapping[str, Any] = {
    "memory": {
        "memory_enabled": False,
        "user_profile_enabled": False,
        "provider": "",
        "nudge_interval": 0,
    },
    "skills": {"creation_nudge_interval": 0},
}


class Overlay:
    """The changes for one call, written below `folder`.

    Args:
        folder: the temporary folder in which Hermes will start.
        home: Hermes' home.
        env: the environment of the program.
        call: its folder is the one in which Hermes works; if that is trusted, its plugins are
            loaded as far as the user allows those of projects.
        only: the only tools to permit; None permits all but those of its memory.
    """

    def __init__(
        self,
        folder: Path,
        home: Path,
        env: Mapping[str, str],
        call: Call,
        only: Sequence[str] | None,
    ) -> None:
        self._plugin = folder / ".hermes" / "plugins" / "uwf-role"
        managed, above = folder / "managed", Path(env.get("HERMES_MANAGED_DIR") or "/etc/hermes")
        self._write_plugin(call.cwd if call.trusted else str(folder), only)
        managed.mkdir()
        configuration = _configuration(home, above, is_question=only is not None)
        (managed / "config.yaml").write_text(json.dumps(configuration), "utf-8")
        variables = text_of(above / ".env")
        (managed / ".env").write_text(f"{variables}\n{_PROJECT_PLUGINS}=1\n", "utf-8")
        wanted = f"{_PROJECT_PLUGINS}={env.get(_PROJECT_PLUGINS, '')}"
        if call.trusted and _ALLOWED.search("\n".join((wanted, text_of(home / ".env"), variables))):
            _link(Path(call.cwd, ".hermes", "plugins"), self._plugin.parent)
        self.env = {
            "HERMES_MANAGED_DIR": str(managed),
            _PROJECT_PLUGINS: "1",
            "TERMINAL_CWD": call.cwd,
        }

    def _write_plugin(self, cwd: str, only: Sequence[str] | None) -> None:
        self._plugin.mkdir(parents=True)
        shutil.copy(role_plugin.__file__, self._plugin / "__init__.py")
        rule = {"cwd": cwd, "without": MEMORY, "only": only}
        (self._plugin / "rule.json").write_text(json.dumps(rule), "utf-8")
        about = {"name": self._plugin.name, "version": "1", "description": "narrows a role of uwf"}
        (self._plugin / "plugin.yaml").write_text(json.dumps(about), "utf-8")  # JSON is YAML

    @property
    def is_in_force(self) -> bool:
        """Whether Hermes has loaded the plugin."""
        return (self._plugin / "in-force").exists()


def _configuration(home: Path, above: Path, *, is_question: bool) -> dict[str, Any]:
    """The layer: what an administrator pins, and ours. A list replaces the user's list."""
    user, pinned = _mapping(home / "config.yaml"), _mapping(above / "config.yaml")
    layer = _merged(pinned, _FORGETFUL)
    lists = (_part(each, "plugins").get("enabled") for each in (pinned, user))
    enabled = next((each for each in lists if isinstance(each, list)), [])
    layer = _merged(layer, {"plugins": {"enabled": [*enabled, "uwf-role"]}})
    if is_question:
        servers = {*_part(user, "mcp_servers"), *_part(pinned, "mcp_servers")}
        layer = _merged(layer, {"mcp_servers": {name: {"enabled": False} for name in servers}})
    return layer


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(below)
    for key, value in above.items():
        inner = found.get(key)
        if isinstance(inner, Mapping) and isinstance(value, Mapping):
            value = _merged(inner, value)
        found[key] = value
    return found


def _part(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A part of a configuration; an empty one for a wrong one, which Hermes itself reports."""
    found = mapping.get(key)
    return found if isinstance(found, dict) else {}


def _mapping(file: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text_of(file))
    except (yaml.YAMLError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def text_of(file: Path) -> str:
    """The text of a file of Hermes; empty if it cannot be read."""
    try:
        return read_regular(str(file), within=ANYWHERE).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _link(plugins: Path, folder: Path) -> None:
    """Make the plugins of a project loadable out of another folder."""
    if plugins.is_dir():
        for each in plugins.iterdir():
            if each.name != "uwf-role":
                (folder / each.name).symlink_to(each)
