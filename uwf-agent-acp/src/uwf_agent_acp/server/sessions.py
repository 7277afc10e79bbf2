"""The sessions of a connection: each is a thread of this program with its own client."""

import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from uwf_agent_acp.server.conversation import Conversation
from uwf_core.client import Cancel
from uwf_core.commands import clean_document

if TYPE_CHECKING:
    from uwf_agent_acp.protocol.connection import Connection, PendingRequest
    from uwf_agent_acp.server.updates import Update
    from uwf_core.client import Client

Job = Callable[[], object]


class Worker:
    """A thread that does one job after the other. A client belongs to one thread: this one."""

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def do(self, job: Job) -> None:
        """Do a job after those before it; it raises nothing."""
        self._jobs.put(job)

    def end(self) -> None:
        """Let it end after the jobs that it has."""
        self._jobs.put(None)

    def join(self, seconds: float) -> bool:
        """Wait until it has ended; whether it has."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


class EditorSession:
    """A session of the editor.

    Args:
        id_: its id, which is that of its thread.
        peer: the editor.
        open_client: opens a client for a folder, with a function for events; may raise.
        can_elicit: whether the editor shows forms.

    Attributes:
        cwd: the folder of the editor.
        running: the token of the prompt under way, None if there is none.
    """

    def __init__(
        self,
        id_: str,
        cwd: str,
        connection: "Connection",
        open_client: "Callable[[str, Callable[[object], None]], Client]",
        *,
        can_elicit: bool,
    ) -> None:
        self.id = id_
        self.cwd = cwd
        self.can_elicit = can_elicit
        self.running: Cancel | None = None
        self._asking: PendingRequest | None = None
        self._connection = connection
        self._open = open_client
        self._client: Client | None = None
        self._conversation: Conversation | None = None
        self._worker = Worker(f"session {id_}")
        self.do = self._worker.do
        self.join = self._worker.join

    @property
    def client(self) -> "Client":
        """The client, opened by the first job that needs it; for jobs alone."""
        if self._client is None:
            self._client = self._open(self.cwd, self._heard)
        return self._client

    @property
    def conversation(self) -> Conversation:
        """The conversation; for jobs alone."""
        if self._conversation is None:
            self._conversation = Conversation(self.client, self, self.id)
        return self._conversation

    def update(self, update: "Update") -> None:
        """Show something in the editor."""
        params = {"sessionId": self.id, "update": clean_document(update)}
        self._connection.notify("session/update", params)

    def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the person something; raises AcpError, which is Abandoned after a cancel."""
        self._asking = asking = self._connection.begin(
            method, {"sessionId": self.id, **clean_document(params)}
        )
        if self.running is not None and self.running.is_set():
            asking.abandon()  # cancelled just before
        try:
            return self._connection.finish(asking, method)
        finally:
            self._asking = None

    def cancel(self, reason: str) -> None:
        """Cancel the prompt under way, if there is one."""
        if self.running is not None:
            self.running.set(reason)
            asking = self._asking  # read after the token is set: `ask` looks at that afterwards
            if asking is not None:
                asking.abandon()

    def close(self, reason: str) -> None:
        """Cancel the prompt under way, and end after it."""
        self.cancel(reason)
        self.do(self._close)
        self._worker.end()

    def _close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _heard(self, event: object) -> None:
        if self._conversation is not None:
            self._conversation.heard(event)
