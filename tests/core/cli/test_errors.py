"""Every mistake: one clear error, the right exit code, nothing on stdout, nothing on disk."""

import json

import pytest

from uwf_core.config import settings
from uwf_core.operations.rows import RETIRED


@pytest.mark.parametrize(("words", "replacement"), RETIRED.items(), ids=str)
def test_a_retired_name_answers_with_the_name_to_use(uwf, words, replacement):
    answer = uwf(*words, "--format", "json")
    assert (answer.code, answer.out) == (2, "")
    assert replacement in answer.error["hint"]


@pytest.mark.parametrize(
    ("words", "near"),
    [("thrad list", "thread"), ("thread lst", "list"), ("cas schema lst", "list"),
     ("thread list --limt 3", "--limit"), ("thread list --formt json", "--format")],
)  # fmt: skip
def test_unknown_names_are_answered_with_what_is_near(uwf, words, near):
    answer = uwf(*words.split(), "--format", "json")
    assert (answer.code, answer.out) == (2, "")
    assert near in f"{answer.error['hint']} {answer.error['message']}"


BAD_CALLS = [
    "thread show", "thread show 01ZZ --bogus", "thread show nonsense", "thread show @last",
    "thread show 01JD8ZK3QW7V5N2B4C6D8E0F00", "thread exec @last", "thread resume @last",
    "thread wait @last", "thread rm @last", "thread cancel @last", "thread stop @last",
    "thread poke @last -p x", "thread read @last", "thread list --status idle,bogus",
    "thread list --limit 0", "thread list --after tomorrow", "thread exec @last -c 0",
    "step show @last", "step read ZZZZ", "step list @last", "step turns @last",
    "step ask @last -p x", "step fork @last", "run nosuch -p x", "run pair",
    "run pair -p x --agent nosuch",
    "run pair -p x --cwd /nonexistent", "run pair -p @/nonexistent", "thread start pair -p ''",
    "workflow show nosuch", "workflow add /nonexistent.yaml", "workflow new ../..",
    "workflow check",
    "agent check nosuch", "config get nosuch", "config set nosuch 1",
    "config set extractors [1]", "config set extractors 5", "config set extractors mock",
    "config set plugins.order [null]", "config trust /nonexistent",
    "cas get ZZZZZZZZZZZZZ", "cas get x", "cas refs 0000", "cas hash nosuch -",
    "cas schema show nosuch", "log show @last", "log show x", "completion tcsh", "setup",
    "setup --provider nosuch",
]  # fmt: skip


@pytest.mark.parametrize("call", BAD_CALLS)
def test_a_mistake_is_one_error_with_code_two_and_changes_nothing(uwf, project, call):
    words = [word.strip("'") for word in call.split(" ")]
    answer = uwf(*words, "--format", "json")
    assert (answer.code, answer.out) == (2, ""), answer.err
    assert answer.error["message"]
    assert answer.error["exitCode"] == 2
    assert "Traceback" not in answer.err
    assert not (project.home / "logs").exists()
    assert not (project.home / "store.db").exists()
    assert not (project.home / "config.yaml").exists()


def test_an_error_is_a_sentence_for_people_and_a_document_for_programs(uwf):
    text = uwf("thread", "show", "@last", "--format", "text")
    assert text.err.startswith("error: there is no thread yet in ")
    assert "\n  hint: next: uwf run WORKFLOW -p TEXT\n" in text.err
    document = json.loads(uwf("thread", "show", "@last", "--format", "json").err)
    assert set(document["error"]) == {"code", "message", "where", "hint", "exitCode"}
    yaml = uwf("thread", "show", "@last", "--format", "yaml")
    assert yaml.err.startswith("error:\n  code: unknown-id\n")


@pytest.mark.parametrize(
    "words",
    [["--format", "text", "thread", "show"], ["thread", "--format", "text", "show"],
     ["thread", "show", "--format", "text"], ["thread", "show", "--format=text", "--bogus"]],
    ids=" ".join,
)  # fmt: skip
def test_the_format_is_taken_wherever_it_stands_even_from_a_call_that_is_wrong(uwf, words):
    assert uwf(*words).err.startswith("error: ")


def test_the_innermost_format_wins(uwf):
    answer = uwf("--format", "yaml", "thread", "--format", "text", "list", "--format", "json")
    assert answer.document == {"threads": []}


def test_every_fault_of_a_workflow_is_told_with_its_place(uwf, project):
    file = project.folder / "bad.yaml"
    file.write_text("version: 1\nname: bad\nroles: {}\ngraph: {}\nnonsense: 1\n")
    answer = uwf("workflow", "check", "bad.yaml", "--format", "text")
    assert answer.code == 4
    lines = answer.out.splitlines()
    assert any(line.startswith("bad.yaml:5:1 ") for line in lines)
    assert lines[-1].startswith("invalid: ")
    document = uwf("workflow", "check", "bad.yaml").document
    assert document["valid"] is False
    assert len(document["problems"]) > 1
    run = uwf("run", "./bad.yaml", "-p", "x", "--format", "text")
    assert (run.code, run.out) == (4, "")
    assert "bad.yaml:5:1 " in run.err
    added = uwf("workflow", "add", "bad.yaml")
    assert len(added.error["problems"]) == len(document["problems"])


def test_check_needs_no_home_and_leaves_none(uwf, project):
    """Nothing is written, not even a log, and a broken configuration does not matter."""
    assert uwf("workflow", "check", ".workflow/pair.yaml").document == {
        "valid": True,
        "problems": [],
    }
    assert not project.home.exists()
    project.config("nonsense: [")
    assert uwf("workflow", "check", ".workflow/pair.yaml").code == 0
    assert [each.name for each in project.home.iterdir()] == ["config.yaml"]


def test_a_fault_in_the_configuration_is_told_with_file_and_line(uwf, project):
    project.config("defaultAgent: mock\ndefaultAgnt: x\n")
    answer = uwf("thread", "list", "--format", "json")
    assert (answer.code, answer.out) == (2, "")
    assert "config.yaml:2" in answer.error["where"]
    assert "defaultAgent" in answer.error["hint"]


def test_many_errors_in_the_configuration_are_reported_from_a_few_reads(uwf, project, monkeypatch):
    """Each text of the report used to read the wrong file again: minutes for a long one."""
    project.config("agents:\n" + "".join(f"  a{number}: {{uze: mock}}\n" for number in range(300)))
    read, reads = settings.load_settings, []
    monkeypatch.setattr(settings, "load_settings", lambda *a, **k: reads.append(1) or read(*a, **k))
    answer = uwf("thread", "list", "--format", "json")
    assert answer.code == 2
    assert len(answer.error["problems"]) >= 200
    assert 1 <= len(reads) <= 5


def test_a_fault_of_our_own_is_one_line_and_its_traceback_is_in_the_log(uwf, project, monkeypatch):
    def broken(engine, **_options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("uwf_core.threads.start.start_thread", broken)
    answer = uwf("thread", "start", "pair", "-p", "x", "--format", "text")
    assert (answer.code, answer.out) == (1, "")
    assert "ZeroDivisionError: a bug" in answer.err
    assert "Traceback" not in answer.err
    entry = uwf("log", "show", "@last").document
    assert "Traceback" in entry["traceback"]
    assert entry["error"]["code"] == "internal"
    debug = uwf("thread", "start", "pair", "-p", "x", "--debug")
    assert "Traceback" in debug.err
    assert debug.error["code"] == "internal"


def test_the_log_never_keeps_a_secret(uwf, project, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "very-secret-value-123")
    uwf("run", "pair", "-p", "use very-secret-value-123")
    assert uwf("log", "list").document["entries"][0]["exitCode"] == 0
    for file in (project.home / "logs").iterdir():
        assert "very-secret-value-123" not in file.read_text()


def test_an_argument_that_is_no_text_is_refused(uwf):
    answer = uwf("run", "pair", "-p", "a\udcffb", "--format", "json")
    assert (answer.code, answer.out) == (2, "")
    assert "argument 4 is not valid UTF-8" in answer.error["message"]


def test_terminal_escapes_in_an_error_are_neutralised(uwf):
    answer = uwf("thread", "show", "\x1b]0;pwned\x07", "--format", "text")
    assert "\x1b" not in answer.err
    assert "\\x1b" in answer.err or "\\\\x1b" in answer.err


def test_terminal_escapes_in_a_notice_are_neutralised(uwf, project, monkeypatch):
    """A folder's name is foreign text too."""
    evil = project.folder / "a\x1b]0;pwned\x07"
    evil.mkdir()
    uwf("workflow", "add", ".workflow/pair.yaml")
    (evil / ".workflow").mkdir()
    text = (project.folder / ".workflow" / "pair.yaml").read_text()
    (evil / ".workflow" / "pair.yaml").write_text(text)
    monkeypatch.chdir(evil)
    answer = uwf("workflow", "list", "--format", "text")
    assert "uwf config trust" in answer.err
    assert "\x1b" not in answer.err


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("list", "did you mean `uwf thread list` or `uwf step list` or `uwf workflow list`?"),
        ("show", "did you mean `uwf thread show` or `uwf step show` or `uwf workflow show`?"),
        ("start", "did you mean `uwf thread start`?"),
        ("help", "did you mean `uwf --help`?"),
        ("version", "did you mean `uwf --version`?"),
        ("demmo", "did you mean demo?"),
    ],
)
def test_a_word_of_another_place_leads_to_its_command(uwf, word, hint):
    assert uwf(word).error["hint"] == hint


def test_the_name_of_a_file_in_this_folder_leads_to_the_file(uwf, project):
    uwf("workflow", "new", "fix-it")
    hint = uwf("run", "fix-it", "-p", "x").error["hint"]
    assert hint == "did you mean ./fix-it.yaml?"


def test_a_text_without_its_option_is_told_where_it_belongs(uwf):
    """In `gh` and `llm` the task may stand alone."""
    for words in (["run", "pair", "the task"], ["thread", "start", "pair", "the task"]):
        error = json.loads(uwf(*words).err.splitlines()[-1])["error"]
        assert error["message"] == "missing option '-p' / '--prompt'"
        assert error["hint"] == "write `-p 'the task'`"
