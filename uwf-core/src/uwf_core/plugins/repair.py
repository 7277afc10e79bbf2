"""The commands that install and repair a distribution in the way this uwf was installed.

pip, pipx and `uv tool` each have their own; a second `uv tool install --with` drops what the
first one had, so there every earlier `--with` is named again. The lines that messages suggest are
the same commands as text.
"""

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.errors import PluginError
from uwf_core.plugins.scan import CORE, normalised

UV_RECEIPT = "uv-receipt.toml"

Command = tuple[str, ...]
"""A program and its arguments."""


class Required(NamedTuple):
    """A distribution that a tool installed: its name, and the requirement with extras, version or
    place (`uwf-core[llm]`); of an editable one the folder.
    """

    name: str
    requirement: str
    editable: bool = False


class InstallMethod(NamedTuple):
    """How uwf was installed: `tool` is pip, uv (no pip inside), pipx or uv-tool.

    `package` is the distribution that a tool was installed for, `beside` the ones with it;
    `unreadable` the file that should name them, but cannot be read.
    """

    tool: str
    python: str
    package: Required = Required(CORE, CORE)
    beside: tuple[Required, ...] = ()
    unreadable: str | None = None


def install_method(
    prefix: str = sys.prefix, python: str = sys.executable, path: Sequence[str] | None = None
) -> InstallMethod:
    """Detect the tool that created `prefix` (the folder of an environment)."""
    receipt = Path(prefix, UV_RECEIPT)
    if receipt.is_file():
        if not (found := _receipt(receipt)):
            return InstallMethod("uv-tool", python, unreadable=str(receipt))
        package, *beside = found
        return InstallMethod("uv-tool", python, package, tuple(beside))
    if Path(prefix, "pipx_metadata.json").is_file():
        name = Path(prefix).name
        return InstallMethod("pipx", python, Required(name, name))
    has_pip = any(Path(entry, "pip").is_dir() for entry in (sys.path if path is None else path))
    return InstallMethod("pip" if has_pip else "uv", python)


def install_command(
    requirements: Sequence[str], method: InstallMethod, *, upgrade: bool = False
) -> Command:
    """Install requirements with uwf; `upgrade`: their newest compatible versions."""
    if method.tool == "uv-tool":
        new = {normalised(_name_of(each)): each for each in requirements}
        if own := new.pop(normalised(method.package.name), None):  # with another extra
            method = method._replace(package=Required(method.package.name, own))
        added = [Required(name, each) for name, each in new.items()]
        return _uv_tool(method, [*_without(method, new), *added], upgrade)
    if method.tool == "pipx":
        force = ("--force",) if upgrade else ()
        return ("pipx", "inject", *force, method.package.name, *requirements)
    newest = ("--upgrade",) if upgrade else ()
    return (*_pip(method, "install"), *newest, *requirements)


def install_line(distribution: str, method: InstallMethod | None = None) -> str:
    """The shell command that installs `distribution` with uwf."""
    return shlex.join(install_command((distribution,), method or install_method()))


def not_installed(what: str, requirement: str) -> PluginError:
    """The error of something that needs a distribution, or an extra of one, that is not there."""
    return PluginError(
        f"{what} needs {requirement}, which is not installed",
        hint=f"next: {install_line(requirement)}",
    )


def repair_line(distribution: str, method: InstallMethod | None = None) -> str:
    """The shell command that upgrades `distribution` to its newest compatible version."""
    method = method or install_method()
    if method.tool == "uv-tool":
        return shlex.join(("uv", "tool", "upgrade", method.package.name))
    return shlex.join(install_command((distribution,), method, upgrade=True))


def fit_line(distribution: str, method: InstallMethod | None = None) -> str:
    """The shell command that upgrades uwf and `distribution` to compatible versions."""
    method = method or install_method()
    if method.tool == "pipx":
        return shlex.join(("pipx", "upgrade", "--include-injected", method.package.name))
    if method.tool == "uv-tool":
        return repair_line(distribution, method)
    return shlex.join(install_command((CORE, distribution), method, upgrade=True))


def _pip(method: InstallMethod, verb: str) -> Command:
    if method.tool == "pip":
        return (method.python, "-m", "pip", verb)
    return ("uv", "pip", verb, "--python", method.python)


def _uv_tool(method: InstallMethod, beside: Iterable[Required], upgrade: bool) -> Command:
    package = method.package
    return (
        *("uv", "tool", "install"),
        *(("--upgrade",) if upgrade else ()),
        *(("--editable",) if package.editable else ()),
        package.requirement,
        *(
            word
            for each in beside
            for word in ("--with-editable" if each.editable else "--with", each.requirement)
        ),
    )


def _without(method: InstallMethod, names: Iterable[str]) -> list[Required]:
    """What a tool installed beside the package, without these names."""
    gone = set(map(normalised, names))
    return [each for each in method.beside if normalised(each.name) not in gone]


def _name_of(requirement: str) -> str:
    """The name in a requirement or of a wheel file; of a folder or URL, the text itself."""
    if requirement.endswith(".whl"):
        return Path(requirement).name.partition("-")[0]
    end = next((at for at, each in enumerate(requirement) if each in "[<>=!~;@ "), None)
    return requirement[:end]


def _receipt(file: Path) -> list[Required]:
    """The requirements in a receipt of `uv tool install`: the tool, then the packages with it."""
    import tomllib

    try:
        requirements = tomllib.loads(file.read_text("utf-8"))["tool"]["requirements"]
        return [_required(each) for each in requirements]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # another version of uv
        return []


def _required(entry: Mapping[str, Any]) -> Required:
    """`{name, extras?, marker?}` with `specifier`, `path`, `directory`, `editable`, `url` or `git`,
    as on a command line.
    """
    name = str(entry["name"])
    if folder := entry.get("editable"):
        return Required(name, str(folder), editable=True)
    extras = ",".join(map(str, entry.get("extras", ())))
    place = _place(entry)
    text = f"{name}[{extras}]" if extras else name
    text += f" @ {place}" if place else entry.get("specifier", "")
    return Required(name, f"{text} ; {entry['marker']}" if entry.get("marker") else text)


def _place(entry: Mapping[str, Any]) -> str | None:
    """The URL of a requirement that is not from an index."""
    if file := entry.get("path") or entry.get("directory"):
        return Path(file).as_uri()
    if "git" in entry:
        return _git_url(entry["git"])
    return entry.get("url")


def _git_url(url: str) -> str:
    """The URL as in a requirement; uv writes `?rev=REF&subdirectory=FOLDER#COMMIT`."""
    from urllib.parse import parse_qsl, urlsplit

    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    ref = next((query[key] for key in ("rev", "tag", "branch") if key in query), None)
    folder = query.get("subdirectory")
    plain = parts._replace(query="", fragment="").geturl()
    return (
        f"git+{plain}{'' if ref is None else f'@{ref}'}"
        f"{'' if folder is None else f'#subdirectory={folder}'}"
    )
