"""Bindings of roles: `--agent ROLE=AGENT` as data, the longest path wins, a child gets the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_core.agents.bindings import Bindings, check_paths, child_bindings, parse_bindings
from uwf_core.errors import UnknownIdError, UsageError

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,4}", fullmatch=True)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
ROLES = {"plan": None, "develop": "inner"}
INNER = {"reviewer": None, "again": "inner"}


@pytest.mark.parametrize(
    ("word", "path", "agent"),
    [
        ("reviewer=claude-code", "reviewer", "claude-code"),
        ("develop/reviewer=./agent.py --fast", "develop/reviewer", "./agent.py --fast"),
        ("a=b=c", "a", "b=c"),
        ("a=", "a", ""),
    ],
)
def test_a_path_of_roles_before_an_equals_sign_is_a_binding(
    word: str, path: str, agent: str
) -> None:
    assert parse_bindings([word]) == Bindings(None, {path: agent})


@pytest.mark.parametrize("word", ["mock", "./agent.py --to=x", "a b=c", "/bin/x=y", "=x", "a//b=c"])
def test_any_other_word_is_the_agent_of_all_roles(word: str) -> None:
    assert parse_bindings([word]) == Bindings(word, {})


@pytest.mark.parametrize("words", [["mock", "human"], ["a=mock", "a=human"]])
def test_two_agents_for_the_same_roles_are_an_error(words: list[str]) -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_bindings(words)


@given(st.dictionaries(PATHS, NAMES), st.none() | NAMES)
def test_bindings_are_what_their_words_say(roles: dict[str, str], agent: str | None) -> None:
    words = [f"{path}={word}" for path, word in roles.items()]
    assert parse_bindings([*words, *([agent] if agent else [])]) == Bindings(agent, roles)


@given(st.dictionaries(PATHS, NAMES), st.none() | NAMES, st.lists(NAMES, max_size=3), NAMES)
def test_the_longest_path_wins_at_every_depth(
    roles: dict[str, str], agent: str | None, calls: list[str], role: str
) -> None:
    """A role deep in the tree has the agent of the longest path that leads to it."""
    below = Bindings(agent, roles)
    for name in calls:
        below = child_bindings(below, name)
    chosen = below.roles.get(role, below.agent)
    full = [*calls, role]
    prefixes = ["/".join(full[:end]) for end in range(len(full), 0, -1)]
    assert chosen == next((roles[path] for path in prefixes if path in roles), agent)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("plna", "unknown role 'plna'"),
        ("plan/x", "the role before 'x' calls no workflow"),
        ("develop/reviwer", "unknown role 'reviwer' in 'develop/reviwer'"),
        ("develop/again/again/x", "unknown role 'x'"),
    ],
)
def test_a_path_that_leads_to_no_role_is_an_error(path: str, said: str) -> None:
    with pytest.raises(UnknownIdError) as caught:
        check_paths([path], "outer", {"outer": ROLES, "inner": INNER}.__getitem__)
    assert said in caught.value.message and caught.value.where == "--agent"


def test_paths_lead_through_called_workflows_and_hints_name_the_nearest_role() -> None:
    roles_of = {"outer": ROLES, "inner": INNER}.__getitem__
    check_paths(
        ["plan", "develop", "develop/reviewer", "develop/again/reviewer"], "outer", roles_of
    )
    with pytest.raises(UnknownIdError) as caught:
        check_paths(["plna"], "outer", roles_of)
    assert caught.value.hint == "did you mean 'plan'?"
