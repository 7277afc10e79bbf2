"""The tables of workers, the queue and the schedules, in the schema of the store. Its table of
migrations records what was applied.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Final

import psycopg

from uwf_core.api import StoreError
from uwf_store_postgres.faults import translated
from uwf_store_postgres.place import Place
from uwf_store_postgres.schema import LOCK_CLASS
from uwf_worker.schedules.table import CREATE

_APPLIED = "SELECT component, max(version) FROM {s}.migration GROUP BY component"


def _queue(_schema: str) -> str:
    """The tables of Procrastinate 3.10."""
    from procrastinate.schema import SchemaManager

    return SchemaManager.get_schema()


def _schedule(schema: str) -> str:
    return CREATE.replace("{schema}", schema)


_COMPONENTS: Final[Mapping[str, Callable[[str], str]]] = {"queue": _queue, "schedule": _schedule}
"""What creates the tables of each component, all of version 1."""
_VERSION = 1


def migrate_queue(place: Place) -> list[str]:
    """Create the tables of workers; what was applied.

    Raises:
        StoreError: the store has no tables yet, or the role lacks a right.
    """
    try:
        with closing(psycopg.connect(place.conninfo, autocommit=True)) as connection:
            if not _lacking(connection, place):
                return []
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s, 0)", (LOCK_CLASS,))
                connection.execute(f"SET LOCAL search_path TO {place.schema}")
                lacking = _lacking(connection, place)
                for name in lacking:
                    connection.execute(_COMPONENTS[name](place.schema))
                    connection.execute(
                        f"INSERT INTO {place.schema}.migration VALUES (%s, %s, 0)", (name, _VERSION)
                    )
    except psycopg.Error as error:
        raise translated(error, place.shown) from error
    return [f"{name} {_VERSION}" for name in lacking]


def check_queue(place: Place) -> None:
    """Check that the tables of workers are those that this program knows.

    Raises:
        StoreError: they are not.
    """
    applied = _applied_at(place)
    if lacking := [name for name in _COMPONENTS if name not in applied]:
        raise StoreError(
            f"the store has no tables for the {lacking[0]} of workers",
            where=place.shown,
            hint="next: uwf worker migrate (with a role that may create tables)",
        )
    for name in _COMPONENTS:
        if applied[name] > _VERSION:
            raise StoreError(
                f"the tables of the {name} were made by a newer uwf-worker (version "
                f"{applied[name]}; this one knows {_VERSION})",
                where=place.shown,
                hint="upgrade uwf-worker on this machine",
            )


def has_schedules(place: Place) -> bool:
    """Whether the store has the tables of schedules; without them a worker still runs threads.

    Raises:
        StoreError: it cannot be reached.
    """
    return "schedule" in _applied_at(place)


def _applied_at(place: Place) -> dict[str, int]:
    try:
        with closing(psycopg.connect(place.conninfo, autocommit=True)) as connection:
            return _applied(connection, place)
    except psycopg.Error as error:
        raise translated(error, place.shown) from error


def _lacking(connection: "psycopg.Connection[tuple[str, int]]", place: Place) -> list[str]:
    applied = _applied(connection, place)
    return [name for name in _COMPONENTS if name not in applied]


def _applied(connection: "psycopg.Connection[tuple[str, int]]", place: Place) -> dict[str, int]:
    rows = connection.execute(_APPLIED.replace("{s}", place.schema)).fetchall()
    return dict(rows)
