"""The methods of the protocol that an editor calls.

Source: https://agentclientprotocol.com/protocol/schema, protocol version 1.
"""

import os.path
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from uwf_agent_acp.protocol.connection import Answer, Channel, Connection, Later, Service
from uwf_agent_acp.protocol.errors import INTERNAL_ERROR, INVALID_PARAMS, AcpError, RpcError
from uwf_agent_acp.server import opening
from uwf_agent_acp.server.content import text_of_blocks
from uwf_agent_acp.server.sessions import EditorSession, Worker
from uwf_core.client import Cancel
from uwf_core.commands import clean, clean_document
from uwf_core.errors import UnknownIdError, UsageError, UwfError
from uwf_core.ids import ThreadId

if TYPE_CHECKING:
    from uwf_core.client import Client

PROTOCOL_VERSION: Final = 1
INVALID_REQUEST, NOT_FOUND = -32600, -32002
MOST_SESSIONS = 50

Params = Mapping[str, Any]
Work = Callable[[], Mapping[str, Any]]


class Setting(NamedTuple):
    """How the server was started.

    Attributes:
        version: of uwf.
        workflow: the one that it offers; None: each one is a mode of the session.
        open_client: opens a client for a folder, with a function for events.
        log: gets lines for people.
    """

    version: str
    workflow: str | None
    open_client: "Callable[[str, Callable[[object], None]], Client]"
    log: Callable[[str], None]


class AcpService:
    """Serves one editor: `serve` reads its messages, and each session works in a thread."""

    def __init__(self, channel: Channel, setting: Setting) -> None:
        self._setting = setting
        self._sessions: dict[str, EditorSession] = {}
        self._is_initialized = False
        self._can_elicit = False
        methods: Mapping[str, Service] = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": lambda params: self._load(params, replay=True),
            "session/resume": lambda params: self._load(params, replay=False),
            "session/list": self._list,
            "session/set_mode": self._set_mode,
            "session/prompt": self._prompt,
            "session/close": self._close,
        }
        services: dict[str, Service] = {
            name: partial(self._served, name, each) for name, each in methods.items()
        }
        self._connection = Connection(channel, services, self._notified)
        self.serve = self._connection.serve

    def close(self, reason: str, seconds: float) -> None:
        """Stop what runs, and wait for it at most so long."""
        sessions = list(self._sessions.values())
        for session in sessions:
            session.close(reason)
        end = time.monotonic() + seconds
        for session in sessions:
            if not session.join(max(end - time.monotonic(), 0)):
                self._setting.log(f"session {session.id} still runs; ending it")

    def _notified(self, method: str, params: Params) -> None:
        if method == "session/cancel":
            session = self._sessions.get(str(params.get("sessionId")))
            if session is not None:
                session.cancel("cancelled by the editor")

    # -- results -----------------------------------------------------------------------------------

    def _served(self, name: str, service: Service, params: dict[str, Any]) -> Any:
        if not self._is_initialized and name != "initialize":
            raise RpcError(INVALID_REQUEST, "call `initialize` first")
        return self._result(lambda: service(params))

    def _later(self, worker: "Worker | EditorSession", work: Work) -> Later:
        """The result of some work that a worker does."""
        return Later(lambda answer: worker.do(lambda: answer(self._result(work))))

    def _result(self, work: Callable[[], Any]) -> Any:
        """The result of some work, harmless for the editor, or its error."""
        try:
            found = work()
        except RpcError as error:
            found = error
        except UwfError as error:
            found = rpc_error(error)
        except Exception as error:  # the editor must not wait for ever for a bug of ours
            self._setting.log(f"internal error: {type(error).__name__}: {error}")
            text = f"internal error: {type(error).__name__}; stderr of uwf has more"
            found = RpcError(INTERNAL_ERROR, text)
        if isinstance(found, RpcError):
            return RpcError(found.code, clean(found.message), clean_document(found.data))
        return found if isinstance(found, Later) else clean_document(found)

    # -- methods -----------------------------------------------------------------------------------

    def _initialize(self, params: Params) -> Any:
        capabilities = params.get("clientCapabilities")
        elicitation = (capabilities if isinstance(capabilities, dict) else {}).get("elicitation")
        self._can_elicit = isinstance(elicitation, dict) and elicitation.get("form") is not None
        self._is_initialized = True
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": False, "sse": False},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
            },
            "authMethods": [],
            "agentInfo": {
                "name": "uwf", "title": "United Workforce", "version": self._setting.version,
            },
        }  # fmt: skip

    def _new(self, params: Params) -> Any:
        thread = ThreadId.new(time.time_ns() // 1_000_000)
        session = self._opened(thread, _folder(params))
        return self._first(session, lambda: opening.begin(session, self._setting.workflow))

    def _load(self, params: Params, *, replay: bool) -> Any:
        thread, cwd = params.get("sessionId"), _folder(params)
        if not isinstance(thread, str) or not ThreadId.matches(thread):
            raise RpcError(NOT_FOUND, f"{thread!r:.100} is not a session of uwf")
        known = self._sessions.get(thread)
        session = known or self._opened(thread, cwd)

        def work() -> Mapping[str, Any]:
            return opening.load(session, self._setting.workflow, replay=replay)

        if known is None:
            return self._first(session, work)
        _check_free(session)
        return self._later(session, work)

    def _list(self, params: Params) -> Any:
        setting = self._setting

        def work() -> Mapping[str, Any]:
            with setting.open_client(str(Path.cwd()), lambda _: None) as client:
                return opening.list_sessions(client, params, setting.workflow)

        def begin(answer: Answer) -> None:
            worker = Worker("session/list")
            worker.do(lambda: answer(self._result(work)))
            worker.end()

        return Later(begin)

    def _set_mode(self, params: Params) -> Any:
        session, mode = self._session(params), params.get("modeId")
        workflow = self._setting.workflow
        _check_free(session)
        return self._later(session, lambda: opening.choose_mode(session, mode, workflow))

    def _prompt(self, params: Params) -> Any:
        session = self._session(params)
        _check_free(session)
        text, cancel = text_of_blocks(params.get("prompt")), Cancel()
        session.running = cancel

        def work() -> Mapping[str, Any]:
            try:
                end = session.conversation.prompt(text, cancel)
            except (AcpError, UwfError):
                if not cancel.is_set():
                    raise
                return {"stopReason": "cancelled"}
            finally:
                session.running = None
            return {"stopReason": end.stop_reason} | ({"usage": end.usage} if end.usage else {})

        return self._later(session, work)

    def _close(self, params: Params) -> Any:
        session = self._session(params)
        del self._sessions[session.id]
        session.close("the session was closed")
        return {}

    # -- sessions ----------------------------------------------------------------------------------

    def _opened(self, id_: str, cwd: str) -> EditorSession:
        if len(self._sessions) >= MOST_SESSIONS:
            text = f"{MOST_SESSIONS} sessions are open; close one with session/close"
            raise RpcError(INVALID_REQUEST, text)
        session = EditorSession(
            id_, cwd, self._connection, self._setting.open_client, can_elicit=self._can_elicit
        )
        self._sessions[id_] = session
        return session

    def _first(self, session: EditorSession, work: Work) -> Later:
        """The first result of a session, which stays only if there is one."""

        def job() -> Any:
            result = self._result(work)
            if isinstance(result, RpcError):
                self._sessions.pop(session.id, None)
                session.close("it could not be opened")
            return result

        return self._later(session, job)

    def _session(self, params: Params) -> EditorSession:
        session = self._sessions.get(str(params.get("sessionId")))
        if session is None:
            named = params.get("sessionId")
            raise RpcError(NOT_FOUND, f"{named!r:.100} is not an open session; load it first")
        return session


def rpc_error(error: UwfError) -> RpcError:
    """An error of uwf as the protocol has it; `data` is its document."""
    code = INVALID_PARAMS if isinstance(error, UsageError) else INTERNAL_ERROR
    if isinstance(error, UnknownIdError):
        code = NOT_FOUND
    text = f"{error}" if error.hint is None else f"{error}; {error.hint}"
    return RpcError(code, text, error.document()["error"])


def _check_free(session: EditorSession) -> None:
    if session.running is not None:
        raise RpcError(INVALID_REQUEST, "a prompt of this session is running; cancel it first")


def _folder(params: Params) -> str:
    cwd = params.get("cwd")
    if not isinstance(cwd, str) or not Path(cwd).is_absolute() or not Path(cwd).is_dir():
        raise RpcError(INVALID_PARAMS, f"`cwd` is not the absolute path of a folder: {cwd!r:.200}")
    return os.path.normpath(cwd)
