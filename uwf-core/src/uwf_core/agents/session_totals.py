"""What an agent counts for a whole session becomes what each call used: the difference to the
call before it, which another process may have made.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from uwf_core.api.agent import Usage, usage_payload
from uwf_core.api.sums import FIELDS, NOTHING_USED, UsagePayload
from uwf_core.errors import InternalFailure
from uwf_core.fields.records import read_record
from uwf_core.process.folders import make_folder

VERSION = 1


class SessionTotals:
    """The counts of one call of an agent that counts for its whole session.

    Args:
        state_dir: the agent's own folder; the last total of each session is a file below it.
        asked: the session that the call continues or copies; None begins a new one.
    """

    def __init__(self, state_dir: str, asked: str | None) -> None:
        self._folder = Path(state_dir, "totals")
        self._before = self._read(asked) if asked else NOTHING_USED
        self._total: UsagePayload | None = None

    def used(self, total: Usage) -> Usage:
        """What the call has used when the agent reports `total`."""
        self._total = usage_payload(total)
        return used_since(self._before, total)

    def keep(self, session: str) -> None:
        """Store the last total that was reported, else that of before, for the next call.

        Raises:
            InternalFailure: it cannot be written.
        """
        total = self._total or self._before
        if total is None:
            return
        file = self._file(session)
        new = file.with_suffix(f".{os.getpid()}.new")
        document = {"version": VERSION, "session": session, "usage": total}
        try:
            make_folder(str(self._folder))
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
                json.dump(document, out)
            new.replace(file)
        except OSError as fault:
            with suppress(OSError):
                new.unlink()
            raise InternalFailure(
                f"cannot write what a session has used: {fault}",
                hint=f"free disk space, or make {self._folder} writable",
            ) from fault

    def _read(self, session: str) -> UsagePayload | None:
        """The total of a session; None if it is not known."""
        try:
            document = json.loads(self._file(session).read_text("utf-8"))
            if document["version"] != VERSION:
                return None
            return usage_payload(read_record(Usage, document["usage"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _file(self, session: str) -> Path:
        name = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / f"{name}.json"


def used_since(before: UsagePayload | None, total: Usage) -> Usage:
    """What a call used, by the totals before and after it; its time is that of the call alone.

    A number that was not known before is not known of the call. A total that is smaller than the
    one before counts a session that was begun anew.
    """
    numbers: dict[str, Any] = {}
    now: Mapping[str, Any] = usage_payload(total)
    was: Mapping[str, Any] = {**(before or {}), "durationMs": 0}
    for name, python in FIELDS:
        new, old = now[name], was.get(name)
        if new is not None and old is not None and new < old:
            return total
        numbers[python] = None if new is None or old is None else new - old
    known = {name for name, python in FIELDS if numbers[python] is not None}
    return Usage(**numbers, at_least=tuple(name for name in total.at_least if name in known))
