"""Redact secrets from stderr and the log."""

from typing import Any

from uwf_core.cli.session import Session


def redacted(session: Session, value: Any) -> Any:
    """Replace every known secret, and what looks like one, in all texts of `value`.

    If the configuration cannot be read, only what looks like a secret is replaced.
    """
    if isinstance(value, str):
        return _redact(session, value)
    if isinstance(value, dict):
        return {key: redacted(session, each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(session, each) for each in value]
    return value


def _redact(session: Session, text: str) -> str:
    from uwf_core.agents.secrets import guess

    if session.opened is not None:
        try:
            text = session.opened.redactor.text(text)
        except Exception:
            # The settings cannot be read, and an error is being printed already: use patterns only.
            return guess(text)
    return guess(text)
