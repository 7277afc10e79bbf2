"""The errors of the Store: for schemas that cannot be types, payloads that do not match theirs,
held locks, and refused commits.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from uwf_core.api.store import Committed, Holder, Record
from uwf_core.cas.records import check_same, damaged
from uwf_core.cas.schemas import Violation, schema_problems
from uwf_core.errors import BusyError, LeaseLostError, PayloadError, UwfError


def check_schema(schema: Any) -> None:
    """Raise if a schema cannot be a type.

    Raises:
        PayloadError: it cannot; the message lists every error.
    """
    problems = schema_problems(schema)
    if not problems:
        return
    lines = [f"{each.path or 'the schema'}: {each.message}" for each in problems]
    hints = dict.fromkeys(each.hint for each in problems if each.hint)
    raise PayloadError(
        "this schema cannot be a type: " + "; ".join(lines),
        where=problems[0].path or None,
        hint="; ".join(hints) or None,
    )


def refused(type_: str, schema: Mapping[str, Any], found: Sequence[Violation]) -> PayloadError:
    """The error for a payload with violations (at least one) of the type's schema."""
    title = schema.get("title")
    name = f"{type_} ({title})" if isinstance(title, str) else type_
    lines = [f"{each.path}: {each.message}" if each.path else each.message for each in found]
    return PayloadError(
        f"this is not a {name}: " + "; ".join(lines),
        where=found[0].path or None,
        hint=f"next: uwf cas schema show {type_}",
    )


def held_by(name: str, holder: Holder | None) -> BusyError:
    """The error for a held lock; `holder`: its holder, if known."""
    hint = "wait until it is done, or stop it"
    return BusyError(f"{name} is in use by {holder_words(holder)}", hint=hint)


def holder_words(holder: Holder | None) -> str:
    """The process that holds a lock, as errors name it; None: not known."""
    return f"process {holder.pid} on {holder.host}" if holder and holder.pid else "another process"


def lost(name: str) -> LeaseLostError:
    """The error for a lock that this process does not hold any more."""
    return LeaseLostError(
        f"this process does not hold {name} any more: another process took it over",
        hint="nothing was stored; read the thread again",
    )


def moved(name: str) -> BusyError:
    """The error for a compare-and-set that came too late."""
    return BusyError(f"another process changed {name} meanwhile", hint="read it again and repeat")


def not_stored(
    done: Committed, records: Sequence[Record], get: Callable[[str], Record | None]
) -> UwfError:
    """The error for a commit with conflicts. `get`: reads a record, unchecked."""
    for name in done.lost:
        return lost(name)
    differing = {*done.differing}
    for record in records:
        before = get(record.ref) if record.ref in differing else None
        if before is None:
            continue
        try:
            check_same(before, record)
        except UwfError as error:
            return error
        return damaged(record.ref, "its columns differ")
    return moved(*done.moved[:1] or ["a name"])
