"""Nobody takes a name of uwf-core, or has a name that cannot be typed or passes for another."""

import json

import pytest
from tests.beside import beside
from wheels import build_wheel, install

from uwf_core.operations.rows import own_commands
from uwf_core.plugins.scan import CORE, scan
from uwf_core.plugins.status import RESERVED
from uwf_core.stores.open import HOUSE

COMMANDS = own_commands().rows

CLAIMS = [
    ("uwf.agents", "mock"),
    ("uwf.agents", "human"),
    ("uwf.extractors", "frontmatter"),
    ("uwf.stores", "sqlite"),
    ("uwf.commands", "thread"),
]
ODD = ["--version", "a b", "../../evil", "mo\u200bck", "mo\u202eck", "m\0ck", "m\x1b[2Jck", "mосk"]
RAISES = {"thief.py": "raise SystemExit('it was imported')"}


def claim(installation, group: str, name: str) -> None:
    """Install the distribution `thief`, which claims a name."""
    wheel = build_wheel(installation.wheels, "thief", {group: {name: "thief"}}, RAISES)
    install(wheel, installation.site)


@pytest.mark.parametrize(("group", "name"), CLAIMS)
def test_whoever_claims_a_name_of_the_core_is_shadowed_and_the_core_wins(installation, group, name):
    claim(installation, group, name)
    plugins = installation.uwf("plugin", "list", "--all").document["plugins"]
    status = {each["distribution"]: each["status"] for each in plugins if each["name"] == name}
    expected = {"thief": "shadowed", CORE: "ready"}
    assert status == ({"thief": "shadowed"} if group == "uwf.commands" else expected)
    done = installation.uwf("thread", "exec", installation.thread(), "--agent", "mock")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done
    checked = installation.uwf("plugin", "check", "thief")
    assert checked.exit_code == 2
    (plugin,) = checked.document["plugins"]
    assert plugin["status"] == "shadowed"
    assert "thief 1.2" in plugin["reason"]
    assert "uwf config set --add plugins.block thief" in plugin["hint"]


def test_doctor_names_the_shadowed_one_until_it_is_blocked(installation):
    claim(installation, "uwf.extractors", "frontmatter")
    done = installation.uwf("doctor", UWF_BLOCK_PLUGINS=beside())
    checks = [each for each in done.document["checks"] if each["name"] == "extractors frontmatter"]
    assert {each["state"]: each["message"].partition(":")[0] for each in checks} == {
        "error": "thief 1.2 is shadowed",
        "ok": f"{CORE} {version_of_core()}",
    }
    again = installation.uwf("doctor", UWF_BLOCK_PLUGINS=f"{beside()},thief")
    assert (again.exit_code, again.document["healthy"]) == (0, True)


def test_the_list_of_agents_shows_both_and_the_core_s_own_is_the_default(installation):
    claim(installation, "uwf.agents", "mock")
    installation.uwf("config", "set", "defaultAgent", "mock")
    rows = installation.uwf("agent", "list").document["agents"]
    assert {
        each["distribution"]: (each["status"], each["default"])
        for each in rows
        if each["name"] == "mock"
    } == {"thief": ("shadowed", False), CORE: ("ready", True)}


def test_every_built_in_name_is_reserved():
    own: dict[str, set[str]] = {"uwf.stores": {spec.name for spec in HOUSE}}
    own["uwf.commands"] = set(COMMANDS)
    owners = {owner for names in RESERVED.values() for owner in names.values()}
    for found in scan():
        if found.distribution in owners:
            own.setdefault(found.group, set()).add(found.name)
    assert own == {group: set(names) for group, names in RESERVED.items()}


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_an_odd_name_is_rejected_with_the_distribution(installation, name):
    claim(installation, "uwf.commands", name)
    checked = installation.uwf("plugin", "check", "thief")
    assert checked.exit_code == 1
    (plugin,) = checked.document["plugins"]
    assert plugin["status"] == "broken"
    assert "thief 1.2" in plugin["reason"]
    assert ascii(name) in plugin["reason"]
    assert plugin["hint"].endswith("uwf config set --add plugins.block thief"), (
        "its own name cannot be typed"
    )
    checks = installation.uwf("doctor", UWF_BLOCK_PLUGINS=beside()).document["checks"]
    assert "uwf plugin check thief" in [each["hint"] for each in checks]
    text = installation.uwf("plugin", "list", "--format", "text").stdout
    assert text.isascii() and "\x1b" not in text and "\0" not in text
    assert "thief" not in installation.uwf("--help").stdout
    assert installation.uwf("--version").stdout.startswith("uwf ")


@pytest.mark.parametrize("name", ["program", "workflow"])
def test_no_agent_has_the_name_that_a_step_without_an_agent_records(installation, name):
    claim(installation, "uwf.agents", name)
    (plugin,) = installation.uwf("plugin", "check", "thief").document["plugins"]
    assert plugin["status"] == "broken"
    assert "records as its agent" in plugin["reason"]


def test_a_command_with_an_odd_name_is_answered_with_its_distribution(installation):
    claim(installation, "uwf.commands", "a b")
    done = installation.uwf("a b")
    assert done.exit_code == 1
    assert "thief 1.2" in json.loads(done.stderr)["error"]["message"]


def version_of_core() -> str:
    from uwf_core import __version__

    return __version__
