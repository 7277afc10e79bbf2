"""The status of an installed plugin, computed from its metadata alone."""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.plugins.compatible import demand_problem, demand_warning
from uwf_core.plugins.scan import (
    AGENTS,
    COMMANDS,
    CORE,
    EXTRACTORS,
    STORES,
    EntryPoint,
    normalised,
)

RESERVED: Mapping[str, frozenset[str]] = {
    AGENTS: frozenset(("human", "mock")),
    EXTRACTORS: frozenset(("frontmatter",)),
    STORES: frozenset(("memory", "sqlite")),
    COMMANDS: frozenset(
        (
            *("agent", "bundle", "cas", "completion", "config", "demo", "doctor", "log"),
            *("plugin", "prompt", "run", "setup", "step", "thread", "workflow"),
        )
    ),
}
"""The names of uwf-core by group: no other distribution can have them."""


class Status(Enum):
    """The status of a plugin; all except `BROKEN` are known without importing it."""

    READY = "ready"
    BLOCKED = "blocked"
    INCOMPATIBLE = "incompatible"
    DUPLICATE = "duplicate"
    SHADOWED = "shadowed"
    BROKEN = "broken"


class Plugin(NamedTuple):
    """An installed plugin with its status; `reason` why it is not ready ("" if it is)."""

    found: EntryPoint
    status: Status
    reason: str

    @property
    def warning(self) -> str | None:
        """A warning about its requirements on uwf-core, or None."""
        if self.found.distribution == CORE:
            return None
        return demand_warning(self.found.requires)

    def document(self) -> dict[str, Any]:
        """The plugin as JSON, as `uwf plugin list` shows it."""
        return {
            "name": self.found.name,
            "group": self.found.group,
            "distribution": self.found.distribution,
            "version": self.found.version,
            "status": self.status.value,
            "reason": self.reason or None,
        }


def assess(installed: Collection[EntryPoint], blocked: Collection[str]) -> list[Plugin]:
    """Compute the status of each; `blocked` holds names of plugins or of distributions.

    Two distributions that claim one name are duplicates, unless one of them is blocked. One that
    claims a name of uwf-core is shadowed.
    """
    names = set(blocked)
    distributions = {normalised(name) for name in blocked}
    claims: dict[tuple[str, str], list[EntryPoint]] = {}
    for found in installed:
        is_blocked = found.name in names or normalised(found.distribution) in distributions
        if not is_blocked:
            claims.setdefault((found.group, found.name), []).append(found)
    return [_assess(found, claims.get((found.group, found.name), [])) for found in installed]


def _assess(found: EntryPoint, claims: list[EntryPoint]) -> Plugin:
    if found not in claims:
        return Plugin(found, Status.BLOCKED, "blocked by plugins.block or UWF_BLOCK_PLUGINS")
    if found.defect:
        return Plugin(found, Status.BROKEN, found.defect)
    if is_reserved(found):
        return Plugin(found, Status.SHADOWED, f"{found.name!r} is a name of {CORE}")
    claimants = sorted(
        {
            f"{each.distribution} {each.version}"
            for each in claims
            if not each.defect and not is_reserved(each)
        }
    )
    if len(claimants) > 1:
        reason = f"claimed by {' and by '.join(claimants)}; block one of them"
        return Plugin(found, Status.DUPLICATE, reason)
    problem = demand_problem(found.requires)
    if problem is not None:
        return Plugin(found, Status.INCOMPATIBLE, problem)
    return Plugin(found, Status.READY, "")


def is_reserved(found: EntryPoint) -> bool:
    """Whether another distribution claims a name of uwf-core."""
    return found.name in RESERVED.get(found.group, ()) and found.distribution != CORE
