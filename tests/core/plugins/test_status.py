"""Ready, blocked, incompatible, duplicate: known before anything is imported."""

import pytest

from uwf_core.plugins.repair import install_line

from .conftest import Site

STATUSES = "{p.found.name: [p.status.value, p.reason] for p in Plugins(%s).list(['uwf.agents'])}"


def statuses(site: Site, arguments: str = "") -> dict[str, list[str]]:
    found: dict[str, list[str]] = site.value(STATUSES % arguments)
    return found


def test_a_plugin_that_fits_is_ready(site: Site) -> None:
    site.agent("one", requires=["uwf-core>=0.0.1,<99"])
    assert statuses(site)["one"] == ["ready", ""]


@pytest.mark.parametrize("name", ["one", "demo-one", "Demo_One"])
def test_a_plugin_is_blocked_by_its_name_or_its_distribution_and_never_imported(
    site: Site, name: str
) -> None:
    site.agent("one", "print('imported'); raise SystemExit(3)")
    assert statuses(site, f"[{name!r}]")["one"][0] == "blocked"
    error = site.error("load('uwf.agents', 'one')", f"[{name!r}]")
    assert error["code"] == "plugin"
    assert error["exitCode"] == 2
    assert "blocked" in error["message"]
    assert (
        error["hint"]
        == f"next: uwf config set --remove plugins.block {'one' if name == 'one' else 'demo-one'}"
    )


def test_a_blocked_built_in_is_blocked_like_any_other(site: Site) -> None:
    assert "blocked" in site.error("load('uwf.agents', 'mock')", "['mock']")["message"]


def test_a_plugin_for_another_uwf_core_is_incompatible_without_being_imported(site: Site) -> None:
    site.agent("one", "raise SystemExit(3)", requires=["uwf-core>=99"])
    status, reason = statuses(site)["one"]
    assert status == "incompatible"
    assert ">=99" in reason
    error = site.error("load('uwf.agents', 'one')")
    assert error["exitCode"] == 2
    assert "demo-one 1.0" in error["message"]
    assert "demo-one" in error["hint"]


def test_a_demand_under_a_marker_that_does_not_hold_is_no_demand(site: Site) -> None:
    site.agent("one", requires=["uwf-core>=99; python_version < '3'"])
    assert statuses(site)["one"][0] == "ready"


def test_a_demand_that_cannot_be_read_is_incompatible_and_quoted(site: Site) -> None:
    site.agent("one", requires=["uwf-core >>> 1"])
    assert statuses(site)["one"][0] == "incompatible"
    assert ">>> 1" in statuses(site)["one"][1]


def test_two_distributions_that_claim_one_name_both_lose_and_are_both_named(site: Site) -> None:
    site.agent("one")
    site.add("other", {"uwf.agents": {"one": "demo_one"}}, version="7")
    assert statuses(site)["one"][0] == "duplicate"
    error = site.error("load('uwf.agents', 'one')")
    assert error["exitCode"] == 2
    assert "demo-one 1.0" in error["message"]
    assert "other 7" in error["message"]


def test_blocking_one_of_two_claimants_settles_it(site: Site) -> None:
    site.agent("one")
    site.add("other", {"uwf.agents": {"one": "nowhere"}})
    records = "[r.name for r in Plugins(['other']).load('uwf.agents', 'one')]"
    assert site.value(records) == ["one"]


def test_nobody_can_take_the_name_of_a_built_in(site: Site) -> None:
    site.add("other", {"uwf.agents": {"mock": "nowhere"}})
    records = "[r.factory for r in Plugins().load('uwf.agents', 'mock')]"
    assert site.value(records) == ["uwf_core.testing.mock:MockAgent"]


def test_a_blocked_built_in_does_not_give_its_name_away(site: Site) -> None:
    site.add("other", {"uwf.agents": {"mock": "nowhere"}})
    error = site.error("load('uwf.agents', 'mock')", "['uwf-core']")
    assert "(uwf-core" in error["message"]
    assert "is blocked" in error["message"]


def test_an_unknown_name_is_answered_with_near_misses(site: Site) -> None:
    site.agent("hermit")
    error = site.error("found('uwf.agents', 'hermt')")
    assert error["message"] == "unknown agent 'hermt'"
    assert "hermit" in error["hint"]


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("builtin", "uwf-agent-builtin"),
        ("hermes", "uwf-agent-hermes"),
        ("claude-code", "uwf-agent-claude-code"),
    ],
)
def test_a_known_adapter_that_is_not_installed_is_answered_with_its_installation(
    site: Site, name: str, distribution: str
) -> None:
    setup = (
        "from uwf_core.plugins.scan import scan\n"
        "known = [f for f in scan() if not f.distribution.startswith('uwf-agent')]"
    )
    code = (
        f"{setup}\nfrom uwf_core.errors import PluginError\n"
        f"try: Plugins(installed=known).found('uwf.agents', {name!r})\n"
        "except PluginError as error: print(error.hint)"
    )
    assert site.run(code).stdout.strip().endswith(install_line(distribution))
