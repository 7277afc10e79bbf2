"""Secrets taken out of what goes to stderr and into the log."""

from typing import Any

from uwf_core.cli.session import Session


def redacted(session: Session, value: Any) -> Any:
    """`value` with every known secret, and what looks like one, replaced in all of its texts.

    Where the configuration cannot be read, only what looks like a secret is known.
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
            # The settings cannot be read, and an error is being told already: shapes must do.
            return guess(text)
    return guess(text)
