"""How the Store says no: to schemas that cannot be types, to payloads that are not of theirs, to
whoever comes second to a lock.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.api.store import Holder
from uwf_core.cas.schemas import Violation, schema_problems
from uwf_core.errors import BusyError, PayloadError


def check_schema(schema: Any) -> None:
    """Let a schema pass that can be a type.

    Raises:
        PayloadError: it cannot; the message lists every fault.
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
        f"this is no {name}: " + "; ".join(lines),
        where=found[0].path or None,
        hint=f"`uwf cas schema show {type_}` shows what it must be",
    )


def held_by(name: str, holder: Holder | None) -> BusyError:
    """The error for a lock that somebody holds; `holder`: who, as far as it is known."""
    who = f"process {holder.pid} on {holder.host}" if holder and holder.pid else "another process"
    return BusyError(f"{name} is held by {who}", hint="wait until it is done, or stop it")
