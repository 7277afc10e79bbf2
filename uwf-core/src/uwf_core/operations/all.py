"""The table of uwf's own operations, filled."""

from uwf_core.operations import (
    installation,
    schedules,
    steps,
    stores,
    thread_runs,
    threads,
    workflows,
)
from uwf_core.operations.table import TABLE

__all__ = [
    "TABLE",
    "installation",
    "schedules",
    "steps",
    "stores",
    "thread_runs",
    "threads",
    "workflows",
]
