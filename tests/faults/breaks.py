"""Ways to break uwf, to see that the experiments notice: `--break NAME`.

Who adds an experiment adds the break that it must find.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Break(NamedTuple):
    """What is broken, a word of the row that must notice, and how much of it that takes."""

    row: str
    apply: Callable[[], None]
    share: float = 0.001


def _never_wait() -> None:
    """Steps are told before they are on the disk."""
    from uwf_core.stores.sqlite import SqliteBackend

    right = SqliteBackend._writer
    SqliteBackend._writer = lambda self, durable: right(self, False)  # type: ignore[method-assign]


def _no_recovery() -> None:
    """What a dead run left behind is left there."""
    from uwf_core.engine import run

    run.recover = lambda engine, head, watch: head  # type: ignore[attr-defined]


def _no_checks() -> None:
    """Nodes are believed as they are read."""
    from uwf_core.cas import store

    store.verify_record = lambda record, ref: None  # type: ignore[attr-defined]


def _no_redaction() -> None:
    """Secrets stay where they are said."""
    from uwf_core.agents.redact import Redactor

    Redactor.forms = property(lambda self: ())  # type: ignore[assignment]


def _no_lock() -> None:
    """Everybody who asks for a lock gets it."""
    from uwf_core.stores.locks import LockFile

    LockFile.take = lambda self, offset: True  # type: ignore[method-assign]


def _open_files() -> None:
    """Folders are open to everybody."""
    import os
    from pathlib import Path

    from uwf_core.process import private

    private.os = _Module(os, mkdir=lambda path, _mode: Path(path).mkdir(0o755))  # type: ignore


def _render_twice() -> None:
    """What a template gives is a template again."""
    from uwf_core.workflow import template

    right = template.render

    def render(text: str, data: Mapping[str, Any]) -> str:
        return right(right(text, data), data)

    template.render = render


class _Module:
    """A module in which some names mean something else."""

    def __init__(self, right: Any, **others: Any) -> None:
        self.__dict__ |= {**vars(right), **others}


BREAKS = {
    "never wait for the disk": Break("power cuts", _never_wait),
    "no recovery": Break("crash points", _no_recovery),
    "no checks": Break("flipped bits", _no_checks, share=0.2),
    "no redaction": Break("secrets", _no_redaction),
    "no lock": Break("writers", _no_lock),
    "open files": Break("templates", _open_files),
    "render twice": Break("templates", _render_twice),
}
