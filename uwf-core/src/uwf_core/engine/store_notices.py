"""What a user should know when a store is opened."""

# Every command opens a store: pathlib is not imported for that.
# ruff: noqa: PTH110, PTH118

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uwf_core.api.store import StoreBackend
    from uwf_core.engine.engine import Engine

LOG_HINT = "copy it beside the store; if it is lost, next: uwf store migrate"


def notices_of(engine: "Engine", backend: "StoreBackend") -> Iterator[str]:
    """Data of the original uwf, once, for a person who has none here yet; a log that is missing."""
    if not os.path.exists(os.path.join(engine.home, "store.db")):
        from uwf_core.config.original import first_notice

        wanted = engine.via == "cli" and not engine.imports_original
        if wanted and (notice := first_notice(engine.home, engine.env)) is not None:
            yield notice
    find = getattr(backend, "log_fault", None)  # of SQLite alone
    if find is not None and (fault := find()) is not None:
        yield f"{backend.location()}: {fault}; {LOG_HINT}"
