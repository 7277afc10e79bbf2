"""The tables of the store: their versions, and how to create and migrate them.

`migration` records what was applied, of the store and of other components of uwf.
"""

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from uwf_core.api import StoreError, StoreVersionError
from uwf_core.api.store import LAYOUT_VERSION
from uwf_store_postgres.place import Place

if TYPE_CHECKING:
    from uwf_store_postgres.session import Connection

COMPONENT = "store"
VERSION = 2
"""The newest version of the tables: there is a file `sql/<number>.sql` for each."""

OLDEST_SERVER = 130000
LOCK_CLASS = 7_698_278
"""The first half of our advisory locks; the second is a hash of the schema."""

_NONE = "the database has no store of uwf in the schema {}"
_MIGRATE = "next: uwf store migrate (with a role that may create the schema)"
_FOUND = "SELECT version, layout FROM {}.migration WHERE component = %s ORDER BY version DESC"

_TABLE = """
CREATE TABLE IF NOT EXISTS {schema}.migration (
    component text NOT NULL,
    version integer NOT NULL,
    layout integer NOT NULL,
    applied timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (component, version)
)"""


SEALED = "UW003"
"""The SQLSTATE of a write to a store that was moved."""

_REFUSE = """
CREATE FUNCTION {schema}.refuse_write() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION 'moved to %', TG_ARGV[0] USING ERRCODE = 'UW003';
END
$body$"""


def checked_version(connection: "Connection", place: Place) -> int:
    """The version of the tables, which this program can at least read.

    Raises:
        StoreError: there are no tables. StoreVersionError: a newer uwf has made them.
    """
    rows = _applied(connection, place)
    if not rows:
        raise StoreError(_NONE.format(place.schema), where=place.shown, hint=_MIGRATE)
    version, layout = rows[0]
    if version > VERSION or layout > LAYOUT_VERSION:
        raise StoreVersionError(
            f"this store was written by a newer uwf (schema {version}, layout {layout}; this one "
            f"knows {VERSION} and {LAYOUT_VERSION})",
            where=place.shown,
            hint="upgrade uwf and uwf-store-postgres on this machine",
        )
    if layout < LAYOUT_VERSION:
        raise StoreVersionError(
            f"this store was written by an older uwf (layout {layout}; this one knows "
            f"{LAYOUT_VERSION})",
            where=place.shown,
            hint="use another schema: add `?schema=NAME` to the URL",
        )
    return int(version)


def _applied(connection: "Connection", place: Place) -> list[Any]:
    """(version, layout) of what was applied, the newest first."""
    try:
        return connection.execute(_FOUND.format(place.schema), (COMPONENT,)).fetchall()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return []


def check_writable(version: int, place: Place) -> None:
    """Check that this program may write to tables of this version.

    Raises:
        StoreVersionError: they must be migrated first.
    """
    if version < VERSION:
        raise StoreVersionError(
            f"the tables of the store are older than this uwf (schema {version}, not {VERSION}), "
            "so it only reads",
            where=place.shown,
            hint=_MIGRATE,
        )


def migrate(connection: "Connection", place: Place) -> list[str]:
    """Create the tables, or bring them to the newest version; what was applied. Others that call
    it at the same time wait.

    Raises:
        StoreError: the server is too old, or its database is not in UTF-8.
        StoreVersionError: a newer uwf has made the tables.
    """
    there = _applied(connection, place)
    if there and checked_version(connection, place) == VERSION:  # needs no right to create
        return []
    _check_server(connection, place)
    name = place.schema
    applied = []
    with connection.transaction():
        # One lock for the schemas of all components: they are migrated one after the other.
        connection.execute("SELECT pg_advisory_xact_lock(%s, 0)", (LOCK_CLASS,))
        exists = connection.execute("SELECT to_regnamespace(%s)", (name,)).fetchone()
        if exists is None or exists[0] is None:  # creating it again needs a right
            connection.execute(f"CREATE SCHEMA {name}")
        connection.execute(_TABLE.replace("{schema}", name))
        there = _applied(connection, place)
        for version in range(1 + (there[0][0] if there else 0), VERSION + 1):
            connection.execute(_sql(version, name))
            connection.execute(
                f"INSERT INTO {name}.migration VALUES (%s, %s, %s)",
                (COMPONENT, version, LAYOUT_VERSION),
            )
            applied.append(f"{COMPONENT} {version}")
    return applied


def seal(connection: "Connection", place: Place, successor: str) -> None:
    """Refuse every later write, by triggers that every open connection obeys."""
    name, text = place.schema, sql.Literal(successor).as_string(connection)
    connection.execute(_REFUSE.replace("{schema}", name))
    for table in ("node", "variable", "lease", "dispatch"):
        connection.execute(
            f"CREATE TRIGGER sealed BEFORE INSERT OR UPDATE OR DELETE ON {name}.{table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}.refuse_write({text})"
        )


def _check_server(connection: "Connection", place: Place) -> None:
    if connection.info.server_version < OLDEST_SERVER:
        raise StoreError(
            f"the server is PostgreSQL {connection.info.server_version // 10000}; 13 is the oldest",
            where=place.shown,
            hint="upgrade the server",
        )
    row = connection.execute("SHOW server_encoding").fetchone()
    encoding = row[0] if row else "unknown"
    if encoding != "UTF8":
        raise StoreError(
            f"the database has the encoding {encoding}, not UTF8",
            where=place.shown,
            hint="create one with: createdb --encoding=UTF8 --template=template0 NAME",
        )


def _sql(version: int, name: str) -> str:
    text = (files("uwf_store_postgres") / "sql" / f"{version}.sql").read_text("utf-8")
    return text.replace("{schema}", name).replace("{lock_class}", str(LOCK_CLASS))
