"""Check whether an agent is ready."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from uwf_core.cli.probe import SECONDS, CheckDocument, Probe, failed, probe
from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from uwf_core.agents.choose import Choice
    from uwf_core.engine.engine import Engine

_TRIAL_SECONDS = 150.0


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


def agent_readiness(engine: "Engine", choice: "Choice", *, trial: bool = False) -> Readiness:
    """Load the agent in a child process, or look for its program; run its checks.

    With `trial` its checks may send a request to the model.
    """
    if choice.plugin is None:
        problem = command_problem(choice)
        return {
            "agent": choice.word,
            "resolved": choice.name,
            "kind": "command",
            "distribution": None,
            "capabilities": sorted(choice.capabilities),
            "ready": problem is None,
            "reason": problem,
            "hint": problem and "correct its `command` in the configuration, or install it",
            "checks": [],
        }
    found = _probed(engine, choice.plugin, [choice.word, *(["trial"] if trial else [])])
    faults = [each for each in found["checks"] if each["state"] == "error"]
    return {
        "agent": choice.word,
        "resolved": choice.name,
        "kind": "plugin",
        "distribution": _distribution(engine, choice.plugin),
        "capabilities": found["capabilities"] or [],
        "ready": found["problem"] is None and not faults,
        "reason": found["problem"] or (faults[0]["message"] if faults else None),
        "hint": found["hint"] or (faults[0]["hint"] if faults else None),
        "checks": found["checks"],
    }


def command_problem(choice: "Choice") -> str | None:
    """Why a command cannot be started, None if its program is there."""
    from shutil import which

    program = choice.command[0]
    return None if which(program) else f"program {program!r} not found"


def _probed(engine: "Engine", name: str, agent: Sequence[str]) -> Probe:
    from uwf_core.plugins.scan import AGENTS

    seconds = _TRIAL_SECONDS if "trial" in agent[1:] else SECONDS
    try:
        return probe(engine, engine.plugins.found(AGENTS, name), seconds, agent)
    except UwfError as error:
        return failed(error.message, error.hint)


def _distribution(engine: "Engine", name: str) -> str | None:
    from uwf_core.plugins.scan import AGENTS

    try:
        found = engine.plugins.found(AGENTS, name)
    except UwfError:
        return None  # the probe has the reason
    return f"{found.distribution} {found.version}"
