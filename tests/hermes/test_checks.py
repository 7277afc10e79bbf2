"""What `uwf agent check` says of Hermes: what is there, what is missing, and no secret."""

import os

import pytest

from uwf_agent_hermes.checks import checks
from uwf_agent_hermes.options import HermesOptions
from uwf_core.api import CheckRequest, read_options
from uwf_core.errors import ConfigError
from uwf_testing.child_program import ScriptedProgram

SECRET = "sk-never-shown"


@pytest.fixture
def look(tmp_path):
    """The results of the checks, by name."""

    def look(*version, env=None, **options):
        if version:
            ScriptedProgram(tmp_path, "hermes", list(version))
        request = CheckRequest(
            thread="",
            role="",
            step_number=0,
            cwd=str(tmp_path),
            options=HermesOptions(**options),
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), **(env or {})},
            name="hermes",
            state_dir=str(tmp_path / "state"),
        )
        return {check.name: check.run() for check in checks(request)}

    return look


def test_a_program_that_is_missing_is_an_error_with_the_cure(look):
    found = look(command="no-such-hermes")
    assert found["program"].state == "error"
    assert "hermes-agent[acp]" in found["program"].hint
    assert "version" not in found


def test_the_program_and_a_known_version_are_shown(look, tmp_path):
    found = look("0.19.0")
    assert found["program"].message == str(tmp_path / "hermes")
    assert (found["version"].state, found["version"].message) == ("ok", "0.19.0")


def test_an_unknown_version_works_with_a_notice(look):
    version = look("0.42.1")["version"]
    assert version.state == "warning"
    assert "0.42.1" in version.message


def test_a_hermes_without_the_protocol_is_an_error(look):
    version = look({"error": "no module named acp"}, {"exit": 1})["version"]
    assert version.state == "error"
    assert "acp" in version.hint


def test_nothing_configured_is_an_error(look):
    hint = look("0.19.0")["configuration"].hint
    assert hint.startswith("run `hermes setup`; or name the variable of your key in `env`")


def test_keys_are_named_and_never_shown(look, tmp_path):
    home = tmp_path / "other"
    home.mkdir()
    (home / "config.yaml").write_text("{}")
    (home / ".env").write_text(f"#NO_API_KEY=x\nexport OPENROUTER_API_KEY={SECRET}\nEMPTY_KEY=\n")
    found = look("0.19.0", env={"XAI_API_KEY": SECRET}, home=str(home))
    said = found["configuration"]
    assert said.state == "ok"
    assert "keys in OPENROUTER_API_KEY, XAI_API_KEY" in said.message
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    "options",
    [
        {"maxTurns": 0},
        {"timeout": -1},
        {"permission": "perhaps"},
        {"provider": "openrouter"},
        {"command": " "},
    ],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(ConfigError):
        read_options(HermesOptions, options, where="agents -> hermes")
