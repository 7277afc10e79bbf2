"""Judges that are programs: real ones, in real processes."""

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from judges_kit import files_below

from uwf_eval.task.model import JudgeSpec

PRINTS = 'import json, sys\nprint(json.dumps({"score": %s, "data": %s}))\n'


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] in b"ZX"
    except FileNotFoundError:
        return True


def test_a_python_file_says_a_score_and_keeps_data(bench):
    result = bench.script(PRINTS % ("0.5", '{"cwd": sys.argv[1], "thread": sys.argv[2]}'))
    assert result.error is None
    assert (result.score, result.judge) == (0.5, "entry:judge.py")
    assert result.data["thread"] == bench.evidence.thread
    assert result.data["cwd"].endswith("/trial") and result.data["cwd"] != str(bench.trial)


def test_any_executable_will_do(bench):
    result = bench.shell('echo noise; echo "{\\"score\\": 1, \\"data\\": {\\"args\\": $#}}"')
    assert (result.score, result.data, result.error) == (1.0, {"args": 2}, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo '{\"score\": 0.1}'; echo broken >&2; exit 3", "exit code 3: broken"),
        ("kill -9 $$", "was killed by SIGKILL"),
        ("exit 0", "printed nothing"),
        ("echo '{\"score\": NaN}'", "NaN"),
        ('echo \'{"score": "good"}\'', "not a number"),
        ("echo '{\"score\": 1.7}'", "not within 0 and 1"),
        ("echo all is well", "not JSON: all is well"),
    ],
    ids=["exit", "killed", "nothing", "nan", "text", "too-high", "noise"],
)
def test_whatever_is_no_verdict_is_a_failed_judge_and_never_a_low_score(bench, text, words):
    result = bench.shell(text)
    assert result.score is None
    assert words in result.error


def test_a_judge_that_floods_its_output_is_ended(bench):
    result = bench.shell("exec yes nonsense")
    assert result.score is None and "more than 16 MB" in result.error


def test_a_python_judge_that_raises_is_told_with_the_end_of_its_traceback(bench):
    result = bench.script("raise KeyError('no such thing')")
    assert result.score is None
    assert "exit code 1" in result.error and "KeyError: 'no such thing'" in result.error


def test_a_judge_that_hangs_is_ended_with_all_that_it_started(bench):
    pids = bench.root / "pids"
    result = bench.shell(
        f"trap '' TERM; (trap '' TERM; sleep 60) >/dev/null 2>&1 & echo $! $$ >{pids}; sleep 60",
        timeout=3.0,
    )
    assert result.score is None and "timed out after 3 s" in result.error
    assert all(is_gone(int(pid)) for pid in pids.read_text().split())


def test_what_a_judge_leaves_behind_cannot_change_its_score(bench):
    """It prints a better score into the judge's own output when the judge is gone."""
    result = bench.shell(
        "(while kill -0 $$ 2>/dev/null; do :; done; echo '{\"score\": 1}') &\n"
        "echo '{\"score\": 0.2}'"
    )
    assert result.score is None
    assert "outlived it" in result.error and ">&2" in result.error


def test_what_a_shell_judge_waits_for_disturbs_nothing(bench):
    result = bench.shell("(sleep 0.01; echo noise >&2) &\nwait\necho '{\"score\": 0.2}'")
    assert (result.score, result.error) == (0.2, None)


def test_what_a_python_judge_starts_cannot_write_to_its_channel_at_all(bench):
    """Not even where the judge forgets to say where its output goes, and does so last."""
    lie = "echo '{\"score\": 1}'"
    result = bench.script(
        "import os, subprocess\n"
        "print('{\"score\": 0.2}')\n"
        f"subprocess.run(['sh', '-c', {lie!r}])\n"
        f"os.system({lie!r})\n"
        "os.write(1, b'{\"score\": 1}\\n')\n"
    )
    assert (result.score, result.error) == (0.2, None)


def test_a_judge_works_in_a_copy_of_the_trials_folder_and_each_in_its_own(bench):
    (bench.trial / "kept.txt").write_text("kept")
    bench.file("one.sh", "#!/bin/sh\nrm kept.txt; touch made; echo '{\"score\": 1}'")
    seen = 'import json, os\nprint(json.dumps({"score": 1, "data": {"files": os.listdir()}}))'
    bench.file("two.py", seen)
    one, two = bench.ask(
        JudgeSpec(name="one", entry="one.sh"), JudgeSpec(name="two", entry="two.py")
    )
    assert one.error is None and two.data["files"] == ["kept.txt"]
    assert files_below(bench.trial) == ["kept.txt"]
    assert not [name for name in files_below(bench.state) if "/judge-" in name]


def test_a_judge_runs_from_a_copy_with_the_files_beside_it_and_without_the_fixture(bench):
    bench.file("judges/words.py", "SCORE = 0.75")
    bench.file("fixture/secret.txt", "for the agent")
    result = bench.script(
        "import json, pathlib, words\n"
        "root = pathlib.Path(__file__).parents[1]\n"
        'print(json.dumps({"score": words.SCORE, "data": {"root": str(root), '
        '"files": sorted(p.name for p in root.iterdir())}}))',
        name="judges/judge.py",
    )
    assert result.score == 0.75
    assert result.data["files"] == ["judges"]
    assert not Path(result.data["root"]).is_relative_to(bench.trial)
    assert not Path(result.data["root"]).is_relative_to(bench.folder)


def test_modules_that_the_agent_left_in_its_folder_are_not_imported(bench):
    (bench.trial / "json.py").write_text("raise SystemExit('the agent was here')")
    (bench.trial / "sitecustomize.py").write_text("raise SystemExit('and here')")
    result = bench.script(
        PRINTS % ("1", "{}"), evidence={"env": {**os.environ, "PYTHONPATH": str(bench.trial)}}
    )
    assert (result.score, result.error) == (1.0, None)


def test_files_of_the_task_that_a_judge_let_be_changed_are_noticed(bench):
    """What the agent made may run within a judge, and look for the next one."""
    bench.file("b.py", PRINTS % ("0.1", "{}"))
    bench.file("a.sh", '#!/bin/sh\necho "print(1)" >>"$(dirname "$0")/b.py"; echo \'{"score": 1}\'')
    results = bench.ask(JudgeSpec(name="a", entry="a.sh"), JudgeSpec(name="b", entry="b.py"))
    for result in results:
        assert result.score is None and "changed during judging" in result.error


def test_the_environment_has_no_secrets_and_nothing_that_steers_programs(bench):
    env = {
        **os.environ,
        "OPENAI_API_KEY": "sk-0123456789",
        "LD_PRELOAD": "",
        "PYTEST_ADDOPTS": "-p evil",
        "PATH": f".:bin::{os.environ['PATH']}",
        "UWF_HOME": "/somewhere",
    }
    result = bench.script(
        PRINTS % ("1", "dict(__import__('os').environ)"),
        evidence={"env": env},
        options={"strict": True},
    )
    seen = result.data
    assert not {"OPENAI_API_KEY", "LD_PRELOAD", "PYTEST_ADDOPTS"} & seen.keys()
    assert seen["UWF_HOME"] == "/somewhere"
    assert json.loads(seen["UWF_JUDGE_OPTIONS"]) == {"strict": True}
    assert all(place.startswith("/") for place in seen["PATH"].split(":"))
    assert seen["PATH"].startswith(str(Path(sys.executable).parent))
    assert seen["HOME"] != os.environ.get("HOME")
    assert seen["HOME"].startswith(str(bench.state))


def test_data_is_held_to_the_judges_schema(bench):
    schema = {"type": "object", "properties": {"ran": {"type": "integer"}}, "required": ["ran"]}
    good = bench.script(PRINTS % ("1", '{"ran": 7}'), schema=schema)
    bad = bench.script(PRINTS % ("1", '{"ran": "seven"}'), schema=schema)
    assert (good.score, good.error) == (1.0, None)
    assert bad.score is None and "data.ran" in bad.error and "schema" in bad.error


def test_a_judge_that_is_asked_often_tells_how_far_it_agrees_with_itself(bench):
    counter = bench.root / "count"
    result = bench.script(
        f"import pathlib\nf = pathlib.Path({str(counter)!r})\n"
        "n = int(f.read_text()) if f.exists() else 0\nf.write_text(str(n + 1))\n"
        'print(\'{"score": %s, "data": {"n": %d}}\' % ([1.0, 0.5, 0.0][n], n))',
        repeat=3,
    )
    assert result.scores == (1.0, 0.5, 0.0) and result.score == 0.5
    assert result.agreement == pytest.approx(1 - (0.5 + 1.0 + 0.5) / 3)
    assert [each["n"] for each in result.data["repetitions"]] == [0, 1, 2]


def test_one_failed_repetition_fails_the_judge_and_says_which(bench):
    flag = bench.root / "flag"
    result = bench.shell(
        f"[ -e {flag} ] && exit 2; touch {flag}; echo '{{\"score\": 1}}'", repeat=2
    )
    assert result.score is None and result.agreement is None
    assert result.scores == (1.0,) and "repetition 2 of 2" in result.error


def test_a_judge_that_fails_does_not_stop_the_others(bench):
    bench.file("bad.sh", "#!/no/such/program\n")
    results = bench.ask(
        JudgeSpec(name="bad", entry="bad.sh"),
        JudgeSpec(name="missing", entry="gone.sh"),
        JudgeSpec(name="plugin", plugin="no-such-judge"),
        JudgeSpec(name="tokens", builtin="token-stats"),
    )
    assert [result.score for result in results] == [None] * 4
    assert "cannot run it" in results[0].error and "cannot run it" in results[1].error
    assert "no-such-judge" in results[2].error
    assert results[3].error is None and results[3].weight == 0


def test_a_run_that_stops_does_not_wait_for_its_judges(bench):
    bench.cancel.set("Ctrl-C")
    started = time.monotonic()
    result = bench.shell("sleep 60")
    assert result.score is None and result.error
    assert time.monotonic() - started < 30


def test_odd_names_in_the_trials_folder_are_copied_as_they_are(bench):
    (bench.trial / "a b\n'c").write_text("odd")
    (bench.trial / "link").symlink_to("a b\n'c")
    result = bench.script(PRINTS % ("1", '{"n": len(__import__("os").listdir())}'))
    assert result.data == {"n": 2}
    assert replace(result, duration_ms=0).error is None
