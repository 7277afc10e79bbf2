"""Run the installer that owns this environment, and compare the plugins before and after."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from uwf_core.errors import InstallError, Unavailable, UsageError
from uwf_core.plugins.repair import Command, InstallMethod, install_method
from uwf_core.plugins.scan import CORE, normalised

Documents = Sequence[Mapping[str, Any]]
"""Plugins as `uwf plugin list` prints them."""

_NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(\Z|[\[<>=!~;@(])")
"""The beginning of a requirement by name, as PEP 508 defines it."""
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tar.bz2", ".tar.xz", ".tgz")
_LAST_LINES = 4
_MOST_OUTPUT = 1 << 30


def requirement_of(word: str, folder: str) -> str:
    """A requirement of the command line; a path becomes absolute, since the installer runs in `/`,
    where no file of the current folder configures it.

    Raises:
        UsageError: it is blank, would be an option of the installer, or is the name of a plugin,
            by which an index may have something else.
    """
    from uwf_core.plugins.plugins import adapter_of

    requirement = word.strip()
    if not requirement or requirement.startswith("-"):
        raise UsageError(
            f"{word!r} is not a requirement",
            hint="give a name, name==1.2, name[extra], a path (./plugin.whl) or a URL",
        )
    if (adapter := adapter_of(requirement)) is not None:
        raise UsageError(
            f"{requirement!r} is a plugin of the distribution {adapter}",
            hint=f"next: uwf plugin install {adapter}",
        )
    path = os.path.normpath(os.path.join(folder, requirement))  # noqa: PTH118
    is_archive = requirement.endswith(_ARCHIVES) and os.path.isfile(path)  # noqa: PTH113
    is_path = is_archive or not ("://" in requirement or _NAMED.match(requirement))
    return path if is_path else requirement


def known_method() -> InstallMethod:
    """How uwf was installed.

    Raises:
        InstallError: it is not known what `uv tool` installed; its next command would remove that.
    """
    method = install_method()
    if method.unreadable is not None:
        raise InstallError(
            "cannot read what `uv tool` installed beside uwf",
            where=method.unreadable,
            hint="run `uv tool install` yourself, with all packages: "
            f"uv tool install {CORE} --with PACKAGE",
        )
    return method


def check_removable(distribution: str, method: InstallMethod) -> None:
    """Refuse to uninstall uwf itself.

    Raises:
        UsageError: it is uwf-core, or the package that a tool made this environment for.
    """
    name, package = normalised(distribution), normalised(method.package.name)
    if name == CORE:
        raise UsageError(
            f"{CORE} cannot be uninstalled: it is uwf itself",
            hint="to switch off one of its plugins: uwf plugin block NAME",
        )
    if name == package and method.tool in ("pipx", "uv-tool"):
        tool = method.tool.replace("-", " ")
        raise UsageError(
            f"{distribution} cannot be uninstalled alone: {tool} made this environment for it",
            hint=f"to remove all of uwf: {tool} uninstall {distribution}",
        )


def run_installer(command: Command, env: Mapping[str, str], on_line: Callable[[str], None]) -> None:
    """Run the command and give each line that it prints to `on_line`. An interrupt ends it.

    Raises:
        InstallError: the program is missing, or it failed.
    """
    import sysconfig
    from signal import SIGINT

    from uwf_core.process.program import End, ProcessLimits, Program, run_program

    last: list[str] = []

    def take(line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip()
        on_line(text)
        if text.strip():
            last[:] = [*last, text.strip()][-_LAST_LINES:]

    # Ctrl-C is what installers clean up after.
    program = Program(argv=command, cwd="/", env=env, first_signal=SIGINT, one_stream=True)
    limits = ProcessLimits(total_seconds=None, grace_seconds=20.0, output_bytes=_MOST_OUTPUT)
    try:
        result = run_program(program, limits, on_line=take)
    except Unavailable as error:
        raise InstallError(error.message, where=shlex.join(command), hint=error.hint) from error
    if result.end is End.EXITED and result.exit_code == 0:
        return
    paths = sysconfig.get_paths()
    program_name = "pip" if command[1:3] == ("-m", "pip") else command[0]
    raise InstallError(
        "\n  ".join((f"{program_name} failed with exit code {result.exit_code}", *last)),
        where=shlex.join(command),
        hint=environment_hint(
            paths["purelib"], paths["stdlib"], is_base=sys.prefix == sys.base_prefix
        )
        or "check what you asked for, and that the package index can be reached",
    )


def environment_hint(packages: str, library: str, *, is_base: bool) -> str | None:
    """Why the environment cannot be changed, and what to do; None if it can.

    Args:
        packages: its folder of packages. library: the folder of the standard library.
        is_base: it is a Python itself, not an environment of one.
    """
    managed = os.path.join(library, "EXTERNALLY-MANAGED")  # noqa: PTH118
    if is_base and os.path.exists(managed):  # noqa: PTH110
        return (
            f"the system manages this Python ({managed}, PEP 668); install uwf into a separate "
            f"environment: pipx install {CORE}, or uv tool install {CORE}"
        )
    if not os.access(packages, os.W_OK):
        return f"you cannot write {packages}; run the command as the owner of this folder"
    return None


def plugins_now(env: Mapping[str, str], cwd: str) -> Documents:
    """The plugins, listed by a new process: the installer may have replaced our own modules.

    Raises:
        InstallError: the new process fails.
    """
    from uwf_core.process.own_python import own_python
    from uwf_core.process.program import ProcessLimits, Program, run_program

    words = ("plugin", "list", "--all", "--format", "json")
    program = Program(argv=own_python("uwf_core", *words), cwd=cwd, env=env)
    result = run_program(program, ProcessLimits(total_seconds=60.0))
    try:
        plugins: Documents = json.loads(result.stdout)["plugins"]
    except (ValueError, KeyError) as error:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InstallError(
            f"installed, but uwf does not start: {lines[-1] if lines else 'it printed nothing'}",
            where=shlex.join(program.argv),
            hint="uninstall what you installed, or reinstall uwf",
        ) from error
    return plugins


def plugin_changes(before: Documents, after: Documents) -> list[dict[str, Any]]:
    """The plugins that differ, each with `change`: added, removed or changed; a removed one as it
    was before.
    """
    old = {_key(each): each for each in before}
    new = {_key(each): each for each in after}
    return [
        {"change": "added" if key not in old else "removed" if key not in new else "changed"}
        | dict(new.get(key) or old[key])
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]


def _key(plugin: Mapping[str, Any]) -> tuple[str, str, str]:
    return plugin["group"], plugin["name"], plugin["distribution"]
