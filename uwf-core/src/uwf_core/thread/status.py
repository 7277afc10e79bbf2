"""What a thread is doing: the six statuses and the reasons of a suspension."""

from typing import Final, Literal

Status = Literal["idle", "running", "suspended", "completed", "cancelled", "corrupt"]
Reason = Literal["role", "failure", "limit", "interrupted"]

STATUSES: Final = ("idle", "running", "suspended", "completed", "cancelled", "corrupt")
FINISHED: Final = ("completed", "cancelled")
OPEN: Final = tuple(status for status in STATUSES if status not in FINISHED)
