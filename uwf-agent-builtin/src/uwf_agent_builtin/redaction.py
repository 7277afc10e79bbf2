"""Secrets out of whatever the model is told and the transcript keeps. Pure."""

import base64
import json
import re
from collections.abc import Collection, Mapping
from urllib.parse import quote

from uwf_core.api import is_secret_name, secrets_of_environment

REDACTED = "[redacted]"
_SHORTEST = 8
_KEPT = frozenset(("UWF_ATTEMPT",))
_DROPPED = frozenset(("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO"))
"""They hold no secret and give the use of one."""
_PASSWORD_IN_ADDRESS = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_QUIET = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
    "NO_COLOR": "1",
}


class Redaction:
    """Takes known secrets out, plain and in their JSON, URL and base64 forms."""

    def __init__(self, secrets: Collection[str]) -> None:
        forms = {form for each in secrets if len(each) >= _SHORTEST for form in _forms(each)}
        self._forms = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """`text` without them."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return text


def secrets_of(env: Mapping[str, str], key: str | None) -> set[str]:
    """The secrets of an environment, and the key of the model."""
    return secrets_of_environment(env) | ({key} if key else set())


def cleaned(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of what tools start: without secrets and what is uwf's own, made for programs
    that nobody watches.
    """
    kept = {
        name: value for name, value in env.items() if name in _KEPT or not _is_dropped(name, value)
    }
    return {**kept, **_QUIET}


def _is_dropped(name: str, value: str) -> bool:
    if name.startswith("UWF_") or name in _DROPPED or is_secret_name(name, value):
        return True
    return _PASSWORD_IN_ADDRESS.search(value) is not None


def _forms(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogateescape")
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe="", errors="surrogateescape"),
        base64.b64encode(data).decode().rstrip("="),
        base64.urlsafe_b64encode(data).decode().rstrip("="),
    }
