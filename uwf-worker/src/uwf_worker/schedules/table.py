"""The rows of schedules, in the schema of the store."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_store_postgres.place import Place
from uwf_store_postgres.session import Session

if TYPE_CHECKING:
    from uwf_worker.schedules.times import Missed, Overlap

CREATE = """
CREATE TABLE {schema}.schedule (
    name text COLLATE "C" PRIMARY KEY,
    cron text NOT NULL,
    zone text NOT NULL,
    missed text NOT NULL CHECK (missed IN ('skip', 'once')),
    overlap text NOT NULL CHECK (overlap IN ('skip', 'queue')),
    plan text NOT NULL,
    host text,
    paused boolean NOT NULL DEFAULT false,
    next bigint NOT NULL,
    waiting integer NOT NULL DEFAULT 0,
    pending text,
    thread text,
    fired bigint,
    skipped text,
    error text
);
CREATE INDEX schedule_due ON {schema}.schedule (next) WHERE NOT paused;
"""
"""`pending` is the id of the thread of a start that was committed and is not recorded yet: a start
that is repeated after a crash finds it, so no time is fired twice. `plan`: what to start, as JSON.
"""

_COLUMNS = (
    "name, cron, zone, missed, overlap, plan, host, paused, next, waiting, pending, thread, "
    "fired, skipped, error"
)
_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_IS_DUE = f"NOT paused AND (pending IS NOT NULL OR waiting > 0 OR next <= {_NOW})"
_DUE = f"""
SELECT name FROM {{s}}.schedule WHERE (host IS NULL OR host = %s) AND {_IS_DUE}
ORDER BY next, name"""
_CLAIM = f"""
SELECT {_COLUMNS}, {_NOW} FROM {{s}}.schedule
WHERE name = %s AND {_IS_DUE} FOR UPDATE SKIP LOCKED"""
_IDLE = "SELECT set_config('idle_in_transaction_session_timeout', '60s', true)"
_SAVE = """
UPDATE {s}.schedule SET paused = %s, next = %s, waiting = %s, pending = %s, thread = %s, fired = %s,
    skipped = %s, error = %s
WHERE name = %s"""
_ADD = (
    "INSERT INTO {s}.schedule (name, cron, zone, missed, overlap, plan, host, next) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING name"
)
_PAUSE = "UPDATE {s}.schedule SET paused = true WHERE name = %s RETURNING name"


class Schedule(NamedTuple):
    """A schedule.

    Attributes:
        name: unique in the store. cron, zone, missed, overlap, next_ms, waiting: see `Timing`.
        plan: what to start. host: the machine whose workers fire it; None: any.
        is_paused: nobody fires it.
        pending: the id of the thread of a start that is under way.
        thread, fired_ms: that of the last start, and when.
        skipped: why the last time was skipped. error: why the last start failed.
    """

    name: str
    cron: str
    zone: str
    missed: "Missed"
    overlap: "Overlap"
    plan: Mapping[str, Any]
    host: str | None
    is_paused: bool
    next_ms: int
    waiting: int
    pending: str | None = None
    thread: str | None = None
    fired_ms: int | None = None
    skipped: str | None = None
    error: str | None = None


class ScheduleTable:
    """The schedules of a store. Each call may raise StoreError. Close it."""

    def __init__(self, place: Place) -> None:
        self._session = Session(place, retry_seconds=0.0)  # the next sweep tries again

    def all(self) -> list[Schedule]:
        """All schedules by name."""
        sql = f"SELECT {_COLUMNS} FROM {{s}}.schedule ORDER BY name"
        return [_schedule(row) for row in self._session.rows(sql)]

    def find(self, name: str) -> Schedule | None:
        """A schedule."""
        sql = f"SELECT {_COLUMNS} FROM {{s}}.schedule WHERE name = %s"
        return next((_schedule(row) for row in self._session.rows(sql, (name,))), None)

    def add(self, new: Schedule) -> bool:
        """Store a schedule; False: there is one with its name."""
        plan = json.dumps(new.plan, ensure_ascii=False)
        values = (
            *(new.name, new.cron, new.zone, new.missed, new.overlap, plan, new.host),
            new.next_ms,
        )
        return bool(self._session.rows(_ADD, values))

    def pause(self, name: str) -> bool:
        """Let nobody fire it; False: there is none."""
        return bool(self._session.rows(_PAUSE, (name,)))

    def remove(self, name: str) -> bool:
        """Delete it; False: there is none."""
        return bool(
            self._session.rows("DELETE FROM {s}.schedule WHERE name = %s RETURNING name", (name,))
        )

    def due(self, host: str) -> list[str]:
        """The names of those that workers of a machine may fire now, or could if the thread
        before had ended, or whose start is under way.
        """
        return [name for (name,) in self._session.rows(_DUE, (host,))]

    @contextmanager
    def claimed(self, name: str) -> Iterator[tuple[Schedule, int] | None]:
        """A schedule that is due and the server's time in ms, which nobody else gets until the
        end; None: it is not due any more, or another worker has it.
        """
        with self._session.transaction("BEGIN", _IDLE):  # a worker that is stopped does not keep it
            rows = self._session.rows(_CLAIM, (name,))
            yield (_schedule(rows[0][:-1]), rows[0][-1]) if rows else None

    @contextmanager
    def locked(self, name: str) -> Iterator[tuple[Schedule, int] | None]:
        """A schedule and the server's time in ms, which nobody else changes until the end; waits
        for others. None: there is none.
        """
        sql = f"SELECT {_COLUMNS}, {_NOW} FROM {{s}}.schedule WHERE name = %s FOR UPDATE"
        with self._session.transaction("BEGIN", _IDLE):
            rows = self._session.rows(sql, (name,))
            yield (_schedule(rows[0][:-1]), rows[0][-1]) if rows else None

    def save(self, one: Schedule) -> None:
        """Write what has changed of a schedule. Within `claimed` or `locked`."""
        values = (
            *(one.is_paused, one.next_ms, one.waiting, one.pending, one.thread, one.fired_ms),
            *(one.skipped, one.error and one.error[:2000], one.name),
        )
        self._session.rows(_SAVE, values)

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        self._session.close()


def _schedule(row: Sequence[Any]) -> Schedule:
    try:
        plan = json.loads(row[5])
    except ValueError:  # others wrote it; its start reports that
        plan = None
    return Schedule(*row)._replace(plan=plan if isinstance(plan, dict) else {})
