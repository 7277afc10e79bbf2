"""The tables of the queue, in the schema of the store and recorded in its table of migrations."""

from contextlib import closing

import psycopg

from uwf_core.api import StoreError
from uwf_store_postgres.faults import translated
from uwf_store_postgres.place import Place
from uwf_store_postgres.schema import LOCK_CLASS

COMPONENT, VERSION = "queue", 1
"""Version 1 are the tables of Procrastinate 3.10."""

_APPLIED = "SELECT max(version) FROM {s}.migration WHERE component = %s"


def migrate_queue(place: Place) -> list[str]:
    """Create the tables of the queue; what was applied.

    Raises:
        StoreError: the store has no tables yet, or the role lacks a right.
    """
    from procrastinate.schema import SchemaManager

    try:
        with closing(psycopg.connect(place.conninfo, autocommit=True)) as connection:
            if _applied(connection, place) == VERSION:
                return []
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s, 0)", (LOCK_CLASS,))
                if _applied(connection, place) == VERSION:
                    return []
                connection.execute(f"SET LOCAL search_path TO {place.schema}")
                connection.execute(SchemaManager.get_schema())
                connection.execute(
                    f"INSERT INTO {place.schema}.migration VALUES (%s, %s, 0)", (COMPONENT, VERSION)
                )
    except psycopg.Error as error:
        raise translated(error, place.shown) from error
    return [f"{COMPONENT} {VERSION}"]


def check_queue(place: Place) -> None:
    """Check that the tables of the queue are those that this program knows.

    Raises:
        StoreError: they are not.
    """
    try:
        with closing(psycopg.connect(place.conninfo, autocommit=True)) as connection:
            version = _applied(connection, place)
    except psycopg.Error as error:
        raise translated(error, place.shown) from error
    if version is None or version < VERSION:
        raise StoreError(
            "the store has no tables for the queue of workers",
            where=place.shown,
            hint="next: uwf worker migrate (with a role that may create tables)",
        )
    if version > VERSION:
        raise StoreError(
            f"the tables of the queue were made by a newer uwf-worker (version {version}; this one "
            f"knows {VERSION})",
            where=place.shown,
            hint="upgrade uwf-worker on this machine",
        )


def _applied(connection: "psycopg.Connection[tuple[int | None]]", place: Place) -> int | None:
    row = connection.execute(_APPLIED.replace("{s}", place.schema), (COMPONENT,)).fetchone()
    return None if row is None else row[0]
