"""What is known of a server, for `uwf store check`."""

import time
from typing import TYPE_CHECKING

from uwf_core.api.store import Fact
from uwf_store_postgres.place import Place

if TYPE_CHECKING:
    from uwf_store_postgres.session import Connection

_FACTS = """
SELECT current_setting('server_version'), current_user, pg_is_in_recovery(),
    current_setting('synchronous_commit'), current_setting('data_checksums'),
    has_schema_privilege('{s}', 'CREATE'),
    has_table_privilege('{s}.node', 'SELECT, INSERT, UPDATE, DELETE')
        AND has_table_privilege('{s}.variable', 'SELECT, INSERT, UPDATE, DELETE')
        AND has_table_privilege('{s}.lease', 'SELECT, INSERT, UPDATE, DELETE'),
    pg_total_relation_size('{s}.node') + pg_total_relation_size('{s}.variable'),
    (SELECT max(version) FROM {s}.migration WHERE component = 'store'),
    extract(epoch FROM clock_timestamp()) * 1000,
    (SELECT encode(tgargs, 'escape') FROM pg_trigger
        WHERE tgrelid = '{s}.variable'::regclass AND tgname = 'sealed')
"""


def facts_of(connection: "Connection", place: Place) -> dict[str, Fact]:
    """See `ManagedBackend.facts`."""
    begun = time.time()
    row = connection.execute(_FACTS.replace("{s}", place.schema)).fetchone()
    took = (time.time() - begun) * 1000
    assert row is not None
    version, role, standby, commits, checksums, creates, writes, size, schema, clock, moved = row
    skew = float(clock) - (begun * 1000 + took / 2)
    return {
        "backend": "postgresql",
        "version": version,
        "schema": schema,
        "role": role,
        "tls": bool(connection.info.pgconn.ssl_in_use),
        "standby": standby,
        "mayWrite": writes,
        "mayMigrate": creates,
        "synchronousCommit": commits,
        "dataChecksums": checksums == "on",
        "bytes": int(size),
        "roundTripMs": round(took, 1),
        "clockSkewMs": round(skew),
        "movedTo": moved.removesuffix("\\000") if moved else None,
    }
