"""The tables of the queue, in the schema of the store. Its table of migrations records that they
were made.
"""

from contextlib import closing

import psycopg

from uwf_core.api import StoreError
from uwf_store_postgres.faults import translated
from uwf_store_postgres.place import Place
from uwf_store_postgres.schema import LOCK_CLASS

_VERSIONS = "SELECT max(version) FROM {s}.migration WHERE component = 'queue'"
_RECORD = "INSERT INTO {s}.migration VALUES ('queue', %s, 0)"
_VERSION = 1
"""That of the tables of Procrastinate 3.10."""


def migrate_queue(place: Place) -> list[str]:
    """Create the tables of the queue; what was applied.

    Raises:
        StoreError: the store has no tables yet, or the role lacks a right.
    """
    try:
        with closing(psycopg.connect(place.conninfo, autocommit=True)) as connection:
            if _version(connection, place) is not None:
                return []
            from procrastinate.schema import SchemaManager

            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s, 0)", (LOCK_CLASS,))
                if _version(connection, place) is not None:
                    return []
                connection.execute(f"SET LOCAL search_path TO {place.schema}")
                connection.execute(SchemaManager.get_schema())
                connection.execute(_RECORD.replace("{s}", place.schema), (_VERSION,))
    except psycopg.Error as error:
        raise translated(error, place.shown) from error
    return [f"queue {_VERSION}"]


def check_queue(place: Place) -> None:
    """Check that the tables of the queue are those that this program knows.

    Raises:
        StoreError: they are not.
    """
    try:
        with closing(psycopg.connect(place.conninfo, autocommit=True)) as connection:
            version = _version(connection, place)
    except psycopg.Error as error:
        raise translated(error, place.shown) from error
    if version is None:
        raise StoreError(
            "the store has no tables for the queue of workers",
            where=place.shown,
            hint="next: uwf worker migrate (with a role that may create tables)",
        )
    if version > _VERSION:
        raise StoreError(
            f"the tables of the queue were made by a newer uwf-worker (version {version}; this one "
            f"knows {_VERSION})",
            where=place.shown,
            hint="upgrade uwf-worker on this machine",
        )


def _version(connection: "psycopg.Connection[tuple[int | None]]", place: Place) -> int | None:
    """The version of the tables; None: there are none."""
    row = connection.execute(_VERSIONS.replace("{s}", place.schema)).fetchone()
    return None if row is None else row[0]
