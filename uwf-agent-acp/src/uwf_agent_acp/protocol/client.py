"""The methods of the protocol as a client calls them, and what they answer.

Source: https://agentclientprotocol.com/protocol/schema, protocol version 1; fork, set_model and
`usage` are its unstable part, as the package agent-client-protocol 0.9 to 0.12 has them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from uwf_agent_acp.protocol.connection import Channel, Connection, Service
from uwf_agent_acp.protocol.errors import INVALID_PARAMS, BadAnswer, RpcError
from uwf_agent_acp.protocol.updates import ToolUse, Update, read_tool_use, read_update

PROTOCOL_VERSION = 1

How = Literal["new", "load", "resume", "fork"]


class AgentInfo(NamedTuple):
    """The answer to `initialize`: name and version if it has them, and capabilities."""

    name: str | None
    version: str | None
    capabilities: Mapping[str, Any]

    @property
    def can_load(self) -> bool:
        """Whether it announces `session/load`."""
        return self.capabilities.get("loadSession") is True

    def can(self, method: str) -> bool:
        """Whether it announces a method of sessions: `resume`, `fork`, `close`."""
        return (_mapping(self.capabilities.get("sessionCapabilities")) or {}).get(
            method
        ) is not None


class ConfigOption(NamedTuple):
    """A setting of a session: its id and the values to choose from."""

    id: str
    values: tuple[str, ...]
    current: str | None


class SessionState(NamedTuple):
    """What new, load and fork answer. `modes` and `models` are None where the answer has none;
    `options` are its `configOptions`, which replace both in later agents.
    """

    id: str
    modes: Mapping[str, Any] | None
    models: Mapping[str, Any] | None
    options: tuple[Any, ...] = ()

    @property
    def mode_ids(self) -> list[str]:
        """The modes that it can be put into."""
        found = (self.modes or {}).get("availableModes")
        modes = [_mapping(each) or {} for each in found] if isinstance(found, list) else []
        return [str(each["id"]) for each in modes if "id" in each]

    @property
    def model(self) -> str | None:
        """The id of the model in use, where the agent says it."""
        current = (self.models or {}).get("currentModelId")
        if isinstance(current, str):
            return current
        option = self.option("model")
        return option.current if option else None

    def option(self, category: str) -> ConfigOption | None:
        """The setting of a category (`model`, `mode`); None where there is none."""
        for each in self.options:
            fields = _mapping(each) or {}
            if fields.get("category") == category and isinstance(fields.get("id"), str):
                values = tuple(_values(fields.get("options")))
                return ConfigOption(fields["id"], values, _text(fields.get("currentValue")))
        return None


class TokenCounts(NamedTuple):
    """`usage` of a prompt's answer, unchanged; None for what is missing."""

    input: int | None = None
    output: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None


class PromptEnd(NamedTuple):
    """How a prompt ended. `stop_reason` is end_turn, max_tokens, max_turn_requests, refusal or
    cancelled; `usage` is None where the agent reports none; `meta` is what only this agent knows.
    """

    stop_reason: str
    usage: TokenCounts | None
    meta: Mapping[str, Any] = {}


class PermissionRequest(NamedTuple):
    """The agent asks permission. `options` are pairs of kind and id: allow_once, allow_always,
    reject_once, reject_always.
    """

    session: str
    tool: ToolUse
    options: tuple[tuple[str, str], ...]

    def option(self, *kinds: str) -> str | None:
        """The id of the first option that is of one of the kinds, in the order of `kinds`."""
        return next((id_ for kind in kinds for each, id_ in self.options if each == kind), None)


class Listener(Protocol):
    """Gets the agent's updates and questions. Called while a request is running."""

    def update(self, session: str, update: Update) -> None:
        """An update of a session."""

    def permission(self, request: PermissionRequest) -> str | None:
        """The id of the chosen option; None where the prompt is being cancelled."""


class AcpClient:
    """A client over a channel.

    Args:
        channel: carries the lines.
        listener: gets updates and requests for permission.
        services: what else the agent may ask for, by method (`fs/read_text_file`,
            `fs/write_text_file`, `elicitation/create`); what is there is announced.
    """

    def __init__(
        self, channel: Channel, listener: Listener, services: Mapping[str, Service] | None = None
    ) -> None:
        self._listener = listener
        self._services = dict(services or {})
        every = {**self._services, "session/request_permission": self._permission}
        self._connection = Connection(channel, every, self._notified)

    def initialize(self, name: str, version: str) -> AgentInfo:
        """Agree on the version of the protocol; the first call.

        Raises:
            AcpError: no answer, an error, or another version of the protocol.
        """
        files = {
            "readTextFile": "fs/read_text_file" in self._services,
            "writeTextFile": "fs/write_text_file" in self._services,
        }
        forms: dict[str, Any] = (
            {"elicitation": {"form": {}}} if "elicitation/create" in self._services else {}
        )
        answer = self._connection.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": {"fs": files, "terminal": False, **forms},
                "clientInfo": {"name": name, "version": version},
            },
        )
        if answer.get("protocolVersion") != PROTOCOL_VERSION:
            theirs = answer.get("protocolVersion")
            raise BadAnswer(f"the agent speaks version {theirs!r} of the protocol, not 1")
        info = _mapping(answer.get("agentInfo")) or {}
        capabilities = _mapping(answer.get("agentCapabilities")) or {}
        return AgentInfo(_text(info.get("name")), _text(info.get("version")), capabilities)

    def open_session(
        self, how: How, cwd: str, session: str = "", meta: Mapping[str, Any] | None = None
    ) -> SessionState:
        """A session that works in `cwd`, an absolute path.

        `load` and `resume` open the earlier one `session`: the listener gets its whole transcript
        before `load` returns. An agent that does not know it may answer with an error or with an
        empty object. `fork` makes a copy under a new id; "" where the agent gives none. `meta` is
        what one agent knows.

        Raises:
            AcpError: no answer, an error, or no id of a new session.
        """
        named: dict[str, Any] = {"sessionId": session} if session else {}
        if meta:
            named["_meta"] = dict(meta)
        method = f"session/{how}"
        answer = self._connection.request(method, {**named, "cwd": cwd, "mcpServers": []})
        options, id_ = answer.get("configOptions"), _text(answer.get("sessionId")) or ""
        if how == "new" and not id_:
            raise BadAnswer(f"{method} was answered without a sessionId")
        if how == "load" or (how == "resume" and not id_):
            id_ = session
        return SessionState(
            id=id_,
            modes=_mapping(answer.get("modes")),
            models=_mapping(answer.get("models")),
            options=tuple(options) if isinstance(options, list) else (),
        )

    def tell_session(self, session: str, method: str, **params: str) -> None:
        """A request about a session that has no answer of interest: to put it into a mode
        (`set_mode`), to continue it with another model (`set_model`), to choose a value of a
        setting (`set_config_option`), or to end the work on it and store it (`close`).

        Raises:
            AcpError: no answer, or an error.
        """
        self._connection.request(f"session/{method}", {"sessionId": session, **params})

    def prompt(self, session: str, text: str) -> PromptEnd:
        """Say something in a session and wait until the agent's turn ends.

        Raises:
            AcpError: no answer, an error, or no stop reason.
        """
        block = {"type": "text", "text": text}
        params = {"sessionId": session, "prompt": [block]}
        answer = self._connection.request("session/prompt", params)
        reason = answer.get("stopReason")
        if not isinstance(reason, str):
            raise BadAnswer("session/prompt was answered without a stopReason")
        return PromptEnd(reason, read_counts(answer.get("usage")), _meta(answer))

    def drain(self, quiet_seconds: float, most_seconds: float) -> None:
        """Take what the agent still sends, until it is quiet for so long or the time is over."""
        self._connection.drain(quiet_seconds, most_seconds)

    def cancel(self, session: str) -> None:
        """Ask to end the prompt under way; it is answered with `cancelled`. By any thread."""
        self._connection.notify("session/cancel", {"sessionId": session})

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        update = _mapping(params.get("update"))
        if method == "session/update" and update is not None:
            self._listener.update(str(params.get("sessionId", "")), read_update(update))

    def _permission(self, params: dict[str, Any]) -> dict[str, Any]:
        options, call = params.get("options"), _mapping(params.get("toolCall"))
        if call is None or not isinstance(options, list):
            raise RpcError(INVALID_PARAMS, "Invalid params")
        pairs = (_mapping(each) or {} for each in options)
        request = PermissionRequest(
            session=str(params.get("sessionId", "")),
            tool=read_tool_use(call),
            options=tuple(
                (str(each.get("kind")), each["optionId"])
                for each in pairs
                if isinstance(each.get("optionId"), str)  # else there is nothing to answer with
            ),
        )
        chosen = self._listener.permission(request)
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


def _values(options: Any) -> Iterator[str]:
    """The values of a setting; they may stand in groups."""
    for each in options if isinstance(options, list) else ():
        fields = _mapping(each) or {}
        if isinstance(fields.get("value"), str):
            yield fields["value"]
        yield from _values(fields.get("options"))


def _meta(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(answer.get("_meta")) or {}


def read_counts(usage: Any) -> TokenCounts | None:
    """The counts of a `usage`; None if it is none."""
    if not isinstance(usage, dict):
        return None
    names = ("inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens")
    return TokenCounts(*(_count(usage.get(name)) for name in names))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _mapping(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
