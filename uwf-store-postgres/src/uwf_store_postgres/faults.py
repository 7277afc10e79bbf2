"""Errors of PostgreSQL and of the connection as errors of uwf, without a password."""

import re
from typing import NamedTuple

import psycopg

from uwf_core.api import BusyError, CorruptNodeError, StoreError, UwfError

_PASSWORD = re.compile(r"(?i)((?:ssl)?password\s*[=:]\s*)(?:'[^']*'|\S+)|(://[^:/@\s]*:)[^@\s]*@")


class _Kind(NamedTuple):
    error: type[UwfError]
    message: str
    hint: str


_AGAIN = "repeat it; what was reported as stored is safe"
_GRANT = "ask the owner of the schema for the rights that docs/guides/postgresql.md lists"
_MIGRATE = "next: uwf store migrate (with a role that may create the schema)"

# By SQLSTATE, the longest beginning first.
_KINDS = {
    "08": _Kind(StoreError, "the connection to the database broke", _AGAIN),
    "28": _Kind(StoreError, "the database rejects the login", "check the user and the password"),
    "3D000": _Kind(StoreError, "the database does not exist", "check its name, or create it"),
    "3F000": _Kind(StoreError, "the database has no store of uwf", _MIGRATE),
    "42P01": _Kind(StoreError, "the database has no store of uwf", _MIGRATE),
    "42883": _Kind(StoreError, "the schema of the store is not complete", _MIGRATE),
    "42501": _Kind(StoreError, "the role lacks a right in the database", _GRANT),
    "25006": _Kind(
        StoreError, "the database is read-only", "connect to the primary server, not to a standby"
    ),
    "22": _Kind(StoreError, "PostgreSQL cannot store one of the texts", "remove U+0000 from it"),
    "23514": _Kind(StoreError, "a node is larger than 64 MB", "keep it in a file instead"),
    "40": _Kind(BusyError, "other processes wrote the same rows", _AGAIN),
    "53100": _Kind(
        StoreError,
        "the disk of the database is full; nothing was stored",
        "free disk space and repeat; all stored data is safe",
    ),
    "53300": _Kind(
        StoreError,
        "the database has no connection left",
        "raise max_connections, or use a pooler with `?pooler=transaction`",
    ),
    "54": _Kind(StoreError, "a name or node is too large for PostgreSQL", "make it shorter"),
    "55P03": _Kind(BusyError, "another process is writing to the store", "wait for it to finish"),
    "57014": _Kind(BusyError, "the database ended a statement that took too long", _AGAIN),
    "57P": _Kind(StoreError, "the database is being stopped or started", _AGAIN),
    "UW003": _Kind(
        BusyError,
        "this store was moved",
        "the configuration names the new one; `uwf store check` prints which is used",
    ),
    "XX001": _Kind(CorruptNodeError, "the database is damaged", "restore it from a copy"),
    "XX002": _Kind(CorruptNodeError, "the database is damaged", "restore it from a copy"),
}
_UNREACHABLE = _Kind(
    StoreError, "cannot reach the database", "check that it runs, its address, and TLS (sslmode)"
)

# What libpq says of TLS has no SQLSTATE; by the text in it.
_TLS = {
    "does not match host name": _Kind(
        StoreError,
        "the certificate of the database is for another host",
        "write the host as the certificate names it, or give the server one for this name",
    ),
    "certificate verify failed": _Kind(
        StoreError,
        "the certificate of the database is not signed by an authority that you trust",
        "name the file of its authority: add `?sslrootcert=FILE` to the URL, or copy it to "
        "~/.postgresql/root.crt",
    ),
    "root certificate file": _Kind(
        StoreError,
        "the file with the authority of the database's certificate is missing",
        "correct `sslrootcert` in the URL",
    ),
    "does not support SSL": _Kind(
        StoreError,
        "the database offers no TLS, which uwf expects of another machine",
        "turn on `ssl` in postgresql.conf; only in a network that you trust add `?sslmode=disable`",
    ),
}
_OTHER = _Kind(StoreError, "the database failed", "next: uwf store check")


def masked(text: str) -> str:
    """A text without what looks like a password in it."""
    return _PASSWORD.sub(
        lambda found: f"{found[1] or found[2]}***" + ("@" if found[2] else ""), text
    )


def translated(error: Exception, place: str) -> UwfError:
    """The error of uwf for one of psycopg, or for a text that is not Unicode."""
    if isinstance(error, UnicodeEncodeError):
        hint = "remove the lone surrogates from it"
        return StoreError("a text for the store is not Unicode", where=place, hint=hint)
    state = getattr(error, "sqlstate", None) or ""
    kind = next((_KINDS[state[:size]] for size in (5, 3, 2) if state[:size] in _KINDS), None)
    if kind is None:
        kind = _without_state(error)
    diagnostics = getattr(error, "diag", None)
    text = (diagnostics and diagnostics.message_primary) or str(error)
    line = " ".join(masked(text).split())
    return kind.error(f"{kind.message} ({line[:500]})", where=place, hint=kind.hint)


def _without_state(error: Exception) -> _Kind:
    if not isinstance(error, psycopg.OperationalError):
        return _OTHER
    found = (kind for words, kind in _TLS.items() if words in str(error))
    return next(found, _UNREACHABLE)
