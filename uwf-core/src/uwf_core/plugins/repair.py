"""The command that installs or repairs a distribution in the way this uwf was installed.

pip, pipx and `uv tool` each have their own; a second `uv tool install --with` drops what the
first one had, so there every earlier `--with` is named again.
"""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.plugins.scan import CORE, normalised

UV_RECEIPT = "uv-receipt.toml"


class InstallMethod(NamedTuple):
    """How uwf was installed: `tool` is pip, uv (no pip inside), pipx or uv-tool.

    `package` is the distribution that a tool was installed for, `beside` the ones with it, each
    with its extras (`uwf-core[llm]`).
    """

    tool: str
    python: str
    package: str = CORE
    beside: tuple[str, ...] = ()


def install_method(
    prefix: str = sys.prefix, python: str = sys.executable, path: Sequence[str] | None = None
) -> InstallMethod:
    """Detect the tool that created `prefix` (the folder of an environment)."""
    receipt = Path(prefix, UV_RECEIPT)
    if receipt.is_file():
        package, *beside = _receipt(receipt) or [CORE]
        return InstallMethod("uv-tool", python, package, tuple(beside))
    if Path(prefix, "pipx_metadata.json").is_file():
        return InstallMethod("pipx", python, Path(prefix).name)
    has_pip = any(Path(entry, "pip").is_dir() for entry in (sys.path if path is None else path))
    return InstallMethod("pip" if has_pip else "uv", python)


def install_line(distribution: str, method: InstallMethod | None = None) -> str:
    """The shell command that installs `distribution` with uwf."""
    method = method or install_method()
    if method.tool == "uv-tool":
        others = [
            each for each in method.beside if normalised(_name_of(each)) != normalised(distribution)
        ]
        return _line("uv tool install", method.package, *_with([*others, distribution]))
    if method.tool == "pipx":
        return _line("pipx inject", method.package, distribution)
    return _line(_pip_install(method), distribution)


def repair_line(distribution: str, method: InstallMethod | None = None) -> str:
    """The shell command that upgrades `distribution` to its newest compatible version."""
    method = method or install_method()
    if method.tool == "uv-tool":
        return _line("uv tool upgrade", _name_of(method.package))
    if method.tool == "pipx":
        return _line("pipx inject --force", method.package, distribution)
    return _line(_pip_install(method), "--upgrade", distribution)


def fit_line(distribution: str, method: InstallMethod | None = None) -> str:
    """The shell command that upgrades uwf and `distribution` to compatible versions."""
    method = method or install_method()
    if method.tool == "uv-tool":
        return _line("uv tool upgrade", _name_of(method.package))
    if method.tool == "pipx":
        return _line("pipx upgrade --include-injected", method.package)
    return _line(_pip_install(method), "--upgrade", CORE, distribution)


def _name_of(requirement: str) -> str:
    return requirement.partition("[")[0]


def _pip_install(method: InstallMethod) -> str:
    python = shlex.quote(method.python)
    if method.tool == "pip":
        return f"{python} -m pip install"
    return f"uv pip install --python {python}"


def _with(distributions: Sequence[str]) -> list[str]:
    return [word for each in distributions for word in ("--with", each)]


def _line(command: str, *arguments: str) -> str:
    return " ".join((command, *(shlex.quote(argument) for argument in arguments)))


def _receipt(file: Path) -> list[str]:
    """The names in a receipt of `uv tool install`: the tool, then the packages with it."""
    import tomllib

    try:
        requirements = tomllib.loads(file.read_text("utf-8"))["tool"]["requirements"]
        return [_requirement(each) for each in requirements]
    except (OSError, ValueError, KeyError, TypeError):  # the format of another version of uv
        return []


def _requirement(entry: Mapping[str, Any]) -> str:
    """`{name, extras?}` as on a command line."""
    extras = ",".join(map(str, entry.get("extras", ())))
    return f"{entry['name']}[{extras}]" if extras else str(entry["name"])
