"""The dispatch rows of the store, and its workers; see `sql/2.sql`."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from uwf_core.api.dispatch import Claim, Dispatch, Request, WaitingRow, WorkerRow
from uwf_store_postgres.arrays import PackedArray, bigints, booleans, integers, texts
from uwf_store_postgres.place import Place
from uwf_store_postgres.session import Row

COLUMNS = (
    "%b::text[], %b::bigint[], %b::boolean[], %b::text[], %b::text[], %b::bigint[], "
    "%b::integer[], %b::text[], %b::integer[], %b::boolean[], %b::text[], %b::bigint[]"
)
"""The arguments of `write_dispatch`, as `columns_of_dispatch` gives them."""

_CLAIM = "thread, seq, token, version, said"
_SELECT_CLAIM = (
    f"SELECT needs, {_CLAIM} FROM {{s}}.claim_dispatch(%s, %s, %s::text[], %s::text[], "
    "%s::integer[], %s, %s, %s::text[])"
)
_SETTLE = "SELECT {s}.settle_dispatch(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_RELEASE = (
    "UPDATE {s}.dispatch SET worker = NULL, token = NULL, expires = NULL "
    "WHERE thread = %s AND token = %s"
)
_BEAT = "SELECT {s}.beat_worker(%s, %s, %s, %s, %s::text[], %s, %s, %s, %s, %s)"
_ROOMS = "SELECT {s}.free_rooms(%s::text[], %s::integer[], %s)"
_FREE = "d.wanted AND (d.worker IS NULL OR d.expires < clock_timestamp())"
_DUE = "SELECT thread, needs FROM {s}.due_dispatch(%s::text[], %s, %s, %s::text[])"
_REQUEST = """
WITH asked AS (
    UPDATE {s}.dispatch SET request = %s, version = version + 1
    WHERE thread = %s AND worker IS NOT NULL AND expires >= clock_timestamp() RETURNING thread),
rested AS (
    UPDATE {s}.dispatch SET wanted = false, room = NULL, version = version + 1
    WHERE thread = %s AND wanted AND NOT EXISTS (SELECT FROM asked) RETURNING thread)
SELECT (SELECT count(*) FROM asked), (SELECT count(*) FROM rested)"""
_DRAIN = (
    "UPDATE {s}.worker SET drains = true WHERE expires >= clock_timestamp() "
    "AND (%s::text IS NULL OR id = %s) RETURNING id"
)
_WORKERS = """
SELECT w.id, w.host, w.pid, w.start, w.labels,
    CASE WHEN w.expires < clock_timestamp() THEN 'lost' WHEN w.drains THEN 'draining'
        ELSE 'running' END,
    w.jobs, w.thread, w.since, (extract(epoch FROM w.seen) * 1000)::bigint
FROM {s}.worker w
WHERE w.seen > clock_timestamp() - interval '1 day'"""
_BY_AGE = " ORDER BY w.since, w.id"
_TIME = "CASE WHEN d.not_before > {s}.now_ms() THEN d.not_before ELSE 0 END"
_ORDER = "ORDER BY -d.priority, d.not_before, d.thread"
_WAITING = f"""
WITH first AS MATERIALIZED (
    SELECT d.thread, d.needs, d.not_before, d.error, d.moves_at, d.priority
    FROM {{s}}.dispatch d WHERE {_FREE} {_ORDER} LIMIT %s),
kinds AS MATERIALIZED (
    SELECT k.needs, EXISTS (
        SELECT FROM {{s}}.worker w
        WHERE w.expires >= clock_timestamp() AND NOT w.drains AND k.needs <@ w.labels) AS served
    FROM (SELECT DISTINCT needs FROM first) AS k)
SELECT d.thread, d.needs, {_TIME}, d.error, k.served OR d.moves_at > 0, d.moves_at
FROM first d JOIN kinds k ON k.needs = d.needs {_ORDER}"""
_UNSERVED = f"""
SELECT d.thread, d.needs, {_TIME}, d.error, false
FROM {{s}}.unserved_dispatch(%s) d {_ORDER}"""
_QUEUED_AMONG = """
SELECT thread FROM {s}.dispatch
WHERE thread = ANY(%s) AND (wanted OR expires >= clock_timestamp())"""


def columns_of_dispatch(rows: Sequence[Dispatch]) -> list[PackedArray]:
    """The arguments of `write_dispatch`, sorted by thread."""
    by_thread = sorted({each.thread: each for each in rows}.values(), key=lambda e: e.thread)
    return [
        texts([each.thread for each in by_thread]),
        bigints([each.seq for each in by_thread]),
        booleans([each.is_wanted for each in by_thread]),
        texts([_joined(each.needs) for each in by_thread]),
        texts([_joined(each.uses) for each in by_thread]),
        bigints([each.not_before_ms for each in by_thread]),
        integers([each.priority for each in by_thread]),
        texts([each.group for each in by_thread]),
        integers([each.most for each in by_thread]),
        booleans([each.is_ended for each in by_thread]),
        texts([each.caller for each in by_thread]),
        bigints([each.moves_at_ms for each in by_thread]),
    ]


def _joined(labels: Sequence[str]) -> str:
    return "\n".join(labels)


class DispatchTable:
    """The part of the backend for workers: see `uwf_core.api.dispatch`."""

    _place: Place
    _claimed: Sequence[str] = ()
    _swept: Sequence[str] = ()
    """The needs after which the next claim and the next sweep begin."""
    _freed = ""
    """The room after which the next sweep begins."""

    def _rows(self, sql: str, values: Sequence[Any] | None = None) -> list[Row]:
        raise NotImplementedError

    def dispatch(self, rows: Sequence[Dispatch]) -> None:
        """Write rows, within a transaction."""
        self._write(rows, None)

    def say(self, row: Dispatch, said: str) -> None:
        """Write a row with what a person said."""
        self._write([row], said)

    def _write(self, rows: Sequence[Dispatch], said: str | None) -> None:
        sql = f"SELECT {{s}}.write_dispatch({COLUMNS}, %s::text)"
        self._rows(sql, (*columns_of_dispatch(rows), said))

    def claim(
        self,
        worker: str,
        labels: Collection[str],
        limits: Mapping[str, int],
        thread: str | None = None,
    ) -> Claim | None:
        """Claim a row that may be run."""
        token = 1 + secrets.randbits(62)
        limited = [*limits], [*limits.values()]
        seconds = self._place.lease_seconds
        values = (worker, token, [*labels], *limited, thread, seconds, [*self._claimed])
        # A call that is repeated after a broken connection may leave a claim, which expires.
        for needs, *claim in self._rows(_SELECT_CLAIM, values):
            self._claimed = [*needs, ""]
            return Claim(*claim)
        return None

    def settle(self, claim: Claim, row: Dispatch, error: str | None, *, keeps: bool) -> bool:
        """End a claim and write the row."""
        values = (
            *(claim.thread, claim.token, claim.version, row.seq, row.is_wanted),
            *(_joined(row.needs), _joined(row.uses), row.not_before_ms, row.is_ended),
            *(error and error.replace("\0", "\N{REPLACEMENT CHARACTER}")[:2000], keeps),
            *(row.group, row.caller, row.moves_at_ms),
        )
        return bool(self._rows(_SETTLE, values)[0][0])

    def release(self, claim: Claim) -> None:
        """End a claim."""
        self._rows(_RELEASE, (claim.thread, claim.token))

    def row(self, thread: str) -> Claim | None:
        """The row of a thread."""
        sql = "SELECT thread, seq, coalesce(token, 0), version, said FROM {s}.dispatch"
        found = self._rows(f"{sql} WHERE thread = %s", (thread,))
        return Claim(*found[0]) if found else None

    def beat(self, worker: WorkerRow) -> Request | Literal["drain"] | None:
        """Register a worker, or renew it and its claim."""
        values = (
            *(worker.id, worker.host, worker.pid, worker.start, [*worker.labels]),
            *(worker.state == "draining", worker.jobs, worker.thread, worker.since_ms),
            self._place.lease_seconds,
        )
        asked: Request | Literal["drain"] | None = self._rows(_BEAT, values)[0][0]
        return asked

    def leave(self, worker: str) -> None:
        """Forget a worker, and free its claims."""
        free = "UPDATE {s}.dispatch SET worker = NULL, token = NULL, expires = NULL"
        self._rows(f"{free} WHERE worker = %s", (worker,))
        self._rows("DELETE FROM {s}.worker WHERE id = %s", (worker,))

    def due(
        self,
        labels: Collection[str],
        limits: Mapping[str, int],
        limit: int,
        quiet_seconds: float,
    ) -> list[tuple[str, Sequence[str]]]:
        """Threads that could be run now, and for which no hint was given lately."""
        [[self._freed]] = self._rows(_ROOMS, ([*limits], [*limits.values()], self._freed))
        found = self._rows(_DUE, ([*labels], quiet_seconds, limit, [*self._swept]))
        self._swept = [*found[-1][1], ""] if found else ()
        return [(thread, needs) for thread, needs in found if thread is not None]

    def request(self, thread: str, request: Request) -> Literal["asked", "rested"] | None:
        """Ask the worker that runs a thread, or have the thread not wanted."""
        asked, rested = self._rows(_REQUEST, (request, thread, thread))[0]
        return "asked" if asked else "rested" if rested else None

    def drain(self, worker: str | None) -> int:
        """Ask workers to end after their step."""
        return len(self._rows(_DRAIN, (worker, worker)))

    def workers(self, host: str | None = None) -> list[WorkerRow]:
        """The workers that were seen within a day."""
        if host is None:
            return [WorkerRow(*row) for row in self._rows(_WORKERS + _BY_AGE)]
        sql = f"{_WORKERS} AND w.host = %s{_BY_AGE}"  # of each heartbeat, so by an index
        return [WorkerRow(*row) for row in self._rows(sql, (host,))]

    def waiting(self, limit: int, *, unserved: bool = False) -> list[WaitingRow]:
        """Wanted rows that nobody runs."""
        return [
            WaitingRow(*row) for row in self._rows(_UNSERVED if unserved else _WAITING, (limit,))
        ]

    def queued_among(self, threads: Collection[str]) -> set[str]:
        """Those that are wanted, or that a worker runs."""
        return {thread for (thread,) in self._rows(_QUEUED_AMONG, ([*threads],))}
