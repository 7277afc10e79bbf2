"""Choose the agent of a role: resolve a word of the command line or the configuration. Pure."""

import posixpath
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from uwf_core.errors import ConfigError, UnknownIdError, UsageError
from uwf_core.plugins.scan import AGENTS
from uwf_core.workflow.definition import PROGRAM

if TYPE_CHECKING:
    from uwf_core.config.keys import AgentSetting
    from uwf_core.workflow.definition import Role, RoleText

PREFIX = "uwf-"
"""The first letters of executables on the PATH that are agents."""


class AgentPreferences(NamedTuple):
    """The words that may select an agent, strongest first; None: not given.

    Attributes:
        flag: `--agent` of this command.
        thread: the binding of the thread (`thread start --agent`).
        overrides: `agentOverrides` of the configuration: workflow -> role -> word.
        suggested: `agent` of the role, if the user has such an agent.
        default: `defaultAgent` of the configuration.
        bound: the thread's binding of the role (`thread start --agent ROLE=AGENT`), stronger than
            `thread`. It alone replaces the person or the program that plays the role.
    """

    flag: str | None = None
    thread: str | None = None
    overrides: Mapping[str, Mapping[str, str]] = {}
    suggested: str | None = None
    default: str | None = None
    bound: str | None = None


class RolePlayer(NamedTuple):
    """Who plays a role by its definition: `agent` (which one is chosen), `human` or `program`."""

    role: str
    kind: Literal["agent", "human", "program"] = "agent"
    suggested: str | None = None


def player_of(role: str, text: "Role | RoleText | None") -> RolePlayer:
    """Who plays a role; None: a role that the workflow does not have."""
    if text is None:
        return RolePlayer(role)
    if text.program is not None:
        return RolePlayer(role, "program")
    return RolePlayer(role, "human" if text.human else "agent", text.agent)


class Alias(NamedTuple):
    """An entry of `agents` in the configuration: `use` with options, a command, or `any_of`.

    Attributes:
        use: an installed agent's name; None if it is a command.
        options: the options of that agent.
        command: the program, exactly one word; it may hold blanks.
        args: its arguments, before those of the protocol.
        capabilities: what the command is declared to do; see `COMMAND_CAPABILITIES`.
        env: names of the environment variables that it gets.
        any_of: words, of which the first one is used that can be resolved.
    """

    use: str | None = None
    options: Mapping[str, Any] = {}
    command: str | None = None
    args: Sequence[str] = ()
    capabilities: Collection[str] = ()
    env: Sequence[str] = ()
    any_of: Sequence[str] = ()


class AgentCatalog(NamedTuple):
    """The agents that a word can resolve to.

    Attributes:
        aliases: `agents` of the configuration.
        installed: returns the names of the installed agents; called only if needed.
        folder: the base of a relative path to a program (the thread's folder).
        on_path: returns the executables `uwf-NAME` on the PATH with their paths; called only if
            needed.
    """

    aliases: Mapping[str, Alias]
    installed: Callable[[], Collection[str]]
    folder: str
    on_path: Callable[[], Mapping[str, str]] = dict


class Choice(NamedTuple):
    """An agent that was chosen, not yet opened.

    Attributes:
        kind: `program` is the program of a role, which needs no word and no plugin.
        word: the given word. source: its origin, for messages.
        name: the resolved name, as each step records it: the plugin's name, or the command line.
            Only an agent of the same name continues a session.
        plugin: the installed agent's name; None if it is a command.
        command: program and arguments; empty if it is a plugin.
        options: the plugin's options; where: their place in the configuration.
        capabilities: of a command, as declared; those of a plugin are known once it is loaded.
        env: names of the environment variables that the configuration passes to it.
        others: the words of the agents that may play in its place, in their order (`anyOf`).
        absent: why the words before it cannot be resolved.
    """

    kind: Literal["plugin", "command", "program"]
    word: str
    source: str
    name: str
    plugin: str | None = None
    command: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}
    where: str = "agents"
    capabilities: frozenset[str] = frozenset()
    env: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def alias(self) -> str | None:
        """The alias of a configured command: shorter than its recorded command line."""
        return self.word if self.kind == "command" and self.where != "agents" else None


COMMAND_CAPABILITIES = frozenset(
    ("continue", "fork", "ask", "stream", "tools", "model", "skills", "rules")
)
"""The capabilities that a command can declare."""

THREAD_AGENT = "the thread's agent"
NO_AGENT = "use --agent NAME (uwf agent list), or set a default; next: uwf setup"
"""What to do where no agent is chosen."""
STEP_AGENT = "the step's agent"
"""The sources of a choice that a node names; a bundle can contain the node."""


_FIXED = {
    "program": Choice("program", PROGRAM, "the role's program", PROGRAM),
    "human": Choice("plugin", "human", "human: true", "human", "human", where="agents -> human"),
}
"""The choice for a role that names its player."""


def choose_agent(
    preferences: AgentPreferences, catalog: AgentCatalog, *, workflow: str, player: RolePlayer
) -> Choice:
    """Choose the agent for a role of `workflow`: the program or the person that its definition
    names, unless the thread binds this role; else resolve the strongest word.

    Raises:
        ConfigError: no agent is set, or an alias is invalid.
        UnknownIdError: the agent is unknown.
        UsageError: the word is blank or not a command line.
    """
    if player.kind != "agent":
        if preferences.bound is not None:
            return resolve_agent(preferences.bound, catalog, source=THREAD_AGENT)
        return _FIXED[player.kind]
    role = player.role
    override = preferences.overrides.get(workflow, {}).get(role)
    sources = (
        ("--agent", preferences.flag),
        (THREAD_AGENT, preferences.bound),
        (THREAD_AGENT, preferences.thread),
        (f"agentOverrides -> {workflow} -> {role}", override),
        (f"roles.{role}.agent", preferences.suggested),
        ("defaultAgent", preferences.default),
    )
    for source, word in sources:
        if word is not None:
            return resolve_agent(word, catalog, source=source)
    raise ConfigError(
        f"no agent set for the role {role!r}",
        where="defaultAgent",
        hint=NO_AGENT,
    )


def resolve_agent(word: str, catalog: AgentCatalog, *, source: str = "--agent") -> Choice:
    """Resolve `word`: a command line (it has a blank or a separator), else an alias, else
    an installed agent, else an executable `uwf-NAME` on the PATH.

    Raises:
        ConfigError, UnknownIdError, UsageError: as `choose_agent`.
    """
    if not word.strip() or "\0" in word:
        raise UsageError("the agent name is blank", where=source, hint="next: uwf agent list")
    if "/" in word or word.split() != [word]:
        return _command_line(word, catalog, source)
    if word in catalog.aliases:
        return _aliased(word, catalog, source)
    plugin = word if word in catalog.installed() else _own_program((word,), catalog)
    if plugin is not None:
        where = f"agents -> {plugin}"
        return Choice("plugin", word, source, plugin, plugin=plugin, where=where)
    name = PREFIX + word.removeprefix(PREFIX)
    if program := catalog.on_path().get(name):
        # The path may differ on another machine, so steps record only the name.
        return Choice(kind="command", word=word, source=source, name=name, command=(program,))
    raise _unknown(word, catalog, source)


def turned(choice: Choice, words: Sequence[str], catalog: AgentCatalog) -> Choice:
    """The member of `anyOf` whose turn it is, in place of the first one: the first of `words`.

    Raises:
        ConfigError, UnknownIdError, UsageError: as `choose_agent`.
    """
    turn = resolve_agent(words[0], catalog, source=choice.source)
    return turn._replace(others=tuple(words[1:]), absent=choice.absent)


def recorded_agent(name: str, catalog: AgentCatalog) -> Choice:
    """The agent that a step recorded as `name`: a command of the configuration with its
    declarations, else the installed agent of that name, else a command line.

    Raises:
        ConfigError, UnknownIdError, UsageError: as `choose_agent`.
    """
    word = command_aliases(catalog.aliases).get(name)
    if word is not None:
        return resolve_agent(word, catalog, source=STEP_AGENT)
    same = catalog.aliases.get(name)
    if same is None or same.use == name:
        return resolve_agent(name, catalog, source=STEP_AGENT)
    others = {word: alias for word, alias in catalog.aliases.items() if word != name}
    return resolve_agent(name, catalog._replace(aliases=others), source=STEP_AGENT)


def command_aliases(aliases: "Mapping[str, Alias | AgentSetting]") -> dict[str, str]:
    """The aliases of commands by the name that steps record; the first of several."""
    return {
        shlex.join((alias.command, *alias.args)): word
        for word, alias in sorted(aliases.items(), reverse=True)
        if alias.command is not None
    }


def _command_line(word: str, catalog: AgentCatalog, source: str) -> Choice:
    try:
        argv = shlex.split(word)
    except ValueError as fault:
        raise UsageError(
            f"{word!r} is not a command line: {fault}", where=source, hint="close the quotes"
        ) from fault
    if not argv or not argv[0]:
        raise UsageError(f"{word!r} has no program", where=source, hint="next: uwf agent list")
    plugin = _own_program(argv, catalog)
    if plugin is not None:
        return Choice("plugin", word, source, plugin, plugin=plugin, where=f"agents -> {plugin}")
    return _command(word, source, argv, catalog.folder)


def _own_program(argv: Sequence[str], catalog: AgentCatalog) -> str | None:
    """The installed agent whose own program `uwf-NAME` a command is, as the configurations of the
    original name them; None if it is another command. As a program it would lack what an agent
    declares: the model, its checks.
    """
    name = posixpath.basename(argv[0])
    plugin = name.removeprefix(PREFIX)
    if len(argv) != 1 or plugin == name or plugin not in catalog.installed():
        return None
    is_same = argv[0] in (name, catalog.on_path().get(name))
    return plugin if is_same else None


def _command(word: str, source: str, argv: Sequence[str], folder: str) -> Choice:
    """A command without declared capabilities; its program's path is made absolute."""
    program = argv[0]
    if "/" in program and not program.startswith("~"):
        program = posixpath.normpath(posixpath.join(folder, program))
    return Choice(
        kind="command",
        word=word,
        source=source,
        name=shlex.join(argv),
        command=(program, *argv[1:]),
    )


def _aliased(word: str, catalog: AgentCatalog, source: str) -> Choice:
    alias = catalog.aliases[word]
    where = f"agents -> {word}"
    use = alias.use
    if alias.any_of:
        return _first_of(word, alias.any_of, catalog, source)
    if alias.command is not None:
        use = _own_program((alias.command, *alias.args), catalog)
    if alias.command is not None and use is None:
        choice = _command(word, source, (alias.command, *alias.args), catalog.folder)
        return _declared(choice, alias, where)
    if use is None:
        raise ConfigError(
            f"the alias {word!r} has neither `use` nor `command`",
            where=where,
            hint="write `use: NAME`, `command: PROGRAM` or `anyOf: [NAME, …]`",
        )
    if use not in catalog.installed():
        raise ConfigError(
            f"unknown agent {use!r} in the alias {word!r}",
            where=f"{where} -> use",
            hint=_near(use, catalog.installed()),
        )
    return Choice(
        kind="plugin",
        word=word,
        source=source,
        name=use,
        plugin=use,
        options=alias.options,
        where=where,
        env=tuple(alias.env),
    )


def _first_of(word: str, words: Sequence[str], catalog: AgentCatalog, source: str) -> Choice:
    """The first of `words` that can be resolved; the others that can be may follow it."""
    choices, absent = list[Choice](), list[str]()
    for member in words:
        if member in catalog.aliases and catalog.aliases[member].any_of:
            raise ConfigError(
                f"anyOf of the alias {word!r} names {member!r}, which has `anyOf` itself",
                where=f"agents -> {word} -> anyOf",
                hint=f"name its agents: {', '.join(catalog.aliases[member].any_of)}",
            )
        try:
            choices.append(resolve_agent(member, catalog, source=source))
        except (ConfigError, UnknownIdError) as error:
            absent.append(error.message)
    if not choices:
        raise ConfigError(
            f"no agent of the alias {word!r} can be used: {'; '.join(absent)}",
            where=f"agents -> {word} -> anyOf",
            hint="next: uwf agent list",
        )
    others = tuple(choice.word for choice in choices[1:])
    return choices[0]._replace(others=others, absent=tuple(absent))


def _declared(choice: Choice, alias: Alias, where: str) -> Choice:
    """The command with the capabilities that its alias declares."""
    foreign = sorted(set(alias.capabilities) - COMMAND_CAPABILITIES)
    if foreign:
        raise ConfigError(
            f"{foreign[0]!r} is not a capability of commands",
            where=f"{where} -> capabilities",
            hint=f"use: {', '.join(sorted(COMMAND_CAPABILITIES))}",
        )
    capabilities = frozenset(alias.capabilities)
    return choice._replace(
        where=where, options=alias.options, capabilities=capabilities, env=tuple(alias.env)
    )


def _unknown(word: str, catalog: AgentCatalog, source: str) -> UnknownIdError:
    return UnknownIdError(
        f"unknown agent {word!r}: it is not an alias of the configuration, not installed, and "
        "not an executable uwf-NAME on the PATH",
        where=source,
        hint=_near(word, {*catalog.aliases, *catalog.installed(), *catalog.on_path()}),
    )


def _near(word: str, names: Collection[str]) -> str:
    from uwf_core.plugins.family import near_hint

    listed = f"known: {', '.join(sorted(names))}; " if names else ""
    usual = f"{listed}give a program by its path; next: uwf agent list"
    return near_hint(word, names, (AGENTS,)) or usual
