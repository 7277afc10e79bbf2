"""The players of the demo: only a script, the builtin agent on a scripted model, or the builtin
agent on the user's configured model.
"""

import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.demo.site import Site
from uwf_core.engine.models import default_model
from uwf_core.engine.open_engine import open_engine
from uwf_core.errors import UsageError
from uwf_core.plugins.repair import not_installed
from uwf_core.plugins.scan import AGENTS
from uwf_core.plugins.status import Plugin, Status

AGENT = "demo"
BUILTIN = "builtin"
BY_SCRIPT = "a script that ships with uwf; no model, no key, no server"
BY_BUILTIN = (
    "the builtin agent with its real tools; its model is a script that ships with it, so it needs "
    "no key"
)
_BUILTIN_DEMO = "uwf_agent_builtin.demo"
_KEY = "DEMO_API_KEY"


class Player(NamedTuple):
    """Who plays.

    Attributes:
        agent: the agent's command or name. description: the same for people.
        settings: the configuration of the demo's home. env: further variables of its processes.
    """

    agent: str
    description: str
    settings: Mapping[str, Any]
    env: Mapping[str, str]


def scripted_player(site: Site, env: Mapping[str, str]) -> Player:
    """The player without a model: the builtin agent if it is installed, else a script."""
    plugin = _builtin(env, str(site.project))
    if plugin is not None and plugin.status is Status.READY:
        # -P: do not import modules of the project.
        args = ["-P", "-m", _BUILTIN_DEMO]
        capabilities = ["continue", "fork", "ask", "stream", "tools"]
        settings = _command(args, capabilities)
        return Player(" ".join(["python3", *args]), BY_BUILTIN, settings, {})
    script = site.add_file("agent.py", (files("uwf_core.demo") / "agent.py").read_bytes())
    settings = _command([str(script)], ["continue", "fork", "ask", "stream"])
    return Player(str(script), BY_SCRIPT, settings, {})


def live_player(env: Mapping[str, str]) -> Player:
    """The builtin agent on the user's default model. Only the demo's processes get its key; it is
    not written to a file.

    Raises:
        UsageError: the agent is not installed, or no model is configured.
        ConfigError: the user's settings have errors.
    """
    plugin = _builtin(env, str(Path.cwd()))
    if plugin is None or plugin.status is not Status.READY:
        if plugin is None:
            raise not_installed("the live demo", "uwf-agent-builtin")
        state = f"the builtin agent, which cannot be used: {plugin.reason}"
        raise UsageError(f"the live demo needs {state}", hint="uwf plugin list")
    engine = open_engine(env=env, cwd=str(Path.cwd()))
    model, settings = default_model(engine), engine.settings
    if model is None:
        raise UsageError(
            "the live demo needs a model, but none is configured",
            hint="next: uwf setup; `uwf demo` without --live needs no model",
        )
    variable = settings.providers[model.provider].api_key_env or _KEY
    key = {} if model.api_key is None else {variable: model.api_key}
    provider = {
        "baseUrl": model.base_url,
        "protocol": model.protocol,
        **({"apiKeyEnv": variable} if key else {}),
    }
    return Player(
        agent=BUILTIN,
        description=f"the builtin agent on {model.name} of {model.provider}; it runs commands",
        settings={
            "providers": {model.provider: provider},
            "models": {model.alias: {"provider": model.provider, "name": model.name}},
            "defaultModel": model.alias,
            "agents": {AGENT: {"use": BUILTIN, "options": {"allowShell": "workspace"}}},
            "defaultAgent": AGENT,
        },
        env=key,
    )


def _builtin(env: Mapping[str, str], cwd: str) -> Plugin | None:
    plugins = open_engine(env=env, cwd=cwd).plugins.list((AGENTS,))
    return next((each for each in plugins if each.found.name == BUILTIN), None)


def _command(args: list[str], capabilities: list[str]) -> dict[str, Any]:
    agent = {"command": sys.executable, "args": args, "capabilities": capabilities}
    return {"agents": {AGENT: agent}, "defaultAgent": AGENT}
