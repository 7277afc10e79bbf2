"""A user of the original uwf gets a hint for its folder, its words and its programs."""

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.import_original.homes import write_early_home, write_home

from uwf_core.agents.wire import read_reply
from uwf_core.cli.main import Root, main
from uwf_core.config.original import first_notice
from uwf_core.config.settings import read_settings
from uwf_core.engine.open_engine import open_engine
from uwf_core.errors import ConfigError, UwfError
from uwf_core.fields.mismatch import FieldFault
from uwf_core.workflow.template import TemplateError, parse


def notices(user: Path, via: str = "cli", count: int = 0) -> list[str]:
    """What opening the store of a user reports."""
    found: list[str] = []
    engine = open_engine(
        env={"HOME": str(user)},
        cwd=str(user),
        on_fault=lambda fault: found.append(str(fault)),
        via=via,
    )
    assert len(engine.store.rows("@uwf/thread/")) == count
    engine.close()
    return found


def test_threads_of_the_original_are_mentioned_once(tmp_path: Path) -> None:
    write_home(tmp_path)
    (tmp_path / ".uwf").chmod(0o700)
    command = f"uwf cas import {tmp_path}"
    assert notices(tmp_path) == [f"found threads of the original uwf; next: {command}"]
    assert notices(tmp_path) == []


def test_the_command_of_the_notice_can_be_pasted(tmp_path: Path) -> None:
    user = tmp_path / "a user; false"
    write_home(user)
    (user / ".uwf").chmod(0o700)
    (notice,) = notices(user)
    assert shlex.split(notice.partition("next: ")[2])[3:] == [str(user)]


def test_who_imports_gets_no_such_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_home(tmp_path)
    (tmp_path / ".uwf").chmod(0o700)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("UWF_HOME", raising=False)
    assert main(["cas", "import", str(tmp_path), "--format", "text"]) == 0
    printed = capsys.readouterr()
    assert "threads: 9 imported" in printed.out
    assert printed.err == ""
    assert notices(tmp_path, via="cli", count=9) == []


def test_a_program_that_uses_uwf_gets_no_such_notice(tmp_path: Path) -> None:
    write_home(tmp_path)
    (tmp_path / ".uwf").chmod(0o700)
    assert notices(tmp_path, via="python") == []
    assert len(notices(tmp_path)) == 1


def test_the_lists_of_the_first_versions_are_mentioned_too(tmp_path: Path) -> None:
    home = write_early_home(tmp_path)
    home.chmod(0o700)
    assert first_notice(str(home), {"HOME": str(tmp_path)}) is not None


def test_without_an_original_nothing_is_said_or_created(tmp_path: Path) -> None:
    assert notices(tmp_path) == []
    assert first_notice(str(tmp_path / ".uwf"), {}) is None
    assert not (tmp_path / ".uwf/original.noticed").exists()


@pytest.mark.parametrize("key", ["host", "gateway"])
def test_a_configuration_of_the_original_is_recognized(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_settings(f"agents: {{hermes: {{{key}: x}}}}\n".encode(), str(tmp_path / "config.yaml"))
    assert "original uwf" in raised.value.problems[0]["hint"]


def test_another_unknown_key_has_its_usual_hint(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        read_settings(b"agents: {hermes: {comand: x}}\n", str(tmp_path / "config.yaml"))
    assert raised.value.problems[0]["hint"] == "did you mean 'command'?"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("thread list --take 5", "use `--limit N`"),
        ("thread list --skip 5", "use `--offset N`"),
        ("thread read @last --start", "leave it out: `uwf thread read` begins with the task"),
        ("thread list --format raw-json", "use `--format json`: it prints the bare document"),
        ("thread join x", "use `uwf thread wait THREAD`"),
        ("workflow validate x.yaml", "use `uwf workflow check FILE`"),
        ("config list", "use `uwf config show`"),
        ("import-original x", "use `uwf cas import FOLDER`"),
        ("cas put-text x", "use `uwf cas put string FILE`"),
        ("cas schema get x", "use `uwf cas schema show TYPE`"),
        ("skill cli", "use `uwf prompt bootstrap`"),
        ("log clean", "the log keeps only its newest 8 MB"),
        ("log show --thread x", "use `uwf log list --thread THREAD`"),
        ("prompt setup", "use `uwf setup`"),
        ("thread list --limt 5", "`uwf thread list --help` prints its usage"),
    ],
)
def test_a_retired_word_is_answered_with_todays(
    words: str, hint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UWF_HOME", str(tmp_path))
    from uwf_core.cli.error_report import explain

    done = CliRunner().invoke(Root(), words.split(), standalone_mode=False)
    assert done.exception is not None
    error = explain(done.exception)
    assert isinstance(error, UwfError)
    assert (error.exit_code, error.hint) == (2, hint)


def test_an_adapter_of_the_original_is_recognized_by_its_reply() -> None:
    with pytest.raises(FieldFault, match="original uwf") as raised:
        read_reply(b'{"stepHash": "X", "detailHash": "Y", "role": "writer", "frontmatter": {}}')
    assert raised.value.hint is not None


def test_a_filter_of_liquid_is_answered_with_the_plain_name() -> None:
    with pytest.raises(TemplateError) as raised:
        parse('Files: {{ files | join: ", " }}')
    assert raised.value.hint == "write {{files}}: there are no filters, and a list renders as JSON"
