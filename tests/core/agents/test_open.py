"""From a choice to an agent: what a plugin does when it is opened is named and contained."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from uwf_core.agents.choose import Choice
from uwf_core.agents.open import OpenAgent, open_agent
from uwf_core.api.agent import AgentContext, AgentSpec
from uwf_core.errors import ConfigError, PluginBroken, Unavailable

GOOD = """
from dataclasses import dataclass
print("a plugin prints while it is imported")

@dataclass(frozen=True)
class Options:
    max_turns: int = 3

class Agent:
    def __init__(self, options, context):
        print("and while it is made")
        self.options, self.context = options, context
    def run(self, request, sink): ...
    def fork(self, session, request): ...
    def ask(self, request, sink): ...
    def close(self): ...
"""

Open = Callable[..., OpenAgent]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens the plugin whose module has the source given."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def open_source(
        source: str,
        factory: str = "uwf_test_plugin:Agent",
        options_class: str | None = "uwf_test_plugin:Options",
        capabilities: frozenset[str] = frozenset(("continue",)),
        **options: object,
    ) -> OpenAgent:
        (tmp_path / "uwf_test_plugin.py").write_text(source)
        spec = AgentSpec(
            name="test",
            summary="",
            factory=factory,
            options=options_class,
            capabilities=capabilities,
        )
        choice = Choice(
            kind="plugin",
            word="alias",
            source="test",
            name="test",
            plugin="test",
            options=options,
            where="agents -> alias",
        )
        context = AgentContext(name="alias", state_dir=str(tmp_path / "state"))
        return open_agent(choice, lambda name: spec, context, distribution="uwf-agent-test 1.2")

    yield open_source
    sys.modules.pop("uwf_test_plugin", None)


def test_an_agent_is_made_with_its_options_and_its_context(opened: Open) -> None:
    agent = opened(GOOD, maxTurns=7)
    assert agent.agent.options.max_turns == 7  # type: ignore[attr-defined]
    assert agent.agent.context.name == "alias"  # type: ignore[attr-defined]
    assert agent.name == "test"
    assert "uwf-agent-test 1.2" in agent.origin


def test_capabilities_that_this_uwf_does_not_know_are_not_used(opened: Open) -> None:
    agent = opened(GOOD, capabilities=frozenset(("continue", "telepathy")))
    assert agent.capabilities == {"continue"}


def test_what_a_plugin_prints_while_it_is_opened_never_reaches_our_stdout(
    opened: Open, capfd: pytest.CaptureFixture[str]
) -> None:
    opened(GOOD)
    out, err = capfd.readouterr()
    assert out == ""
    assert "while it is imported" in err
    assert "while it is made" in err


def test_options_for_an_agent_without_any_are_refused(opened: Open) -> None:
    with pytest.raises(ConfigError, match="takes no options") as failure:
        opened(GOOD, options_class=None, maxTurns=7)
    assert failure.value.where == "agents -> alias -> maxTurns"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import no_such_module_anywhere", "no_such_module_anywhere"),
        ("this is no Python", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("1 / 0", "ZeroDivisionError"),
        ("Options = 5", "has no attribute 'Agent'"),
        ("class Agent: ...\nOptions = 5", "not a dataclass"),
        (
            "from dataclasses import dataclass\nclass Agent: ...\n@dataclass\nclass Options:\n"
            "    max_turns: 'NoSuchType' = 1",
            "NoSuchType",
        ),
        (GOOD.replace("class Agent:", "class Agent0:") + "\nAgent = 5", "not callable"),
        (GOOD.replace("def close(self)", "def shut(self)"), "not an Agent"),
        (GOOD.replace('print("and while it is made")', "raise SystemExit"), "it called exit"),
    ],
)
def test_a_broken_plugin_is_one_error_with_its_name_distribution_cause_and_cure(
    opened: Open, source: str, cause: str
) -> None:
    with pytest.raises(PluginBroken) as failure:
        opened(source)
    message = failure.value.message
    assert "'test'" in message
    assert "uwf-agent-test 1.2" in message
    assert cause in message
    assert "uwf config set --add plugins.block" in (failure.value.hint or "")
    assert failure.value.exit_code == 1


def test_a_failure_that_the_factory_means_stays_what_it_is(opened: Open) -> None:
    source = GOOD.replace(
        'print("and while it is made")',
        'from uwf_core.api import Unavailable; raise Unavailable("not signed in")',
    )
    with pytest.raises(Unavailable, match="not signed in"):
        opened(source)


def test_a_command_in_the_home_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    choice = Choice(kind="command", word="~/a", source="", name="~/a", command=("~/a", "~/b"))
    context = AgentContext(name="~/a", state_dir=str(tmp_path))

    def nobody(name: str) -> AgentSpec:
        raise AssertionError(name)

    agent = open_agent(choice, nobody, context)
    assert agent.agent._argv == (str(tmp_path / "a"), "~/b")  # type: ignore[attr-defined]
