"""Scan the entry points of uwf's groups directly from the metadata folders.

`importlib.metadata` costs more than the whole scan, so `*.dist-info` and `*.egg-info` folders on
the import path are read here. Formats: entry_points.txt and METADATA as the packaging
specifications define them. No plugin code is imported, and nothing is cached between processes.

This module imports only os and sys: `typing` alone would double what the scan costs.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

AGENTS = "uwf.agents"
STORES = "uwf.stores"
EXTRACTORS = "uwf.extractors"
JUDGES = "uwf.judges"
TOOLS = "uwf.tools"
EXPORTERS = "uwf.exporters"
IMPORTERS = "uwf.importers"
MODELS = "uwf.models"
OBSERVERS = "uwf.observers"
COMMANDS = "uwf.commands"
OPERATIONS = "uwf.operations"
EVAL_TASKS = "uwf.eval_tasks"
GROUPS = (
    *(AGENTS, STORES, EXTRACTORS, JUDGES, TOOLS, EXPORTERS, IMPORTERS, MODELS),
    *(OBSERVERS, COMMANDS, OPERATIONS, EVAL_TASKS),
)

CORE = "uwf-core"
_METADATA = {"dist-info": "METADATA", "egg-info": "PKG-INFO"}


class Distribution:
    """An installed distribution.

    Attributes:
        name: its own spelling of its name. version: its version.
        requires: its requirements on uwf-core, as texts (`uwf-core>=1,<2`).
        summary: what it is, in a line.
        extras: the distributions that each of its extras requires, as (extra, name).
    """

    __slots__ = ("extras", "name", "requires", "summary", "version")

    def __init__(
        self,
        name: str,
        version: str,
        requires: tuple[str, ...] = (),
        summary: str = "",
        extras: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.name = name
        self.version = version
        self.requires = requires
        self.summary = summary
        self.extras = extras

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class EntryPoint:
    """An entry point of an installed distribution, or a project plugin.

    Attributes:
        group: one of `GROUPS`. name: what a user types.
        target: `module` or `module:attribute`; "" if the line has none.
        distribution, version, requires, summary: as in `Distribution`.
        defect: why it can never be loaded; "" if unknown.
        file: of a project plugin; "" if it is installed.
        untrusted: the project's folder, if the user does not trust it; else "".
    """

    __slots__ = (
        "defect", "distribution", "file", "group", "name", "requires", "summary", "target",
        "untrusted", "version",
    )  # fmt: skip

    def __init__(
        self, group: str, name: str, target: str, by: Distribution, defect: str = ""
    ) -> None:
        self.group = group
        self.name = name
        self.target = target
        self.distribution = by.name
        self.version = by.version
        self.requires = by.requires
        self.summary = by.summary
        self.defect = defect or _name_defect(group, name)
        self.file = self.untrusted = ""

    @property
    def origin(self) -> str:
        """The distribution with its version, or the file of a project plugin, for messages."""
        if self.file:
            return f"{self.distribution}/{self.file.rpartition(f'/{self.distribution}/')[2]}"
        return origin_of(self.distribution, self.version)

    def __str__(self) -> str:
        return f"{self.name} of {self.origin}"

    def __repr__(self) -> str:
        return f"EntryPoint({self.group!r}, {self.name!r}, {self.target!r}, {self.distribution!r})"


def _name_defect(group: str, name: str) -> str:
    """Why nobody could type `name`, or it would pass for another one; "" if it is valid.

    An agent's may have two parts (`acp:gemini`): one adapter for a family of agents.
    """
    parts = name.split(":", 1) if group == AGENTS else [name]
    if all(map(_is_plain, parts)):
        return ""
    return (
        f"its name {name!a} is invalid; a name has ASCII letters, digits, `.`, `_` and `-`, "
        "and starts with a letter or digit"
    )


def _is_plain(part: str) -> bool:
    plain = part.replace("-", "").replace("_", "").replace(".", "")
    return part.isascii() and part[:1].isalnum() and plain.isalnum()


def printable(text: str) -> str:
    """`text` on one line, with what a terminal would obey or not show as its escape."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def origin_of(distribution: str, version: str | None) -> str:
    """A distribution with its version, if it has one, for messages."""
    return f"{distribution} {version}" if version else distribution


def normalised(name: str) -> str:
    """Normalize a distribution's name: lower case, one `-` for each run of `-_.`."""
    words = name.lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(word for word in words if word)


def scan(groups: Container[str] = GROUPS, path: Sequence[str] | None = None) -> list[EntryPoint]:
    """The entry points of `groups`, sorted by group and name.

    A distribution that is on several entries of `path` (default `sys.path`) counts where it
    comes first, as for imports; one without metadata counts, as broken, if no other is complete.
    Zip files on the path and `~*` leftovers of pip are ignored, and so is an entry point with an
    extra (`otel = module [otel]`) whose distributions are not installed.
    """
    optional: list[tuple[EntryPoint, list[str]]] = []  # with the distributions that it needs
    remains: list[tuple[str, EntryPoint]] = []
    seen: dict[str, str] = {}  # the metadata file of what comes first by this name
    for entry in sys.path if path is None else path:
        for folder, stem, kind in _metadata_folders(entry or "."):
            key = _name_part(stem)
            if key in seen and os.path.exists(seen[key]):  # noqa: PTH110
                continue
            seen[key] = f"{folder}/{_METADATA[kind]}"
            data = _read(f"{folder}/entry_points.txt")
            if data is None or b"uwf." not in data:
                continue
            sections = list(_section_lines(data.decode("utf-8", "replace"), groups))
            metadata = _read_metadata(seen[key]) if sections else None
            if metadata is not None:
                for group, name, target, extra in sections:
                    needs = [each for own, each in metadata.extras if extra and own == extra]
                    optional.append((EntryPoint(group, name, target, metadata), needs))
            elif sections:
                del seen[key]  # the rest of something uninstalled hides nothing
                by = Distribution(*_name_and_version(stem))
                defect = f"{folder} has no readable {_METADATA[kind]}"
                remains += [(key, EntryPoint(*each[:3], by, defect)) for each in sections]
    found = [each for each, needs in optional if all(_is_there(seen.get(name)) for name in needs)]
    found += [each for key, each in remains if key not in seen]
    return sorted(found, key=lambda each: (each.group, each.name, each.distribution))


def _is_there(metadata: str | None) -> bool:
    """Whether a distribution is there, and not the rest of one."""
    return metadata is not None and os.path.exists(metadata)  # noqa: PTH110


class _AnyGroup:
    """Matches every group with our prefix."""

    def __contains__(self, group: object) -> bool:
        return isinstance(group, str) and group.startswith("uwf.")


EVERY = _AnyGroup()
"""Also the groups that uwf does not have: misspelt, or of a newer uwf."""


def _metadata_folders(entry: str) -> Iterator[tuple[str, str, str]]:
    """(folder, name and version, kind) of each distribution in one entry of the import path.

    In reverse alphabetical order, so that the rest of an interrupted upgrade loses.
    """
    try:
        names = os.listdir(entry)  # noqa: PTH208 (pathlib costs more than the scan)
    except OSError:  # a zip file, or a folder that is not there: imports skip it as well
        return
    for name in sorted(names, reverse=True):
        stem, _, kind = name.rpartition(".")
        if kind in _METADATA and not name.startswith("~"):
            yield f"{entry}/{name}", stem, kind


def _name_part(stem: str) -> str:
    return normalised(_name_and_version(stem)[0])


def _name_and_version(stem: str) -> tuple[str, str]:
    """Split `name-version`; old tools left dashes in the name."""
    words = stem.split("-")
    length = next((at for at, word in enumerate(words) if at and word[:1].isdigit()), len(words))
    return "-".join(words[:length]), "-".join(words[length:])


def _section_lines(text: str, groups: Container[str]) -> Iterator[tuple[str, str, str, str]]:
    """(group, name, target, extra) of each line of the requested groups."""
    group = ""
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
        elif line and line[0] not in "#;" and group in groups:
            name, _, target = line.partition("=")
            target, _, extra = target.partition("[")
            yield group, name.strip(), target.strip(), extra.partition("]")[0].strip()


def _read_metadata(file: str) -> Distribution | None:
    """The metadata of a distribution; None if it does not name one."""
    data = _read(file)
    if data is None:
        return None
    fields = dict.fromkeys(("name", "version", "summary"), "")
    requires: list[str] = []
    extras: list[tuple[str, str]] = []
    for line in data.decode("utf-8", "replace").split("\n"):
        if not line.strip():
            break  # the description follows
        key, _, value = line.partition(":")
        key, value = key.lower(), value.strip()
        if key in fields:
            fields[key] = value
        elif key == "requires-dist":
            required, marker = _required(value), value.partition(";")[2]
            if "extra" in marker:
                extras.append((marker.replace('"', "'").split("'")[-2:][0], required))
            elif required == CORE:
                requires.append(value)
    if not fields["name"]:
        return None
    more = tuple(requires), fields["summary"], tuple(extras)
    return Distribution(fields["name"], fields["version"], *more)


def _required(requirement: str) -> str:
    """The distribution that a requirement is about."""
    end = 0
    while end < len(requirement) and (requirement[end].isalnum() or requirement[end] in "-_."):
        end += 1
    return normalised(requirement[:end])


def _read(file: str) -> bytes | None:
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:  # most distributions have no such file
        return None
    try:
        return _read_all(descriptor)
    except OSError:  # a folder by that name
        return None
    finally:
        os.close(descriptor)


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 65536):
        parts.append(part)
    return b"".join(parts)
