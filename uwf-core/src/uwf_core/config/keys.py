"""The shape of config.yaml, and the dotted keys of its values."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from uwf_core.api.retry import Retry
from uwf_core.fields.kinds import Shape
from uwf_core.fields.mismatch import NOT_BLANK, SPAN, Names, Rule, between
from uwf_core.fields.records import shape_of

Capability = Literal["continue", "fork", "ask", "stream", "tools", "model", "skills", "rules"]
"""The capabilities that a command may declare."""

Path = tuple[str, ...]
"""A key as its names: `("limits", "runSeconds")`."""


class Leaf(NamedTuple):
    """A value that one layer sets as a whole, and its place (`file:line`, a variable)."""

    value: Any
    place: str


def _is_store(text: str) -> bool:
    scheme, colon, _ = text.partition(":")
    return bool(colon) and scheme[:1].isalpha() and scheme.replace("+", "").isalnum()


def _is_variable(text: str) -> bool:
    return text.isidentifier() and text.isascii()


def _is_variables(text: str) -> bool:
    return text == "*" or _is_variable(text.removesuffix("*"))


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://")) and " " not in text


def _must_be(what: str, accepts: Callable[[Any], bool]) -> Rule:
    return Rule(f"must be {what}", accepts, names_type=True)


DEFAULT_PROTOCOL = "openai-chat"
OWN_KEYS = (
    "model", "messages", "system", "input", "instructions", "contents", "stream", "stream_options",
    "tools", "tool_choice", "response_format",
)  # fmt: skip
"""What uwf itself writes into the body of a request to a model."""


_NO_NUL = Rule("contains a NUL character", lambda text: "\0" not in text)
_POSITIVE = _must_be(
    "a positive number of seconds, or a duration such as 30m or 2h", lambda value: value > 0
)
_FREE_OF_CHARGE = _must_be("a number of USD per million tokens", lambda value: value >= 0)

Text = Annotated[str, NOT_BLANK, _NO_NUL]
_Price = Annotated[float | None, _FREE_OF_CHARGE]
Seconds = Annotated[float, SPAN, _POSITIVE]
_Bytes = Annotated[int, _must_be("a positive whole number of bytes", lambda value: value > 0)]
_Variable = Annotated[str, _must_be("the name of an environment variable", _is_variable)]
_Variables = Annotated[
    str,
    _must_be("the name of an environment variable, or a prefix that ends with *", _is_variables),
]
_Address = Annotated[str, _must_be("an address like https://host/v1", _is_address)]
_Store = Annotated[str, _must_be("a store's URL like sqlite:store.db", _is_store), _NO_NUL]


class Provider(NamedTuple):
    """A model service. At most one of `api_key` and `api_key_env` is set."""

    base_url: Annotated[_Address | None, "The address of its API."] = None
    api_key: Annotated[Text | None, "Its key; better: apiKeyEnv."] = None
    api_key_env: Annotated[_Variable | None, "The variable that holds its key."] = None
    protocol: Annotated[Text, "The protocol that it speaks: a plugin of `uwf.models`."] = (
        DEFAULT_PROTOCOL
    )
    end_mark: Annotated[
        Literal["protocol", "done"],
        "What ends a reply; `done` is for a service that never sends its protocol's mark.",
    ] = "protocol"

    def __repr__(self) -> str:
        return f"Provider({self.base_url!r}, api_key_env={self.api_key_env!r})"

    def conflict(self) -> str | None:
        """Why the keys cannot be combined."""
        both = self.api_key is not None and self.api_key_env is not None
        return "apiKey and apiKeyEnv cannot be combined; keep one" if both else None


class ModelPrice(NamedTuple):
    """USD per million tokens."""

    input: _Price = None
    output: _Price = None
    cache_read: _Price = None
    cache_write: _Price = None


class ModelSetting(NamedTuple):
    """A model."""

    provider: Annotated[Text | None, "One of `providers`."] = None
    name: Annotated[Text | None, "The name that the provider uses."] = None
    price: Annotated[ModelPrice | None, "USD per million tokens."] = None
    extra: Annotated[Mapping[str, Any], "Further keys for the body of each request."] = {}

    def conflict(self) -> str | None:
        """Why `extra` cannot be part of the body of a request."""
        own = next((key for key in OWN_KEYS if key in self.extra), None)
        if own is not None:
            return f"extra cannot contain {own!r}, which uwf sets in each request; remove it"
        try:
            json.dumps(self.extra, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as fault:
            return f"extra cannot be sent as JSON: {fault}"
        return None


class AgentSetting(NamedTuple):
    """An agent's alias: `use` (an installed agent) or `command` (a program), with its options and
    the names of the variables that are passed on to it; or `anyOf`: the first of several agents
    that is installed, and the next one where its service fails.

    A relative path in `command` has been made absolute: below the home for the user's file,
    below the project's folder for a project's.
    """

    use: Annotated[Text | None, "An installed agent."] = None
    options: Annotated[Mapping[str, Any], "The agent's own options."] = {}
    command: Annotated[Text | None, "A program that speaks the command protocol."] = None
    args: Annotated[tuple[Annotated[str, _NO_NUL], ...], "Its first arguments."] = ()
    capabilities: Annotated[frozenset[Capability], "What the command can do."] = frozenset()
    env: Annotated[tuple[_Variables, ...], "Variables that are passed on to it."] = ()
    any_of: Annotated[
        tuple[Text, ...], "Agents and aliases; the next one plays where the service of one fails."
    ] = ()

    def conflict(self) -> str | None:
        """Why the keys cannot be combined."""
        if self.any_of:
            others = self._replace(any_of=())
            if others != AgentSetting():
                return "anyOf cannot be combined with other keys; put them into its aliases"
            return None
        if self.use is not None and self.command is not None:
            return "use and command cannot be combined; keep one"
        if self.use is None and self.command is None:
            return "`use` (an installed agent), `command` (a program) or `anyOf` is missing"
        for key, given in (("args", self.args), ("capabilities", self.capabilities)):
            if given and self.command is None:
                return f"{key} needs `command`, not `use`"
        return None


class CallLimits(NamedTuple):
    """Limits of one call of an agent, how deep workflows may call each other, and of branches."""

    run_seconds: Annotated[Seconds, "Seconds for one call of an agent."] = 3600.0
    idle_seconds: Annotated[Seconds, "Seconds without a sign of life."] = 900.0
    grace_seconds: Annotated[Seconds, "Seconds between SIGTERM and SIGKILL."] = 5.0
    reply_bytes: Annotated[_Bytes, "The largest reply."] = 16 * 1024 * 1024
    depth: Annotated[int, "Calls of workflows below each other.", between(0, 16)] = 3
    parallel: Annotated[
        int,
        "Steps that may run at a time in one tree of threads. Unless it is set, `maxParallel` of a "
        "fan-out may be larger.",
        between(1, 256),
    ] = 4
    runs: Annotated[int, "Runs that `uwf tick` keeps alive at a time.", between(1, 256)] = 4
    branches: Annotated[int, "Items of a list that branches run for.", between(1, 1000)] = 256


class WorkspaceSettings(NamedTuple):
    """The folders in which threads work."""

    record: Annotated[
        bool, "Whether the files of every workspace are recorded before and after each step."
    ] = False


_KINDS_OF_NOTICES = ("suspended", "failed", "completed", "limit")


class NotifySettings(NamedTuple):
    """How the user learns that a thread has stopped or ended."""

    command: Annotated[
        tuple[Annotated[str, _NO_NUL], ...], "A program and its arguments, called for each event."
    ] = ()
    services: Annotated[tuple[Text, ...], "URLs of services for the extra `notify` (apprise)."] = ()
    events: Annotated[
        tuple[Literal["suspended", "failed", "completed", "limit"], ...], "The events to send."
    ] = _KINDS_OF_NOTICES  # type: ignore[assignment]

    def conflict(self) -> str | None:
        """Why the keys cannot be combined."""
        both = bool(self.command and self.services)
        return "command and services cannot be combined; keep one" if both else None


class QuestionSettings(NamedTuple):
    """The questions that agents ask a person."""

    within: Annotated[
        Seconds | None, "How long an agent waits for the answer; then its attempt fails: 4h."
    ] = None


class WebSettings(NamedTuple):
    """The page of `uwf web`."""

    url: Annotated[_Address | None, "Its address, for the links of notices."] = None


_LABEL = _must_be(
    "a label such as gpu or agent:builtin, without blanks",
    lambda text: bool(text) and len(text) <= 200 and text.isprintable() and " " not in text,
)


class WorkerSettings(NamedTuple):
    """What a worker of this machine runs for others."""

    labels: Annotated[
        tuple[Annotated[str, _LABEL], ...], "What it has, for threads that need it (`gpu`)."
    ] = ()
    allow_programs: Annotated[
        tuple[Text, ...], "References of the workflows whose programs it runs."
    ] = ()
    limits: Annotated[
        Mapping[str, Annotated[int, between(0, 1_000_000)]],
        Names("a label"),
        "How many threads with a label (`agent:…`, `model:…`, `gpu`) run at a time, on all "
        "machines.",
    ] = {}
    session_wait: Annotated[
        Annotated[float, SPAN, between(0, 31_536_000)],
        "Seconds for which a thread that may run anywhere waits for the machine with the session "
        "of its next role.",
    ] = 600.0


class ModelOverrides(NamedTuple):
    """Models for single purposes."""

    extract: Annotated[Text | None, "The model of extractors."] = None
    judge: Annotated[Text | None, "The model of judges."] = None


class PluginSettings(NamedTuple):
    """Which plugins are not imported, and the order of observers."""

    block: Annotated[tuple[Text, ...], "Plugins or distributions that are never imported."] = ()
    order: Annotated[
        tuple[Text, ...], "The observers that get each event first, in this order."
    ] = ()


class Config(NamedTuple):
    """config.yaml. The providers, models and agents of two layers are merged by name, the mappings
    below `agentOverrides`, `modelOverrides`, `plugins`, `limits`, `workspace`, `notify`, `web`,
    `worker` and `questions` by key.
    """

    providers: Annotated[Mapping[str, Provider], Names("a provider"), "Model services."] = {}
    models: Annotated[Mapping[str, ModelSetting], Names("a model"), "Models by alias."] = {}
    agents: Annotated[
        Mapping[str, AgentSetting], Names("an agent's alias"), "Agents by alias."
    ] = {}
    default_agent: Annotated[Text | None, "The agent of roles without another one."] = None
    agent_overrides: Annotated[
        Mapping[str, Annotated[Mapping[str, Text], Names("a role")]],
        Names("a workflow"),
        "Workflow -> role -> agent.",
    ] = {}
    default_model: Annotated[Text | None, "One of `models`."] = None
    model_overrides: Annotated[ModelOverrides, "Models for single purposes."] = ModelOverrides()
    store: Annotated[_Store, "The store's URL, relative to the folder of uwf."] = "sqlite:store.db"
    workflow_paths: Annotated[tuple[Text, ...], "Further folders with workflows."] = ()
    allowed_folders: Annotated[
        tuple[Text, ...],
        "Folders in which an edge's `location` may be, besides the thread's folder and repository.",
    ] = ()
    plugins: Annotated[PluginSettings, "Blocked plugins, and the order of observers."] = (
        PluginSettings()
    )
    extractors: Annotated[tuple[Text, ...], "Extractors, in the order of use."] = ("frontmatter",)
    limits: Annotated[CallLimits, "Limits of one call of an agent."] = CallLimits()
    workspace: Annotated[WorkspaceSettings, "The folders in which threads work."] = (
        WorkspaceSettings()
    )
    notify: Annotated[NotifySettings, "Notices of threads that stop or end."] = NotifySettings()
    web: Annotated[WebSettings, "The page of uwf web."] = WebSettings()
    worker: Annotated[WorkerSettings, "What a worker runs for others."] = WorkerSettings()
    retry: Annotated[Retry | None, "When a failed attempt is made again by itself."] = None
    questions: Annotated[QuestionSettings, "The questions that agents ask."] = QuestionSettings()
    wait_limits: Annotated[
        Seconds | None, "How long a run may wait in all when services ask to wait: 30m, 2h."
    ] = None


ENVIRONMENT = {
    "UWF_DEFAULT_AGENT": "defaultAgent",
    "UWF_DEFAULT_MODEL": "defaultModel",
    "UWF_STORE": "store",
    "UWF_WAIT_LIMITS": "waitLimits",
}
"""The environment variable of each scalar at the top: `UWF_` and upper snake case."""
BLOCK_VARIABLE = "UWF_BLOCK_PLUGINS"

CHOICES = frozenset(
    ("defaultAgent", "agentOverrides", "defaultModel", "modelOverrides", "limits", "workflowPaths")
)
"""The keys that an untrusted project may set: they choose among what the user has."""

USER_KEYS = frozenset(("notify", "web", "worker"))
"""The keys that no project may set, trusted or not."""

USER_OPTIONS = frozenset(("allowProtected",))
"""Options of agents that no project may set, trusted or not."""


def parse_key(text: str) -> Path:
    """Split a dotted key; a name with a dot is in double quotes.

    `models."gpt-4.1".name` is `("models", "gpt-4.1", "name")`. An empty name stays empty,
    so that the lookup reports it.
    """
    names, rest = [], text
    while True:
        if rest.startswith('"') and '"' in rest[1:]:
            name, _, rest = rest[1:].partition('"')
            names.append(name)
            if not rest.startswith("."):
                return (*names, *([rest] if rest else []))
            rest = rest[1:]
        else:
            name, dot, rest = rest.partition(".")
            names.append(name)
            if not dot:
                return tuple(names)


def key_text(path: Path) -> str:
    """Join names to a dotted key; the inverse of `parse_key`."""
    return ".".join(f'"{name}"' if "." in name or name == "" else name for name in path)


def shape_at(path: Path) -> Shape | None:
    """The shape of a key's value; None if the key is unknown."""
    shape: Shape | None = shape_of(Config)
    for name in path:
        shape = None if shape is None else shape.at(name)
    return shape
