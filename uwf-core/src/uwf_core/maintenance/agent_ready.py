"""Whether an agent is ready: its plugin is probed, or its program is looked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from uwf_core.agents.choose import resolve_agent
from uwf_core.errors import UwfError
from uwf_core.maintenance.plugin_probe import SECONDS, CheckDocument, Probe, failed, probe
from uwf_core.plugins.scan import AGENTS

if TYPE_CHECKING:
    from uwf_core.agents.choose import Choice
    from uwf_core.engine.engine import Engine

_TRIAL_SECONDS = 150.0
_CURE = "correct its `command` in the configuration, or install it"


class Readiness(TypedDict):
    """The state of an agent: `agent` is the word, `resolved` its agent."""

    agent: str
    resolved: str
    kind: str
    distribution: str | None
    capabilities: list[str]
    ready: bool
    reason: str | None
    hint: str | None
    checks: list[CheckDocument]


def agent_readiness(engine: "Engine", word: str, *, trial: bool = False) -> Readiness:
    """The state of the agent that a word selects: an alias, an installed agent, a program uwf-NAME
    on the PATH, or a command line. `trial`: also one small request to its model.

    Raises:
        UsageError: the word selects none.
    """
    choice = resolve_agent(word, engine.agent_catalog(engine.cwd))
    words = [choice.word, *(["trial"] if trial else [])]
    answer = None if choice.plugin is None else _probed(engine, choice.plugin, words)
    return readiness(engine, choice, answer)


def readiness(engine: "Engine", choice: "Choice", found: Probe | None) -> Readiness:
    """The state of an agent: of a plugin by its probe, of a command (None) by its program."""
    if found is None:
        from uwf_core.views.installed import command_problem

        problem = command_problem(engine, choice)
        found = failed(problem, problem and _CURE)
        found["capabilities"] = sorted(choice.capabilities)
    faults = [each for each in found["checks"] if each["state"] == "error"]
    return {
        "agent": choice.word,
        "resolved": choice.name,
        "kind": "plugin" if choice.plugin else "command",
        "distribution": choice.plugin and _distribution(engine, choice.plugin),
        "capabilities": found["capabilities"] or [],
        "ready": found["reason"] is None and not faults,
        "reason": found["reason"] or (faults[0]["message"] if faults else None),
        "hint": found["hint"] or (faults[0]["hint"] if faults else None),
        "checks": found["checks"],
    }


def _probed(engine: "Engine", name: str, agent: Sequence[str]) -> Probe:
    seconds = _TRIAL_SECONDS if "trial" in agent[1:] else SECONDS
    try:
        return probe(engine, engine.plugins.found(AGENTS, name), seconds, agent)
    except UwfError as error:
        return failed(error.message, error.hint)


def _distribution(engine: "Engine", name: str) -> str | None:
    try:
        found = engine.plugins.found(AGENTS, name)
    except UwfError:
        return None  # the probe has the reason
    return found.origin
