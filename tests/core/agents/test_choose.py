"""Which agent runs a role."""

import re
from collections.abc import Collection
from typing import Literal

import pytest

from uwf_core.agents.choose import (
    AgentCatalog,
    AgentPreferences,
    Alias,
    Choice,
    RolePlayer,
    choose_agent,
    recorded_agent,
    resolve_agent,
)
from uwf_core.errors import ConfigError, UnknownIdError, UsageError

INSTALLED = ("mock", "human", "hermes")


def catalog(installed: Collection[str] = INSTALLED, **aliases: Alias) -> AgentCatalog:
    return AgentCatalog(aliases=aliases, installed=lambda: installed, folder="/home/ada/project")


def choose(candidates: AgentPreferences, role: str = "writer") -> str:
    return choose_agent(candidates, catalog(), workflow="w", player=RolePlayer(role)).word


def test_the_strongest_word_that_is_said_chooses() -> None:
    overrides = {"w": {"writer": "hermes"}, "other": {"writer": "mock"}}
    everything = {"flag": "mock", "thread": "human", "overrides": overrides, "default": "mock"}
    assert choose(AgentPreferences(**everything)) == "mock"
    assert choose(AgentPreferences(**{**everything, "flag": None})) == "human"
    assert choose(AgentPreferences(**{**everything, "flag": None, "thread": None})) == "hermes"
    assert choose(AgentPreferences(overrides=overrides, default="mock"), role="critic") == "mock"


def test_what_a_role_suggests_is_weaker_than_any_choice_of_the_user_but_the_default() -> None:
    suggests = AgentPreferences(suggested="hermes", default="mock")
    assert choose(suggests) == "hermes"
    assert choose(suggests._replace(overrides={"w": {"writer": "human"}})) == "human"
    assert choose(suggests._replace(thread="human")) == "human"
    assert choose(suggests._replace(flag="mock")) == "mock"


@pytest.mark.parametrize(("kind", "name"), [("human", "human"), ("program", "program")])
def test_a_role_that_names_a_person_or_a_program_is_played_by_nothing_else(
    kind: Literal["human", "program"], name: str
) -> None:
    """Whatever an alias of the same name means."""
    everything = AgentPreferences("mock", "mock", {"w": {"writer": "mock"}}, "mock", "mock")
    known = catalog(human=Alias(use="mock"), program=Alias(use="mock"))
    player = RolePlayer("writer", kind, suggested="mock")
    chosen = choose_agent(everything, known, workflow="w", player=player)
    assert (chosen.name, chosen.plugin) == (name, "human" if kind == "human" else None)


@pytest.mark.parametrize("kind", ["agent", "human", "program"])
def test_a_binding_of_the_role_replaces_the_usual_player(
    kind: Literal["agent", "human", "program"],
) -> None:
    bound = AgentPreferences(thread="mock", default="mock", bound="hermes")
    player = RolePlayer("writer", kind)
    assert choose_agent(bound, catalog(), workflow="w", player=player).name == "hermes"
    flagged = choose_agent(
        bound._replace(flag="mock"), catalog(), workflow="w", player=RolePlayer("writer")
    )
    assert flagged.name == "mock"


def test_it_is_said_who_chose() -> None:
    chosen = choose_agent(
        AgentPreferences(overrides={"w": {"writer": "mock"}}),
        catalog(),
        workflow="w",
        player=RolePlayer("writer"),
    )
    assert chosen.source == "agentOverrides -> w -> writer"


def test_where_nobody_says_the_role_is_named_and_the_cure() -> None:
    with pytest.raises(ConfigError, match="'writer'") as failure:
        choose(AgentPreferences())
    assert "next: uwf setup" in (failure.value.hint or "")


def test_an_installed_agent_is_chosen_by_its_name_without_configuration() -> None:
    assert resolve_agent("hermes", catalog()) == Choice(
        kind="plugin",
        word="hermes",
        source="--agent",
        name="hermes",
        plugin="hermes",
        where="agents -> hermes",
    )


def test_an_alias_goes_before_an_installed_agent_and_records_what_it_resolved_to() -> None:
    choice = resolve_agent("mock", catalog(mock=Alias(use="hermes", options={"maxTurns": 3})))
    assert (choice.word, choice.name, choice.plugin) == ("mock", "hermes", "hermes")
    assert choice.options == {"maxTurns": 3}
    assert choice.where == "agents -> mock"


def test_an_alias_can_be_a_command_with_declared_capabilities() -> None:
    alias = Alias(command="my agent", args=("-v", "a b"), capabilities=("continue", "fork"))
    choice = resolve_agent("mine", catalog(mine=alias))
    assert choice.kind == "command"
    assert choice.command == ("my agent", "-v", "a b")
    assert choice.capabilities == {"continue", "fork"}
    assert choice.name == "'my agent' -v 'a b'"


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("python agent.py", ("python", "agent.py")),
        ("python 'my agent.py' -x", ("python", "my agent.py", "-x")),
        ("./agent.sh", ("/home/ada/project/agent.sh",)),
        ("bin/agent", ("/home/ada/project/bin/agent",)),
        ("/opt/agent", ("/opt/agent",)),
        ("~/agent", ("~/agent",)),
        ("mock --script x", ("mock", "--script", "x")),
    ],
)
def test_a_blank_or_a_separator_makes_a_command_line(word: str, command: tuple[str, ...]) -> None:
    choice = resolve_agent(word, catalog())
    assert (choice.kind, choice.command) == ("command", command)
    assert choice.capabilities == frozenset()


@pytest.mark.parametrize("word", ["uwf-hermes", "/usr/bin/uwf-hermes"])
def test_the_own_program_of_an_installed_agent_is_that_agent(word: str) -> None:
    """The configurations of the original name them so."""
    known = catalog(mine=Alias(command=word, options={"maxTurns": 3}))
    known = known._replace(on_path=lambda: {"uwf-hermes": "/usr/bin/uwf-hermes"})
    for each in (word, "mine"):
        choice = resolve_agent(each, known)
        assert (choice.kind, choice.plugin, choice.name) == ("plugin", "hermes", "hermes")
        assert recorded_agent(word, known).plugin == "hermes"
    assert resolve_agent("mine", known).options == {"maxTurns": 3}


@pytest.mark.parametrize(
    ("command", "args"),
    [("uwf-hermes", ("x",)), ("/opt/uwf-hermes", ()), ("uwf-other", ()), ("hermes", ())],
)
def test_another_program_of_a_similar_name_stays_a_command(
    command: str, args: tuple[str, ...]
) -> None:
    known = catalog(mine=Alias(command=command, args=args))
    assert resolve_agent("mine", known).command == (command, *args)


def test_a_command_line_needs_no_look_at_what_is_installed() -> None:
    def look() -> Collection[str]:
        raise AssertionError("nobody needs to know")

    aliases = {"mine": Alias(command="agent")}
    strict = AgentCatalog(aliases=aliases, installed=look, folder="/")
    assert resolve_agent("a b", strict).kind == "command"
    assert resolve_agent("mine", strict).kind == "command"


def test_an_unknown_agent_gets_near_misses() -> None:
    with pytest.raises(UnknownIdError, match="'hermse'") as failure:
        resolve_agent("hermse", catalog(helper=Alias(use="mock")))
    assert failure.value.hint == "did you mean hermes?"
    with pytest.raises(UnknownIdError) as failure:
        resolve_agent("xyz", catalog())
    assert "hermes, human, mock" in (failure.value.hint or "")
    assert failure.value.exit_code == 2


@pytest.mark.parametrize("use", [False, True])
@pytest.mark.parametrize(
    ("word", "meant", "distribution"),
    [
        ("hermse", "did you mean hermes? install uwf-agent-hermes: ", "uwf-agent-hermes"),
        ("claude", "did you mean claude-code? install uwf-agent-c", "uwf-agent-claude-code"),
        ("uwf-agent-hermse", "did you mean uwf-agent-hermes? install ", "uwf-agent-hermes"),
        ("hermes", "next: ", "uwf-agent-hermes"),
        ("uwf-agent-hermes", "next: ", "uwf-agent-hermes"),
    ],
)
def test_an_adapter_that_is_not_installed_comes_with_the_command_that_installs_it(
    word: str, meant: str, distribution: str, use: bool
) -> None:
    few = AgentCatalog(aliases={"mine": Alias(use=word)}, installed=lambda: ("mock",), folder="/")
    with pytest.raises((UnknownIdError, ConfigError)) as failure:
        resolve_agent("mine" if use else word, few)
    hint = failure.value.hint or ""
    assert hint.startswith(meant)
    assert re.search(rf"install .*\b{distribution}\b", hint)


def test_the_hint_of_an_unknown_agent_lists_the_known_ones() -> None:
    few = AgentCatalog(aliases={"mine": Alias(use="mock")}, installed=lambda: ("mock",), folder="/")
    with pytest.raises(UnknownIdError) as failure:
        resolve_agent("zzzzzz", few)
    assert (failure.value.hint or "").startswith("known: mine, mock; ")


@pytest.mark.parametrize(
    ("alias", "where", "words"),
    [
        (Alias(use="hermse"), "agents -> mine -> use", "unknown agent 'hermse'"),
        (Alias(), "agents -> mine", "neither `use` nor `command`"),
        (
            Alias(command="x", capabilities=("structured",)),
            "agents -> mine -> capabilities",
            "'structured'",
        ),
    ],
)
def test_a_wrong_alias_is_an_error_of_the_configuration(
    alias: Alias, where: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as failure:
        resolve_agent("mine", catalog(mine=alias))
    assert failure.value.where == where


@pytest.mark.parametrize("word", ["", " ", "\t", "python 'unclosed", "'' x", "mo\0ck"])
def test_a_blank_or_broken_word_is_an_error(word: str) -> None:
    with pytest.raises(UsageError) as failure:
        resolve_agent(word, catalog())
    assert failure.value.exit_code == 2


def test_the_agent_of_a_step_is_found_again_by_what_the_step_recorded() -> None:
    agents = catalog(
        mine=Alias(command="agent", args=("-v",), capabilities=("continue",)),
        plain=Alias(command="solo"),
        mock=Alias(use="hermes"),
        human=Alias(use="human", options={"a": 1}),
    )
    for word in ("mine", "plain", "human", "python agent.py"):
        choice = resolve_agent(word, agents, source="the step's agent")
        assert recorded_agent(choice.name, agents) == choice
    assert recorded_agent("mock", agents).plugin == "mock"
    assert recorded_agent("hermes", agents).options == {}
    with pytest.raises(UnknownIdError, match="'gone'"):
        recorded_agent("gone", agents)


def test_an_adapter_that_people_read_about_gets_the_command_that_installs_it() -> None:
    without = AgentCatalog(aliases={}, installed=lambda: ["mock"], folder="/")
    with pytest.raises(UnknownIdError) as failure:
        resolve_agent("claude-code", without)
    hint = failure.value.hint or ""
    assert "install" in hint
    assert hint.endswith("uwf-agent-claude-code")
