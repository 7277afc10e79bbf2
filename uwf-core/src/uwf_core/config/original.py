"""Traces of the original uwf (TypeScript, on ocas), which has the same folder `~/.uwf`."""

# Commands come through here before there is a store, and pathlib is not imported for that:
# ruff: noqa: PTH110, PTH113, PTH118

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from uwf_core.api.store import StoreBackend
    from uwf_core.yaml.problem import Problem

_NOTICED: Final = "original.noticed"
_STORES: Final = (".ocas/vars/_store.db", ".ocas/_store.db")
_IN_HOME: Final = ("cas", "threads.yaml", "workflows.yaml", "history.jsonl")
_AGENT_KEYS: Final = ("host", "gateway")


LOG_HINT: Final = "copy it beside the store; if it is lost, next: uwf store migrate"


def store_notices(
    home: str, env: Mapping[str, str], backend: "StoreBackend", *, new: bool
) -> Iterator[str]:
    """What a user should know when a store is opened: data of the original uwf, once, for a person
    who may be `new` and has none here yet; a log that is missing.
    """
    is_empty = not os.path.exists(os.path.join(home, "store.db"))
    if new and is_empty and (notice := first_notice(home, env)) is not None:
        yield notice
    find = getattr(backend, "log_fault", None)  # of SQLite alone
    if find is not None and (fault := find()) is not None:
        yield f"{backend.location()}: {fault}; {LOG_HINT}"


def first_notice(home: str, env: Mapping[str, str]) -> str | None:
    """A notice of the original's data beside this uwf's; None without these, or if it was given.

    Args:
        home: the folder of this uwf. env: the environment, for the user's folder.
    """
    user = env.get("HOME", "")
    has_names = any(os.path.isfile(os.path.join(user, name)) for name in _STORES)
    place = user if has_names else None
    if place is None and any(os.path.lexists(os.path.join(home, name)) for name in _IN_HOME):
        place = home
    if place is None or not _first_time(home):
        return None
    from shlex import quote

    return f"found threads of the original uwf; next: uwf cas import {quote(place)}"


def _first_time(home: str) -> bool:
    """Whether the notice was not given yet; it is given each time where that cannot be recorded."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        os.close(os.open(os.path.join(home, _NOTICED), flags, 0o600))
    except FileExistsError:
        return False
    except OSError:  # the folder does not exist yet, or cannot be written
        return True
    return True


def hinted(problem: "Problem") -> "Problem":
    """A problem of a settings file, with a hint if the file is one of the original."""
    start = problem.message
    if not any(start.startswith(f"unknown key {key!r} in agents.") for key in _AGENT_KEYS):
        return problem
    return problem._replace(
        hint="this file is of the original uwf, which reaches agents over HTTP: move it away and "
        "run `uwf setup`, or set UWF_HOME; `uwf cas import ~` imports the threads"
    )
