"""The keys of config.yaml and their values: the one table that everything else reads."""

from collections.abc import Callable, Mapping
from typing import Any

from uwf_core.named_tuple import NamedTuple

CAPABILITIES = ("continue", "fork", "ask", "stream", "tools", "model")
"""The capabilities that a command may declare."""

Path = tuple[str, ...]
"""A key as its names: `("limits", "runSeconds")`."""


class Leaf(NamedTuple):
    """A value that one layer sets as a whole, and its place (`file:line`, a variable)."""

    value: Any
    place: str


class Scalar(NamedTuple):
    """One value. `what` names it in messages; `is_text` is true for texts that a command line
    gives literally.
    """

    what: str
    accepts: Callable[[Any], bool]
    is_text: bool = True


class ListOf(NamedTuple):
    """A list of such values."""

    item: Scalar


class Free:
    """A mapping that uwf does not check (an agent's options)."""

    __slots__ = ()


class Entry(NamedTuple):
    """A mapping that one layer sets as a whole. `fault` reports keys that conflict."""

    keys: Mapping[str, "Kind"]
    fault: Callable[[Mapping[str, Any]], str | None]


class Section(NamedTuple):
    """A mapping whose keys each come from their own layer."""

    keys: Mapping[str, "Kind"]


class Named(NamedTuple):
    """A mapping by names of the user's choice; `what` is what a name identifies."""

    what: str
    value: "Kind"


Kind = Scalar | ListOf | Free | Entry | Section | Named


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and 0 < value < float("inf")


def _is_price(value: Any) -> bool:
    return _is_number(value) and 0 <= value < float("inf")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_web_address(value: Any) -> bool:
    return _is_text(value) and value.startswith(("http://", "https://")) and " " not in value


def _is_store(value: Any) -> bool:
    scheme, colon, _ = value.partition(":") if _is_text(value) else ("", "", "")
    return bool(colon) and scheme[:1].isalpha() and scheme.replace("+", "").isalnum()


def _is_variable(value: Any) -> bool:
    return _is_text(value) and value.isidentifier() and value.isascii()


def _is_variables(value: Any) -> bool:
    return value == "*" or (_is_text(value) and _is_variable(value.removesuffix("*")))


def _no_fault(_entry: Mapping[str, Any]) -> str | None:
    return None


def _provider_fault(entry: Mapping[str, Any]) -> str | None:
    if "apiKey" in entry and "apiKeyEnv" in entry:
        return "apiKey and apiKeyEnv cannot be combined; keep one"
    return None


def _agent_fault(entry: Mapping[str, Any]) -> str | None:
    if "use" in entry and "command" in entry:
        return "use and command cannot be combined; keep one"
    if "use" not in entry and "command" not in entry:
        return "`use` (an installed agent) or `command` (a program) is missing"
    for key in ("args", "capabilities"):
        if key in entry and "command" not in entry:
            return f"{key} needs `command`, not `use`"
    return None


TEXT = Scalar("text", _is_text)
_ANY_TEXT = Scalar("text", lambda value: isinstance(value, str) and "\0" not in value)
_PRICE = Scalar("a number of USD per million tokens", _is_price, is_text=False)
_SECONDS = Scalar("a positive number of seconds", _is_positive, is_text=False)
_VARIABLES = Scalar(
    "the name of an environment variable, or a prefix that ends with *",
    _is_variables,
)
_CAPABILITY = Scalar(f"one of {', '.join(CAPABILITIES)}", lambda value: value in CAPABILITIES)

_PROVIDER = Entry(
    {
        "baseUrl": Scalar("an address like https://host/v1", _is_web_address),
        "apiKey": TEXT,
        "apiKeyEnv": Scalar("the name of an environment variable", _is_variable),
    },
    _provider_fault,
)
_MODEL = Entry(
    {
        "provider": TEXT,
        "name": TEXT,
        "price": Entry(
            dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), _PRICE), _no_fault
        ),
    },
    _no_fault,
)
_AGENT = Entry(
    {
        "use": TEXT,
        "options": Free(),
        "command": TEXT,
        "args": ListOf(_ANY_TEXT),
        "capabilities": ListOf(_CAPABILITY),
        "env": ListOf(_VARIABLES),
    },
    _agent_fault,
)

CONFIG = Section(
    {
        "providers": Named("a provider", _PROVIDER),
        "models": Named("a model", _MODEL),
        "agents": Named("an agent's alias", _AGENT),
        "defaultAgent": TEXT,
        "agentOverrides": Named("a workflow", Named("a role", TEXT)),
        "defaultModel": TEXT,
        "modelOverrides": Section({"extract": TEXT, "judge": TEXT}),
        "store": Scalar("a store's URL like sqlite:store.db", _is_store),
        "workflowPaths": ListOf(TEXT),
        "allowedFolders": ListOf(TEXT),
        "plugins": Section({"block": ListOf(TEXT)}),
        "extractors": ListOf(TEXT),
        "limits": Section(
            {
                "runSeconds": _SECONDS,
                "idleSeconds": _SECONDS,
                "graceSeconds": _SECONDS,
                "replyBytes": Scalar("a positive whole number of bytes", _is_count, is_text=False),
            }
        ),
    }
)
"""The keys of config.yaml."""

ENVIRONMENT = {
    "UWF_DEFAULT_AGENT": "defaultAgent",
    "UWF_DEFAULT_MODEL": "defaultModel",
    "UWF_STORE": "store",
}
"""The environment variable of each scalar at the top: `UWF_` and upper snake case."""
BLOCK_VARIABLE = "UWF_BLOCK_PLUGINS"

CHOICES = frozenset(
    ("defaultAgent", "agentOverrides", "defaultModel", "modelOverrides", "limits", "workflowPaths")
)
"""The keys that an untrusted project may set: they choose among what the user has."""

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


def kind_at(path: Path) -> Kind | None:
    """The kind of value of a key; None if the key is unknown."""
    kind: Kind = CONFIG
    for name in path:
        if isinstance(kind, Section | Entry):
            if name not in kind.keys:
                return None
            kind = kind.keys[name]
        elif isinstance(kind, Named) and name:
            kind = kind.value
        elif not isinstance(kind, Free):
            return None
    return kind
