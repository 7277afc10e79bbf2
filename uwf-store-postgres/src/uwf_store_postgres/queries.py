"""The statements of the store. `{s}` is the schema."""

from collections.abc import Collection, Mapping

from uwf_core.api import number_of
from uwf_store_postgres.dispatch import COLUMNS
from uwf_store_postgres.rows import RECORD, RECORD_OF_SMALL, VARIABLE

PAGE = 5000
"""The number of rows that are read at once."""

_HALF = 1 << 63
_LENGTH = 13
_FIRST = "0"

GET = f"SELECT {RECORD} FROM {{s}}.node WHERE ref = %s"
GET_MANY = f"SELECT {RECORD} FROM {{s}}.node WHERE ref = ANY(%s)"
GET_SMALL = f"SELECT {RECORD_OF_SMALL} FROM {{s}}.node WHERE ref = ANY(%s)"
GET_SMALL_BEFORE = (
    f"SELECT {RECORD_OF_SMALL} FROM {{s}}.node, "
    "(SELECT type AS kind, seq AS place FROM {s}.node WHERE ref = %s) AS last "
    "WHERE type = kind AND seq <= place ORDER BY seq DESC LIMIT %s"
)
_STEP = (
    "%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bytea[], %b::bytea[], "
    "%b::bytea[], %b::text[], %b::text[], %b::text[], %b::bytea[], %b::bigint[], %b::bigint[], "
    "%b::bytea[], %b::bytea[], %b::text[], %b::bigint[], %s::boolean, %s::bigint"
)
COMMIT = f"SELECT kind, name, ref, created FROM {{s}}.commit_step({_STEP})"
COMMIT_AND_DISPATCH = f"SELECT kind, name, ref, created FROM {{s}}.commit_step({_STEP}, {COLUMNS})"


def _variables(order: str, beyond: str) -> str:
    return (
        f"SELECT {VARIABLE} FROM {{s}}.variable WHERE name >= %s AND name < %s "
        f"AND (%s::text IS NULL OR name {beyond} %s::text) "
        "AND (%s::text[] IS NULL OR status = ANY(%s::text[])) "
        f"ORDER BY name {order} LIMIT %s"
    )


VARIABLES = {False: _variables("ASC", ">"), True: _variables("DESC", "<")}


def range_of(prefix: str) -> tuple[int, int] | None:
    """The lowest and highest number of references with `prefix`, or None."""
    low = number_of(prefix.ljust(_LENGTH, _FIRST))
    if low is None:
        return None
    return low, min(low + (1 << 5 * (_LENGTH - len(prefix))) - 1, _HALF - 1)


def has_tags(tags: Mapping[str, str], wanted: Mapping[str, Collection[str]]) -> bool:
    """Whether each wanted tag has one of its wanted values."""
    return all(tags.get(tag) in values for tag, values in wanted.items())
