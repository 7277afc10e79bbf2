"""The status of an installed plugin, computed from its metadata alone. Whether it is compatible is
known by its metadata before import, by its records after.

The usual requirements of plugins (`uwf-core[llm]>=0.1,<1`) are compared here; the rest of
PEP 440 and 508 (markers, wildcards, pre-releases) is left to `packaging`, whose import takes twice
as long as a bare interpreter needs to start.
"""

from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import NamedTuple, NotRequired, TypedDict

from uwf_core import __version__
from uwf_core.plugins.scan import (
    AGENTS,
    COMMANDS,
    CORE,
    EXPORTERS,
    EXTRACTORS,
    IMPORTERS,
    MODELS,
    OPERATIONS,
    STORES,
    EntryPoint,
    normalised,
)

Release = tuple[int, ...]

_COMPARISONS: dict[str, Callable[[Release, Release], bool]] = {
    ">=": lambda ours, theirs: ours >= theirs,
    "<=": lambda ours, theirs: ours <= theirs,
    ">": lambda ours, theirs: ours > theirs,
    "<": lambda ours, theirs: ours < theirs,
    "==": lambda ours, theirs: ours == theirs,
    "!=": lambda ours, theirs: ours != theirs,
}


def demand_problem(requires: Collection[str], installed: str = __version__) -> str | None:
    """Why uwf-core `installed` does not satisfy a distribution's requirements; None if it does."""
    for text in requires:
        satisfied = _compare(text, installed)
        problem = _ask_packaging(text, installed) if satisfied is None else None
        if problem is not None:
            return problem
        if satisfied is False:
            return _unsatisfied(text, installed)
    return None


def demand_warning(requires: Collection[str]) -> str | None:
    """A warning about valid but unwise requirements on uwf-core, or None.

    Without an upper bound the next major version breaks it unnoticed; with an exact pin it cannot
    be installed with others.
    """
    if not requires:
        return "it declares no requirement on uwf-core"
    if any("===" in each or _pins(each) for each in requires):
        return f"it pins uwf-core to one version ({', '.join(requires)})"
    if not any(sign in each.partition(";")[0] for each in requires for sign in ("<", "~=", "==")):
        return f"it has no upper bound on uwf-core ({', '.join(requires)})"
    return None


def _pins(requirement: str) -> bool:
    demand = requirement.partition(";")[0]
    return "==" in demand and ".*" not in demand


def _unsatisfied(demand: str, installed: str) -> str:
    return f"it needs {demand}, but {installed} is installed"


def _compare(requirement: str, installed: str) -> bool | None:
    """Whether a requirement of plain comparisons with plain releases holds; None if it is more
    than that.
    """
    ours = _release(installed)
    clauses = _clauses(requirement)
    if ours is None or clauses is None:
        return None
    for clause in clauses:
        operator = clause[: len(clause) - len(clause.lstrip("<>=!~"))]
        theirs = _release(clause[len(operator) :].strip())
        if theirs is None or operator not in _COMPARISONS:
            return None
        length = max(len(ours), len(theirs))
        if not _COMPARISONS[operator](_padded(ours, length), _padded(theirs, length)):
            return False
    return True


def _clauses(requirement: str) -> list[str] | None:
    """The comparisons of `name[extras]>=1,<2`; None if it has a marker or anything else."""
    name_end = next((at for at, each in enumerate(requirement) if each in "[<>=!~ "), None)
    rest = "" if name_end is None else requirement[name_end:].strip()
    if rest.startswith("["):
        _, bracket, rest = rest.partition("]")
        if not bracket:
            return None
    if any(each in rest for each in ";@()*"):
        return None
    return [clause.strip() for clause in rest.split(",")] if rest.strip() else []


def _release(text: str) -> Release | None:
    """`1.2.3` as numbers; None if it is not a plain release."""
    parts = text.split(".")
    plain = all(part.isascii() and part.isdecimal() for part in parts)
    return tuple(map(int, parts)) if plain else None


def _padded(release: Release, length: int) -> Release:
    return release + (0,) * (length - len(release))


def _ask_packaging(text: str, installed: str) -> str | None:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return f"its requirement on uwf-core is invalid: {text!r}"
    if requirement.marker is not None and not requirement.marker.evaluate():
        return None
    if requirement.specifier.contains(installed, prereleases=True):
        return None
    return _unsatisfied(f"{requirement.name}{requirement.specifier}", installed)


def api_problem(written_for: object, ours: str) -> str | None:
    """Why a record for a contract version is incompatible with ours; None if compatible.

    Within a major version the contract only grows, so an older minor version is compatible.
    """
    mine = api_version(ours)
    theirs = api_version(written_for)
    if theirs is None:
        return f"its contract version {written_for!r} is not of the form {ours!r}"
    if mine is None or theirs[0] != mine[0] or theirs[1] > mine[1]:
        return f"it is written for contract version {written_for}, but this uwf has {ours}"
    return None


def api_version(text: object) -> tuple[int, int] | None:
    """A version of the contract as numbers; None if it is not one."""
    major, _, minor = text.partition(".") if isinstance(text, str) else ("", "", "")
    if not (major.isdecimal() and minor.isdecimal()):
        return None
    return int(major), int(minor)


RESERVED: Mapping[str, Mapping[str, str]] = {
    AGENTS: dict.fromkeys(("human", "mock"), CORE),
    EXTRACTORS: {"frontmatter": CORE},
    EXPORTERS: {
        **dict.fromkeys(("html", "markdown"), "uwf-explain"),
        **dict.fromkeys(("atif", "otlp-json", "otlp-json-content"), "uwf-export"),
    },
    IMPORTERS: {"original": "uwf-import-original"},
    MODELS: dict.fromkeys(("anthropic", "gemini", "openai-chat", "openai-responses"), "uwf-llm"),
    OPERATIONS: {"explain": "uwf-explain"},
    STORES: dict.fromkeys(("memory", "sqlite"), CORE),
    COMMANDS: {
        **dict.fromkeys(
            (
                *("agent", "bundle", "cas", "completion", "config", "demo", "doctor", "log"),
                *("plugin", "prompt", "replay", "run", "setup", "step", "thread", "usage"),
                *("inbox", "schedule", "store", "tick", "watch", "workflow"),
            ),
            CORE,
        ),
        "mcp": "uwf-mcp",
    },
}
"""The built-in names by group, with the distribution of each: no other one can have them."""

IMPOSSIBLE: Mapping[str, Mapping[str, str]] = {
    AGENTS: {
        "program": "what the step of a program records as its agent",
        "workflow": "what the step of a called workflow records as its agent",
    },
    EXPORTERS: {
        "bundle": "the bundle that `uwf thread export` writes by default",
        "text": "a format of uwf's own reports",
        "json": "a format of uwf's own reports",
        "yaml": "a format of uwf's own reports",
    },
}
"""The names by group that no plugin can have, with what they are."""


class Status(Enum):
    """The status of a plugin; all except `BROKEN` are known without importing it."""

    READY = "ready"
    BLOCKED = "blocked"
    UNTRUSTED = "untrusted"
    INCOMPATIBLE = "incompatible"
    DUPLICATE = "duplicate"
    SHADOWED = "shadowed"
    BROKEN = "broken"


class NamedPlugin(TypedDict):
    """Which plugin it is."""

    name: str
    group: str
    distribution: str
    version: str | None
    file: str | None


class PluginRow(NamedPlugin):
    """A plugin in a list; `hooks` are those that it implements, once it was loaded."""

    summary: str | None
    status: str
    reason: str | None
    hooks: NotRequired[list[str] | None]


class Plugin(NamedTuple):
    """A plugin with its status; `reason` why it is not ready ("" if it is)."""

    found: EntryPoint
    status: Status
    reason: str

    @property
    def warning(self) -> str | None:
        """A warning about its requirements on uwf-core, or None."""
        if self.found.distribution == CORE or self.found.file:
            return None
        return demand_warning(self.found.requires)

    def document(self) -> PluginRow:
        """The plugin as JSON, as `uwf plugin list` shows it."""
        return {
            "name": self.found.name,
            "group": self.found.group,
            "distribution": self.found.distribution,
            "version": self.found.version or None,
            "summary": self.found.summary or None,
            "file": self.found.file or None,
            "status": self.status.value,
            "reason": self.reason or None,
        }


def assess(installed: Collection[EntryPoint], blocked: Collection[str]) -> list[Plugin]:
    """Compute the status of each; `blocked` holds names of plugins or of distributions.

    Two distributions that claim one name are duplicates, unless one of them is blocked. One that
    claims a built-in name is shadowed. An untrusted project claims no name.
    """
    claims: dict[tuple[str, str], list[EntryPoint]] = {}
    for found in installed:
        if not found.untrusted and not any(blocks(name, found) for name in blocked):
            claims.setdefault((found.group, found.name), []).append(found)
    return [
        _assess(found, blocked, claims.get((found.group, found.name), [])) for found in installed
    ]


def blocks(name: str, found: EntryPoint) -> bool:
    """Whether `name` in `plugins.block` blocks a plugin: by its name, which is exact, or by its
    distribution's, in any spelling.
    """
    return name == found.name or normalised(name) == normalised(found.distribution)


def means(entry: str, name: str, plugins: Collection[Plugin]) -> bool:
    """Whether an entry of `plugins.block` is `name`: that of `plugins`, or that of their
    distribution in any spelling.
    """
    return entry == name or (
        normalised(entry) == normalised(name)
        and any(blocks(entry, plugin.found) for plugin in plugins)
    )


def _assess(found: EntryPoint, blocked: Collection[str], claims: list[EntryPoint]) -> Plugin:
    if any(blocks(name, found) for name in blocked):
        return Plugin(found, Status.BLOCKED, "blocked by plugins.block or UWF_BLOCK_PLUGINS")
    if found.untrusted:
        reason = f"if you trust it: uwf config trust {found.untrusted}"
        return Plugin(found, Status.UNTRUSTED, reason)
    if found.defect:
        return Plugin(found, Status.BROKEN, found.defect)
    if meaning := IMPOSSIBLE.get(found.group, {}).get(found.name):
        reason = f"its name {found.name!r} is {meaning}; choose another name"
        return Plugin(found, Status.BROKEN, reason)
    if owner := reserved_by(found):
        return Plugin(found, Status.SHADOWED, f"{found.name!r} is a name of {owner}")
    claimants = sorted(
        {each.origin for each in claims if not each.defect and not reserved_by(each)}
    )
    if len(claimants) > 1:
        reason = f"claimed by {' and by '.join(claimants)}; block one of them"
        return Plugin(found, Status.DUPLICATE, reason)
    problem = demand_problem(found.requires)
    if problem is not None:
        return Plugin(found, Status.INCOMPATIBLE, problem)
    return Plugin(found, Status.READY, "")


def reserved_by(found: EntryPoint) -> str | None:
    """The distribution that has this built-in name, if another one claims it."""
    owner = RESERVED.get(found.group, {}).get(found.name)
    return None if owner == found.distribution else owner
