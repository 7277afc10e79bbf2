"""One client of uwf for each thread of the server: a client belongs to one thread."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uwf_core.client import Client


class Clients:
    """The clients of a server, each opened when its thread asks first."""

    def __init__(self, open_client: "Callable[[], Client]") -> None:
        self._open = open_client
        self._own = threading.local()

    def get(self) -> "Client":
        """The client of this thread."""
        found: Client | None = getattr(self._own, "client", None)
        if found is None:
            found = self._own.client = self._open()
        return found
