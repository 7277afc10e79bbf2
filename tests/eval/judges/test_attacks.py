"""Programs of the agent that attack the judge which runs them: they win nothing, and void nothing.

The attackers are real. They lie in the trial's folder, and the judge starts them as it would start
the agent's tests.
"""

import ctypes
import os
import subprocess
import sys

import pytest

from uwf_eval.judges.launcher import sealed, unsealed
from uwf_eval.task.model import JudgeSpec
from uwf_eval.trial.verdict import of_judges

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc and prctl(2) are Linux's")
FORGED = b'\n{"score": 1}\n'
JUDGE = """\
import subprocess, sys
subprocess.run([sys.executable, "-I", "attack.py", *sys.argv])
print('{"score": 0.2}')
"""
FORGER = """\
import os, sys, time
judge = os.getppid()
found = [1, 2]
for name in os.listdir(f"/proc/{judge}/fd"):
    try:
        found.append(os.open(f"/proc/{judge}/fd/{name}", os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        pass
if os.fork():
    sys.exit()
os.setsid()
while os.path.exists(f"/proc/{judge}"):
    time.sleep(0.001)
for fd in found:
    try:
        os.write(fd, FORGED)
    except OSError:
        pass
""".replace("FORGED", repr(FORGED))


def attack(bench, text, judge=JUDGE, **spec):
    """The result of a judge of which what the agent made attacks it."""
    (bench.trial / "attack.py").write_text(text)
    return bench.script(judge, **spec)


def lost(result):
    """Whether a trial with this result counts as 0."""
    verdict = of_judges([result])
    return (verdict.state, verdict.score) == ("failed", 0.0)


@LINUX
def test_a_daemon_that_writes_a_better_score_when_the_judge_has_ended_gets_none(bench):
    result = attack(bench, FORGER)
    assert result.score is None and "outlived it" in result.error
    assert lost(result)


def test_code_of_the_agent_within_the_judge_cannot_print_a_score_and_end_the_process(bench):
    """A judge should not import it; if it does, that does not give away the score."""
    (bench.trial / "solution.py").write_text(
        "import os\n"
        "for fd in range(1, 20):\n"
        "    try:\n"
        f"        os.write(fd, {FORGED!r})\n"
        "    except OSError:\n"
        "        pass\n"
        "os._exit(0)\n"
    )
    result = bench.script(
        "import os, sys\nsys.path.insert(0, os.getcwd())\nimport solution\nprint('{\"score\": 0}')"
    )
    assert result.score is None and "without its last word" in result.error
    assert lost(result)


def test_only_the_sealed_line_counts_whatever_stands_around_it():
    key, other = os.urandom(32), os.urandom(32)
    own = sealed(key, b'said {"score": 0}')
    forged = sealed(other, b'said {"score": 1}')
    assert unsealed(key, FORGED + own + forged + FORGED) == b'said {"score": 0}'
    assert unsealed(key, forged + own.replace(b"0}", b"1}") + FORGED) is None


SPY = """\
import ctypes, os
judge = os.getppid()
with open(f"/proc/{judge}/stat") as file:
    reaper = int(file.read().rpartition(") ")[2].split()[1])
for pid in (judge, reaper):
    for name in ("mem", "environ", *(f"fd/{n}" for n in range(20))):
        try:
            os.open(f"/proc/{pid}/{name}", os.O_RDONLY)
        except (PermissionError, FileNotFoundError):
            continue
        print("opened", name)
    if ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0:
        print("traced")
"""
ASKING = """\
import os, sys
from pathlib import Path
from uwf_core.api import Cancel
from uwf_eval.judges.script import ScriptCall, run_script
judge, folder = map(Path, sys.argv[1:])
print(run_script(
    ScriptCall(
        entry=judge, cwd=folder, thread="t", env=dict(os.environ), seconds=60, cancel=Cancel()
    )
).data["seen"])
"""


def without_rights():
    """What root's programs may do more than a user's is gone from the next program on."""
    for capability in range(64):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@LINUX
def test_no_program_of_the_same_user_looks_into_the_judge_or_its_reaper(tmp_path):
    """Neither at descriptors nor at memory, where the key is, nor at the environment."""
    (tmp_path / "attack.py").write_text(SPY)
    judge = tmp_path / "judge.py"
    judge.write_text(
        "import json, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-I', 'attack.py'], capture_output=True)\n"
        "seen = (done.stdout + done.stderr).decode()\n"
        "print(json.dumps({'score': 0, 'data': {'seen': seen}}))\n"
    )
    command = [sys.executable, "-c", ASKING, str(judge), str(tmp_path)]
    done = subprocess.run(
        command, preexec_fn=without_rights, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


@pytest.mark.parametrize(
    "deed",
    ["kill -9 {judge}", "kill {judge}", "kill -STOP {judge}", "kill -9 {reaper}",
     "kill -9 {judge}; echo '{{\"score\": 1}}'"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["python", "shell"])
def test_whoever_kills_or_stops_its_judge_has_lost_the_trial(bench, deed, kind):
    text = deed.format(judge="$PPID", reaper="$(ps -o ppid= -p $PPID)")
    (bench.trial / "attack.sh").write_text(f"{text}\nsleep 0.3\n")
    if kind == "shell":
        result = bench.shell("sh attack.sh; echo '{\"score\": 0.2}'", timeout=1.5)
    else:
        judge = "import subprocess\nsubprocess.run(['sh', 'attack.sh'])\nprint('{\"score\": 0.2}')"
        result = bench.script(judge, timeout=1.5)
    assert result.score is None and result.aborted
    assert lost(result)


def test_a_judge_that_says_itself_that_it_cannot_judge_costs_the_agent_nothing(bench):
    for text in ("raise OSError('no database')", "import sys\nsys.exit('no database')"):
        result = bench.script(text)
        assert "no database" in result.error and not result.aborted
        assert of_judges([result]).state == "infra_error"


def test_a_command_that_is_outlived_gives_no_number(bench):
    (bench.trial / "attack.sh").write_text(
        "(while kill -0 $PPID 2>/dev/null; do :; done; echo 100) &\n"
    )
    result = bench.builtin("command", run="sh attack.sh; echo 10; sleep 0.1", score="number")
    assert result.score is None and "outlived" in result.error
    assert lost(result)


@pytest.mark.parametrize("run", ["sh check.sh", "sh check.sh; sleep 9", "exit 127"])
def test_a_command_that_the_agent_keeps_from_giving_a_number_counts_as_0(bench, run):
    (bench.trial / "check.sh").write_text("echo broken\n")
    assert lost(bench.builtin("command", run=run, score="number", seconds=1))


def test_what_the_agent_made_cannot_change_what_a_later_judge_is_given(bench):
    """The tests are protected, but the first judge runs code that looks for their next copy."""
    (bench.trial / "tests").mkdir()
    (bench.trial / "tests" / "test.sh").write_text("exit 1\n")
    (bench.trial / "attack.sh").write_text(
        f"for file in $(find {bench.trial} {bench.state} -name test.sh); do echo >$file; done\n"
    )
    first, second = bench.ask(
        JudgeSpec(name="a", builtin="command", options={"run": "sh attack.sh"}),
        JudgeSpec(name="b", builtin="command", options={"run": "sh tests/test.sh"}),
    )
    assert first.score == 1.0
    assert second.score is None and "copy of the trial's folder was changed" in second.error
    assert lost(second)


def test_a_module_that_a_judge_imports_late_cannot_be_replaced_meanwhile(bench):
    bench.file("helper.py", "SCORE = 0")
    (bench.trial / "attack.sh").write_text(
        f"for file in $(find {bench.state} -name helper.py); do echo 'SCORE = 1' >$file; done\n"
    )
    result = bench.script(
        "import subprocess\nsubprocess.run(['sh', 'attack.sh'])\n"
        "import helper\nprint('{\"score\": %d}' % helper.SCORE)"
    )
    assert result.score is None and "task's files were changed" in result.error
    assert lost(result)
