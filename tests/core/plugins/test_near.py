"""Who mistypes a name, or names an adapter that is not installed, is told what to type next."""

import pytest

from uwf_core.errors import PluginError
from uwf_core.plugins.family import near_hint
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import AGENTS, COMMANDS


@pytest.mark.parametrize(
    ("word", "group", "hint"),
    [
        ("mok", AGENTS, "did you mean mock?"),
        ("hermes", AGENTS, "next: PIP install uwf-agent-hermes"),
        (
            "hermse",
            AGENTS,
            "did you mean hermes? install uwf-agent-hermes: PIP install uwf-agent-hermes",
        ),
        (
            "uwf-agent-hermse",
            AGENTS,
            "did you mean uwf-agent-hermes? install uwf-agent-hermes: PIP install uwf-agent-hermes",
        ),
        ("eval", COMMANDS, "next: PIP install uwf-eval"),
        ("evla", COMMANDS, "did you mean eval? install uwf-eval: PIP install uwf-eval"),
        ("evla", AGENTS, None),
        ("nothing-of-the-kind", AGENTS, None),
    ],
)
def test_a_near_miss_names_what_is_meant_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, word: str, group: str, hint: str | None
) -> None:
    monkeypatch.setattr("uwf_core.plugins.repair.install_line", lambda name: f"PIP install {name}")
    assert near_hint(word, ["mock", "human"], (group,)) == hint


def test_what_is_installed_is_not_installed_again() -> None:
    assert near_hint("hermse", ["hermes"], (AGENTS,)) == "did you mean hermes?"


@pytest.mark.parametrize("word", ["uwf-agent-nothing-like-it", "zzz"])
def test_where_nothing_is_near_what_is_there_is_listed(word: str) -> None:
    with pytest.raises(PluginError, match=word) as failure:
        Plugins().named(word)
    assert "installed: " in (failure.value.hint or "")
    assert "mock" in (failure.value.hint or "")
