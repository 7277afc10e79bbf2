"""The URL of a store: which server and database, and how to use it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from uwf_core.api import StoreError

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,47}")
_LOCAL = re.compile(r"(/|@).*|localhost|127(\.\d+){3}|::1|")
_HINT = "write `postgresql://USER@HOST:PORT/DATABASE`, with the password in PGPASSWORD or ~/.pgpass"

_DEFAULTS = {
    "application_name": "uwf", "client_encoding": "UTF8", "connect_timeout": "10",
    "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}  # fmt: skip
"""Parameters of libpq that notice a lost connection within 20 to 30 seconds."""


class Place(NamedTuple):
    """A store on a server.

    Attributes:
        conninfo: what libpq gets, password included.
        shown: the URL without its password, for people.
        schema: of the tables; another one is another store.
        pooled: whether a pooler gives each transaction another connection.
        lease_seconds: how long a lease lasts without renewal.
        touch_ms: how much older than the last put its stored time may be.
    """

    conninfo: str
    shown: str
    schema: str
    pooled: bool
    lease_seconds: float
    touch_ms: int

    def __repr__(self) -> str:
        return f"Place({self.shown})"


def place_of(url: str) -> Place:
    """The place that a URL names.

    Raises:
        StoreError: it is not a URL of this store; the message has no password.
    """
    base, _, query = url.partition("?")
    given = dict(parse_qsl(query.partition("#")[0], keep_blank_values=True))
    own = {name: given.pop(name, None) for name in ("schema", "pooler", "lease", "touch")}
    try:
        known: dict[str, str] = {
            name: str(value)
            for name, value in conninfo_to_dict(_joined(base, given)).items()
            if value is not None
        }
        if "\0" in url or not all(each.isdigit() for each in _ports(known)):
            raise ValueError("a port is a number")
    except (ProgrammingError, ValueError):
        # Neither the cause nor its text goes on: both may quote a part of the password.
        raise StoreError("the URL of the store is not one of PostgreSQL", hint=_HINT) from None
    schema = own["schema"] or "uwf"
    shown = _shown(known, schema)
    if not _SCHEMA.fullmatch(schema):
        raise StoreError(
            f"{schema!r} is not a schema for the store",
            where=shown,
            hint="use lower case letters, digits and `_`, at most 48",
        )
    if own["pooler"] not in (None, "transaction", "session"):
        hint = "write `?pooler=transaction`, or leave it out"
        raise StoreError(f"unknown pooler {own['pooler']!r}", where=shown, hint=hint)
    return Place(
        conninfo=make_conninfo(**{**_DEFAULTS, **_tls(known), **known}),
        shown=shown,
        schema=schema,
        pooled=own["pooler"] == "transaction",
        lease_seconds=_seconds("lease", own["lease"], 30, shown, least=1),
        touch_ms=int(_seconds("touch", own["touch"], 3600, shown, least=0) * 1000),
    )


def _ports(known: Mapping[str, str]) -> list[str]:
    return [each for each in known.get("port", "").split(",") if each]


def _joined(base: str, given: Mapping[str, str]) -> str:
    return f"{base}?{urlencode(given, quote_via=quote)}" if given else base


def _tls(known: Mapping[str, str]) -> dict[str, str]:
    """Verify the server unless it is on this machine or the user has chosen something else."""
    hosts = (known.get("host") or os.environ.get("PGHOST", "")).split(",")
    addresses = known.get("hostaddr", "").split(",")
    is_local = all(_LOCAL.fullmatch(each) for each in (*hosts, *addresses))
    if is_local or "sslmode" in known or "PGSSLMODE" in os.environ or "service" in known:
        return {}
    own = Path("~/.postgresql/root.crt").expanduser()
    has_root = "sslrootcert" in known or "PGSSLROOTCERT" in os.environ or own.exists()
    return {"sslmode": "verify-full", **({} if has_root else {"sslrootcert": "system"})}


def _shown(known: Mapping[str, str], schema: str) -> str:
    user = f"{quote(known['user'])}@" if "user" in known else ""
    hosts, ports = known.get("host", "").split(","), known.get("port", "").split(",")
    pairs = zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=False)
    place = ",".join(f"{quote(host, safe=':')}{port and f':{port}'}" for host, port in pairs)
    more = "" if schema == "uwf" else f"?schema={quote(schema)}"
    return f"postgresql://{user}{place}/{quote(known.get('dbname', ''))}{more}"


def _seconds(name: str, text: str | None, usual: float, shown: str, *, least: float) -> float:
    if text is None:
        return usual
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not least <= seconds <= 86_400:
        hint = f"write seconds from {least:g} to 86400, such as `?{name}={usual:g}`"
        raise StoreError(f"{name}={text!r} is not a number of seconds", where=shown, hint=hint)
    return seconds
