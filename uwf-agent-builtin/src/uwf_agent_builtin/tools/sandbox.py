"""Run commands under bubblewrap: they see the system read-only, write only the workspace, and reach
neither the home nor the network.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from uwf_core.api import Call, Unavailable

_PROGRAM = "bwrap"
_HINT = "install bubblewrap (apt install bubblewrap), or choose another allowShell"
_HIDDEN = ("/home", "/root", "/run", "/tmp", "/var/tmp")
_HIDDEN_VARIABLES = ("HOME", "UWF_HOME")
_SETTINGS = (
    *(".workflow", ".workflows", ".mcp.json", ".claude", ".agents", "AGENTS.md", ".uwf"),
    *(".git/config", ".git/hooks", ".envrc", ".vscode", ".idea", ".husky", ".gitmodules"),
)
"""What others obey at the top of the workspace: read-only, where it exists."""


def sandbox_of(root: str, env: Mapping[str, str], reads: Iterable[str]) -> tuple[str, ...]:
    """The beginning of a command line that runs the rest in a sandbox.

    Args:
        root: the workspace, without links.
        env: the environment of the agent; its HOME and UWF_HOME are hidden.
        reads: paths that are visible all the same, read-only, such as that of a tool in the home.
    """
    given = (*_HIDDEN, *(env.get(name) or "/" for name in _HIDDEN_VARIABLES))
    hidden = sorted({os.path.realpath(each) for each in given} - {"/"})
    return (
        *(_PROGRAM, "--die-with-parent", "--new-session", "--unshare-all", "--ro-bind", "/", "/"),
        *("--dev", "/dev", "--proc", "/proc"),
        *(word for each in hidden if Path(each).is_dir() for word in ("--tmpfs", each)),
        *(word for each in reads for word in _readable(str(Path(each).expanduser().resolve()))),
        *("--bind", root, root),
        # Of a workspace that is the home itself, at least that of uwf is hidden.
        *(word for each in hidden if each.startswith(f"{root}/") for word in ("--tmpfs", each)),
        *_protected(Path(root)),
        *("--chdir", root),
    )


def probe(call: Call, sandbox: tuple[str, ...]) -> None:
    """Run a command in the sandbox that shows whether it is one.

    Raises:
        Unavailable: bubblewrap is missing, does not work here, or does not confine.
    """
    # In a process namespace of its own a shell has one of the first numbers.
    try:
        result = call.run_program([*sandbox, "/bin/sh", "-c", "echo $$"])
    except Unavailable as missing:
        raise Unavailable("bubblewrap is not installed: no program bwrap", hint=_HINT) from missing
    said = result.stdout.decode("utf-8", "replace").strip()
    if result.exit_code != 0:
        reason = result.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise Unavailable(f"bubblewrap does not work here: {reason[:300]}", hint=_HINT)
    if not said.isdecimal() or int(said) > 9:
        raise Unavailable("the program bwrap does not confine what it runs", hint=_HINT)


def _readable(path: str) -> tuple[str, ...]:
    return "--ro-bind-try", path, path


def _protected(root: Path) -> Iterator[str]:
    for name in _SETTINGS:
        path = root / name
        if path.exists() and not path.is_symlink():
            yield from ("--ro-bind", str(path), str(path))
    if (root / ".env").is_file():
        yield from ("--ro-bind", "/dev/null", str(root / ".env"))
