"""The secrets of a call, and the environment of tools without them. Pure."""

import re
from collections.abc import Mapping

from uwf_core.api import is_secret_name, secrets_of_environment

_KEPT = frozenset(("UWF_ATTEMPT",))
_DROPPED = frozenset(("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO"))
"""They hold no secret but allow to use one."""
_PASSWORD_IN_ADDRESS = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_QUIET = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
    "NO_COLOR": "1",
}


def secrets_of(env: Mapping[str, str], key: str | None) -> set[str]:
    """The secrets of an environment, and the key of the model."""
    return secrets_of_environment(env) | ({key} if key else set())


def cleaned(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of programs that tools start: without secrets and uwf's own variables, with
    settings for programs without a user.
    """
    kept = {
        name: value for name, value in env.items() if name in _KEPT or not _is_dropped(name, value)
    }
    return {**kept, **_QUIET}


def _is_dropped(name: str, value: str) -> bool:
    if name.startswith("UWF_") or name in _DROPPED or is_secret_name(name, value):
        return True
    return _PASSWORD_IN_ADDRESS.search(value) is not None
