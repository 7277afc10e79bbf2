"""`cas gc`: delete nodes that no variable of uwf reaches, and report why others are kept."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.cas.gc import Rules, collect
from uwf_core.thread.lock import running_threads
from uwf_core.thread.names import ASKS, ATTEMPTS, CALLS, EVENTS, HEADS, IMPORTED, PROGRAMS, TURNS
from uwf_core.workflow.discover import REGISTRY

if TYPE_CHECKING:
    from uwf_core.engine.documents import CollectDocument
    from uwf_core.engine.engine import Engine

DAY_SECONDS = 86_400
OTHER = "other names"

_REASONS = {
    HEADS: "threads",
    REGISTRY: "registered workflows",
    EVENTS: "events of threads",
    ATTEMPTS: "attempts under way",
    TURNS: "turns under way",
    CALLS: "open calls",
    ASKS: "sessions of questions",
    IMPORTED: "starts that came with bundles",
    PROGRAMS: "workflows that may run programs",
}


class CollectOptions(NamedTuple):
    """The seconds for which unreachable nodes are kept; whether to change nothing."""

    grace_seconds: float = DAY_SECONDS
    dry_run: bool = False


def collect_garbage(engine: "Engine", options: CollectOptions) -> "CollectDocument":
    """Delete nodes that no variable reaches and that were not put within the grace period.

    While a thread runs, everything that was put since its start is kept too: a step refers to it
    only at its end.

    Raises:
        CorruptNodeError: the store is damaged; nothing was deleted.
    """
    now = engine.now_ms()
    begun = [holder.since_ms for holder in running_threads(engine.store).values()]
    since = min([now - int(options.grace_seconds * 1000), *begun])
    rules = Rules((*_REASONS.values(), OTHER), _reason_of, _anchor_of)
    found = collect(engine.store, rules, since, now, dry_run=options.dry_run)
    files = _collect_files(engine, since, dry_run=options.dry_run)
    return {
        "dryRun": options.dry_run,
        "keptSinceMs": since,
        "nodes": found.nodes,
        "kept": [each._asdict() for each in found.kept],
        "freed": found.freed,
        "dropped": list(found.dropped),
        "files": files,
    }


def _collect_files(engine: "Engine", since: int, *, dry_run: bool) -> int:
    if not Path(engine.home, "files.git").is_dir():
        return 0
    from uwf_core.files.keeping import collect as collect_files  # only where files are recorded

    threads = {row.name.removeprefix(HEADS) for row in engine.store.variables(HEADS)}
    return collect_files(engine.home, threads, since, dry_run=dry_run)


def _reason_of(name: str) -> str:
    return next((why for area, why in _REASONS.items() if name.startswith(area)), OTHER)


def _anchor_of(name: str) -> str | None:
    """The step, start or workflow that a name describes: the name is kept as long as that node."""
    area = next((each for each in (ASKS, IMPORTED, PROGRAMS) if name.startswith(each)), None)
    return None if area is None else name.removeprefix(area)
