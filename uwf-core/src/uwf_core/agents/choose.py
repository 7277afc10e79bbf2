"""Which agent runs a role: a word out of the command line or the configuration, resolved. Pure."""

import posixpath
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from uwf_core.errors import ConfigError, UnknownIdError, UsageError
from uwf_core.named_tuple import NamedTuple


class Candidates(NamedTuple):
    """The words that may choose, strongest first; None is not said.

    Attributes:
        flag: `--agent` of this command.
        thread: the thread's own binding (`thread start --agent`).
        overrides: `agentOverrides` of the configuration: workflow -> role -> word.
        default: `defaultAgent` of the configuration.
    """

    flag: str | None = None
    thread: str | None = None
    overrides: Mapping[str, Mapping[str, str]] = {}
    default: str | None = None


class Alias(NamedTuple):
    """An entry of `agents` in the configuration: `use` with options, or a command.

    Attributes:
        use: an installed agent's name; None where it is a command.
        options: what is handed to that agent.
        command: the program, exactly one word; it may hold blanks.
        args: its arguments, before those of the protocol.
        capabilities: what the command is declared to do; see `COMMAND_CAPABILITIES`.
        env: names of the environment variables that are passed on to it.
    """

    use: str | None = None
    options: Mapping[str, Any] = {}
    command: str | None = None
    args: Sequence[str] = ()
    capabilities: Collection[str] = ()
    env: Sequence[str] = ()


class Known(NamedTuple):
    """What a word can resolve to.

    Attributes:
        aliases: `agents` of the configuration.
        installed: gives the names of the installed agents; asked only where it matters.
        folder: what a relative path to a program is relative to (the thread's folder).
    """

    aliases: Mapping[str, Alias]
    installed: Callable[[], Collection[str]]
    folder: str


class Choice(NamedTuple):
    """An agent that was chosen, not yet opened.

    Attributes:
        word: what was said. source: who said it, for messages.
        name: what it resolved to, as each step records it: the plugin's name, or the command line.
            A session is continued by an agent of the same name only.
        plugin: the installed agent's name; None where it is a command.
        command: program and arguments; empty where it is a plugin.
        options: the plugin's options; where: their place in the configuration.
        capabilities: of a command, as declared; a plugin's are known once it is loaded.
        env: names of the environment variables that the configuration passes on to it.
    """

    kind: Literal["plugin", "command"]
    word: str
    source: str
    name: str
    plugin: str | None = None
    command: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}
    where: str = "agents"
    capabilities: frozenset[str] = frozenset()
    env: tuple[str, ...] = ()


COMMAND_CAPABILITIES = frozenset(("continue", "fork", "ask", "stream", "tools", "model"))
"""What a command can be declared to do."""


def choose_agent(candidates: Candidates, known: Known, *, workflow: str, role: str) -> Choice:
    """The agent for `role` of `workflow`: the strongest word that is said, resolved.

    Raises:
        ConfigError: nobody says which agent, or an alias is at fault.
        UnknownIdError: there is no agent of that name.
        UsageError: the word is blank or no command line.
    """
    override = candidates.overrides.get(workflow, {}).get(role)
    sources = (
        ("--agent", candidates.flag),
        ("the thread's own agent", candidates.thread),
        (f"agentOverrides -> {workflow} -> {role}", override),
        ("defaultAgent", candidates.default),
    )
    for source, word in sources:
        if word is not None:
            return resolve_agent(word, known, source=source)
    raise ConfigError(
        f"no agent is chosen for the role {role!r}",
        where="defaultAgent",
        hint="say one with --agent NAME or `uwf config set defaultAgent NAME`; "
        "`uwf agent list` shows what there is",
    )


def resolve_agent(word: str, known: Known, *, source: str = "--agent") -> Choice:
    """What `word` stands for: a command line (a blank or a separator in it), else an alias, else
    an installed agent.

    Raises:
        ConfigError, UnknownIdError, UsageError: as `choose_agent`.
    """
    if not word.strip() or "\0" in word:
        raise UsageError("the agent's name is blank", where=source, hint="`uwf agent list`")
    if "/" in word or any(letter.isspace() for letter in word):
        return _command_line(word, known, source)
    if word in known.aliases:
        return _aliased(word, known, source)
    if word in known.installed():
        where = f"agents -> {word}"
        return Choice(kind="plugin", word=word, source=source, name=word, plugin=word, where=where)
    raise _unknown(word, known, source)


def recorded_agent(name: str, known: Known, *, source: str = "the step's agent") -> Choice:
    """The agent that a step recorded as `name`: a command of the configuration with what is
    declared of it, else the installed agent of that very name, else a command line.

    Raises:
        ConfigError, UnknownIdError, UsageError: as `choose_agent`.
    """
    for word, alias in sorted(known.aliases.items()):
        if alias.command is not None and shlex.join((alias.command, *alias.args)) == name:
            return resolve_agent(word, known, source=source)
    same = known.aliases.get(name)
    if same is None or same.use == name:
        return resolve_agent(name, known, source=source)
    others = {word: alias for word, alias in known.aliases.items() if word != name}
    return resolve_agent(name, known._replace(aliases=others), source=source)


def _command_line(word: str, known: Known, source: str) -> Choice:
    try:
        argv = shlex.split(word)
    except ValueError as fault:
        raise UsageError(
            f"{word!r} is no command line: {fault}", where=source, hint="close the quotes"
        ) from fault
    if not argv or not argv[0]:
        raise UsageError(f"{word!r} names no program", where=source, hint="`uwf agent list`")
    return _command(word, source, argv, known.folder)


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


def _aliased(word: str, known: Known, source: str) -> Choice:
    alias = known.aliases[word]
    where = f"agents -> {word}"
    if alias.command is not None:
        choice = _command(word, source, (alias.command, *alias.args), known.folder)
        return _declared(choice, alias, where)
    if alias.use is None:
        raise ConfigError(
            f"the alias {word!r} names neither an agent nor a command",
            where=where,
            hint="write `use: NAME` or `command: PROGRAM`",
        )
    if alias.use not in known.installed():
        raise ConfigError(
            f"the alias {word!r} uses {alias.use!r}, and no such agent is installed",
            where=f"{where} -> use",
            hint=_near(alias.use, known.installed()),
        )
    return Choice(
        kind="plugin",
        word=word,
        source=source,
        name=alias.use,
        plugin=alias.use,
        options=alias.options,
        where=where,
        env=tuple(alias.env),
    )


def _declared(choice: Choice, alias: Alias, where: str) -> Choice:
    """The command with the capabilities that its alias declares."""
    foreign = sorted(set(alias.capabilities) - COMMAND_CAPABILITIES)
    if foreign:
        raise ConfigError(
            f"{foreign[0]!r} is nothing that a command can be declared to do",
            where=f"{where} -> capabilities",
            hint=f"there are: {', '.join(sorted(COMMAND_CAPABILITIES))}",
        )
    capabilities = frozenset(alias.capabilities)
    return choice._replace(
        where=where, options=alias.options, capabilities=capabilities, env=tuple(alias.env)
    )


def _unknown(word: str, known: Known, source: str) -> UnknownIdError:
    return UnknownIdError(
        f"there is no agent {word!r}, neither as an alias of the configuration nor installed",
        where=source,
        hint=_near(word, {*known.aliases, *known.installed()}),
    )


def _near(word: str, names: Collection[str]) -> str:
    from uwf_core.plugins.plugins import near_hint
    from uwf_core.plugins.scan import AGENTS

    listed = f" ({', '.join(sorted(names))})" if names else ""
    usual = f"`uwf agent list` shows what there is{listed}; a program is named by its path"
    return near_hint(word, names, (AGENTS,)) or usual
