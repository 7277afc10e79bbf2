"""Check that a plugin is compatible: by its metadata before import, by its records after.

The usual requirements of plugins (`uwf-core[llm]>=0.1,<1`) are compared here; the rest of
PEP 440 and 508 (markers, wildcards, pre-releases) is left to `packaging`, whose import takes twice
as long as a bare interpreter needs to start.
"""

from collections.abc import Callable, Collection

from uwf_core import __version__

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
    mine = _version(ours)
    theirs = _version(written_for)
    if theirs is None:
        return f"its contract version {written_for!r} is not of the form {ours!r}"
    if mine is None or theirs[0] != mine[0] or theirs[1] > mine[1]:
        return f"it is written for contract version {written_for}, but this uwf has {ours}"
    return None


def _version(text: object) -> tuple[int, int] | None:
    major, _, minor = text.partition(".") if isinstance(text, str) else ("", "", "")
    if not (major.isdecimal() and minor.isdecimal()):
        return None
    return int(major), int(minor)
