"""The editor, as the other side of the connection."""

from collections.abc import Mapping
from typing import Any

from uwf_agent_acp.protocol.connection import Connection, PendingRequest
from uwf_core.commands import clean_document


class Peer:
    """Sends to the editor. Every text is harmless: agents may have written it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def update(self, session: str, update: Mapping[str, Any]) -> None:
        """Send an update of a session."""
        params = {"sessionId": session, "update": clean_document(update)}
        self._connection.notify("session/update", params)

    def begin(self, session: str, method: str, params: Mapping[str, Any]) -> PendingRequest:
        """Ask the person of a session something; raises ConnectionClosed."""
        whole = {"sessionId": session, **clean_document(params)}
        return self._connection.begin(method, whole)

    def finish(self, pending: PendingRequest, method: str) -> Mapping[str, Any]:
        """Wait for the answer; raises AcpError, which is Abandoned if it was given up."""
        return self._connection.finish(pending, method)
