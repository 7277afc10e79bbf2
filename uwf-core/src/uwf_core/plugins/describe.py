"""What the metadata of an installed distribution says in full, read by importlib-metadata.

For people (`plugin check`, `doctor`). All other commands read names, versions and requirements by
`scan`, which takes a third of the time of this import; a test proves that both agree.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple, TypedDict

from importlib_metadata import Distribution, PackageNotFoundError
from packaging.requirements import InvalidRequirement, Requirement


class Installed(TypedDict):
    """Where a distribution lies, and who put it there; `installer` is null if unknown."""

    location: str
    installer: str | None
    editable: bool


class Dependency(NamedTuple):
    """A requirement of a distribution, as written; `version` is what is installed, if anything."""

    name: str
    requirement: str
    version: str | None
    met: bool


def describe(distribution: str) -> Installed | None:
    """How `distribution` is installed; None without metadata."""
    try:
        found = Distribution.from_name(distribution)
    except PackageNotFoundError:
        return None
    installer = (found.read_text("INSTALLER") or "").strip()
    return {
        "location": str(found.locate_file("")),
        "installer": installer or None,
        "editable": _is_editable(found.read_text("direct_url.json")),
    }


def dependencies(distribution: str) -> Iterator[Dependency]:
    """The requirements of `distribution` that apply here, extras left out."""
    try:
        texts = Distribution.from_name(distribution).requires or ()
    except PackageNotFoundError:
        return
    for text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            yield Dependency(text, text, None, met=False)
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            version = _version(requirement.name)
            met = version is not None and requirement.specifier.contains(version, prereleases=True)
            wanted = f"{requirement.name}{requirement.specifier}"
            yield Dependency(requirement.name, wanted, version, met)


def _version(distribution: str) -> str | None:
    try:
        return str(Distribution.from_name(distribution).version)
    except (PackageNotFoundError, KeyError):  # KeyError: metadata without a version
        return None


def _is_editable(direct_url: str | None) -> bool:
    try:
        return bool(json.loads(direct_url or "{}").get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):  # not the format of the specification
        return False
