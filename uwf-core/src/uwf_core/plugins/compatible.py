"""Whether a plugin fits this uwf-core: by its metadata before import, by its records after."""

from collections.abc import Collection

from uwf_core import __version__


def demand_problem(requires: Collection[str], installed: str = __version__) -> str | None:
    """Why uwf-core `installed` does not satisfy a distribution's demands; None if it does.

    Only demands that are there cost the import of `packaging`.
    """
    if not requires:
        return None
    from packaging.requirements import InvalidRequirement, Requirement

    for text in requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            return f"its demand on uwf-core cannot be read: {text!r}"
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        if not requirement.specifier.contains(installed, prereleases=True):
            return f"it needs uwf-core{requirement.specifier}; installed is {installed}"
    return None


def api_problem(written_for: object, ours: str) -> str | None:
    """Why a record written for a version of the contract does not fit ours; None if it does.

    Within a major version the contract only grows, so that an older minor fits.
    """
    mine = _version(ours)
    theirs = _version(written_for)
    if theirs is None:
        return f"its version of the contract is {written_for!r}, not like {ours!r}"
    if mine is None or theirs[0] != mine[0] or theirs[1] > mine[1]:
        return f"it is written for version {written_for} of the contract; this uwf has {ours}"
    return None


def _version(text: object) -> tuple[int, int] | None:
    major, _, minor = text.partition(".") if isinstance(text, str) else ("", "", "")
    if not (major.isdecimal() and minor.isdecimal()):
        return None
    return int(major), int(minor)
