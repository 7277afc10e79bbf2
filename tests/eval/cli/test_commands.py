"""The commands as a person types them, in this process."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from uwf_core.client import Client
from uwf_core.commands import main
from uwf_eval.cli.main import root

Call = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    import signal

    monkeypatch.setenv("UWF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}

    def run(words: str) -> tuple[int, str, str]:
        code = main(words.split(), None, lambda: root("uwf-eval"))
        for number, handler in handlers.items():
            signal.signal(number, handler)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_new_task_passes_its_check_and_is_not_overwritten(call: Call, tmp_path: Path) -> None:
    code, out, _ = call("new tasks/mine")
    assert code == 0 and json.loads(out)["name"] == "mine"
    assert "name: mine" in (tmp_path / "tasks/mine/task.yaml").read_text()
    assert call("check tasks/mine --format text") == (0, "valid\n", "")
    code, out, err = call("new tasks/mine")
    assert (code, out) == (2, "") and "the folder is not empty" in err
    assert call("new b%d")[0] == 2


def test_check_tells_every_fault_and_stores_nothing(call: Call, tmp_path: Path) -> None:
    call("new mine")
    file = tmp_path / "mine/task.yaml"
    file.write_text(
        file.read_text().replace("entry: judges", "entry: judge").replace("pass:", "pss:")
    )
    code, out, _ = call("check mine")
    found = json.loads(out)
    assert (code, found["valid"]) == (4, False)
    assert [each["code"] for each in found["problems"]] == ["missing-file", "unknown-key"]
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("run nowhere", 2, "unknown task 'nowhere'"),
        ("run mine mine", 2, "'mine' and 'mine' have the same name 'mine'"),
        ("run mine --agent nobody", 2, "unknown agent 'nobody'"),
        ("run mine --model nothing", 2, "nothing"),
        ("run mine --workflow nothing", 2, "nothing"),
        ("run mine --budget much", 2, "'much' is not a valid part of a budget"),
        ("run mine --name 1", 2, "'1' is not a valid run name"),
        ("run mine --repeat 0", 2, "repeat"),
        ("run", 2, "TASK"),
        ("resume @last", 2, "there are no runs"),
        ("run empty", 2, "contains no task.yaml"),
        ("run broken", 4, "missing key 'workflow'"),
        ("rum", 2, "`uwf-eval` has no command 'rum'"),
    ],
)
def test_what_is_asked_for_wrongly_says_the_cure_and_stores_nothing(
    call: Call, tmp_path: Path, words: str, code: int, message: str
) -> None:
    call("new mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/task.yaml").write_text(
        "name: x\nprompt: y\njudges: [{name: t, builtin: duration}]\n"
    )
    found, out, err = call(words)
    error = json.loads(err.splitlines()[-1])["error"]
    assert (found, out) == (code, "")
    assert message in error["message"]
    assert error["hint"]
    assert not list((tmp_path / "home").glob("eval/*"))
    with Client.open() as client:
        assert client.nodes.names("@uwf/eval/") == []


def test_help_names_every_command_with_an_example_each(call: Call) -> None:
    code, out, _ = call("--help")
    assert code == 0 and all(f"  {name} " in out for name in root("uwf-eval").rows)
    helps: Sequence[str] = [call(f"{name} --help")[1] for name in ("run", "resume", "new", "check")]
    assert all("Example" in text and "uwf-eval " in text for text in helps)
