"""The well-known names of the family of distributions: where each is, what it needs, and how to get
it. For lists and errors: nothing here imports a plugin.
"""

from collections.abc import Collection, Mapping

from uwf_core.plugins.scan import (
    AGENTS,
    COMMANDS,
    CORE,
    GROUPS,
    OBSERVERS,
    OPERATIONS,
    EntryPoint,
    normalised,
)
from uwf_core.plugins.status import RESERVED

_NPM = "npm install -g"
_PROGRAMS: Mapping[str, tuple[str, str]] = {
    "acp:claude-code": ("claude-agent-acp", f"{_NPM} @agentclientprotocol/claude-agent-acp"),
    "acp:codex": ("codex-acp", f"{_NPM} @zed-industries/codex-acp"),
    "acp:gemini": ("gemini", f"{_NPM} @google/gemini-cli"),
    "acp:goose": ("goose", f"{_NPM} @aaif/goose-acp"),
    "acp:opencode": ("opencode", f"{_NPM} opencode-ai"),
    "acp:qwen": ("qwen", f"{_NPM} @qwen-code/qwen-code"),
    "claude-code": ("claude", f"{_NPM} @anthropic-ai/claude-code"),
    "hermes": ("hermes", "uv tool install 'hermes-agent[acp]'"),
}
"""The programs of well-known agents, and how to install each: `agent list` imports no plugin, and
metadata cannot name them. The adapters' own checks say the same.
"""
_REQUIRED: Mapping[str, str] = {"acp": "command", "builtin": "model"}
"""What the configuration must have for well-known agents: see `uwf_core.api.requirements`."""
_ADAPTERS = {
    **{(AGENTS, name): "uwf-agent-acp" for name in _PROGRAMS if name.startswith("acp:")},
    (AGENTS, "acp"): "uwf-agent-acp",
    (AGENTS, "builtin"): "uwf-agent-builtin",
    (AGENTS, "hermes"): "uwf-agent-hermes",
    (AGENTS, "claude-code"): "uwf-agent-claude-code",
    (COMMANDS, "acp"): "uwf-agent-acp",
    (COMMANDS, "distill"): "uwf-improve",
    (COMMANDS, "eval"): "uwf-eval",
    (COMMANDS, "improve"): "uwf-improve",
    (COMMANDS, "web"): "uwf-web",
    (COMMANDS, "worker"): "uwf-worker",
    (OBSERVERS, "otel"): "uwf-export[otel]",
    (OPERATIONS, "thread.why"): "uwf-explain",
    (OPERATIONS, "plugin.new"): "uwf-testing",
    **{
        (group, name): owner
        for group, names in RESERVED.items()
        for name, owner in names.items()
        if owner != CORE
    },
}
"""The distributions of well-known names, to suggest their installation."""


def program_of(agent: EntryPoint) -> tuple[str, str] | None:
    """The program that a well-known agent starts and what installs it; None if unknown."""
    return _PROGRAMS.get(agent.name) if _is_ours(agent) else None


def requirement_of(agent: EntryPoint) -> str | None:
    """What a well-known agent needs of the configuration, `command` or `model`; None if nothing."""
    return _REQUIRED.get(agent.name) if _is_ours(agent) else None


def needs_of_program(program: str) -> tuple[str | None, str | None]:
    """What the program `uwf-NAME` of a well-known agent needs, in this or another installation: its
    requirement (see `requirement_of`), and the program that it runs.
    """
    name = program.rpartition("/")[2]
    if not name.startswith("uwf-"):
        return None, None
    agent = name.removeprefix("uwf-")
    return _REQUIRED.get(agent), _PROGRAMS.get(agent, (None,))[0]


def _is_ours(agent: EntryPoint) -> bool:
    return normalised(agent.distribution) == _ADAPTERS.get((AGENTS, agent.name))


def check_installed(what: str, group: str, name: str) -> None:
    """Raise PluginError for a well-known name whose distribution is missing, as no plugin has it.
    `what` is that in a sentence.
    """
    if owner := _ADAPTERS.get((group, name)):
        from uwf_core.plugins.repair import not_installed  # for errors only

        raise not_installed(what, owner)


def near_hint(word: str, known: Collection[str], groups: Collection[str] = GROUPS) -> str | None:
    """Suggest names similar to an unknown word, also of well-known adapters,
    with the command that installs a missing one.

    Args:
        word: the unknown word. known: the existing names.
        groups: the groups of adapters to suggest.

    Returns:
        None if nothing is similar.
    """
    # for errors only
    from difflib import get_close_matches

    from uwf_core.plugins.repair import install_line

    adapters = {name: adapter for (group, name), adapter in _ADAPTERS.items() if group in groups}
    adapters |= {adapter: adapter for adapter in adapters.values()}
    if word in adapters:
        return f"next: {install_line(adapters[word])}"
    cutoff = 0.85 if word.startswith("uwf-") else 0.6  # names of distributions begin alike
    near = get_close_matches(word, sorted({*known, *adapters}), n=3, cutoff=cutoff)
    if not near:
        return None
    missing = dict.fromkeys(adapters[name] for name in near if name not in known)
    cures = "".join(f" install {each}: {install_line(each)};" for each in missing)
    return f"did you mean {' or '.join(near)}?{cures.rstrip(';')}"
