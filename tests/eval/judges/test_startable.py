"""A program that was missing before the agent ran is an error of the task; one that the agent could
have removed or should have written is a lost trial.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_eval.judges.context import search_path
from uwf_eval.judges.startable import cannot_start
from uwf_eval.trial.verdict import of_judges

PATH = search_path(os.environ, programs=Path(sys.executable).parent)
GOOD = ("true", "cd .", "test -d .", "env A=1 true", "A=1 true", "command true", ": ok", "(true)",
        "sh -c 'no-such-program || true'")  # fmt: skip
JOINED = (" && ", "; ", "\n", " || ", " | ")
MISSING = (
    "no-such-program", "no-such-program -q x", "A=1 no-such-program", "env A=1 no-such-program",
    "nice no-such-program", "timeout 5 no-such-program", "(no-such-program)",
    "no-such-program >&2", "/no/such/program", "sh -c no-such-program",
    "/bin/sh -ec 'cd . && no-such-program' x",
)  # fmt: skip


def ended(run, folder):
    """The exit code of a command, as the judge `command` runs it."""
    command = ["/bin/sh", "-c", f"{{ {run}\n}} 2>&1"]
    done = subprocess.run(
        command, cwd=folder, env={"PATH": PATH}, capture_output=True, timeout=20, check=False
    )
    return done.returncode


@given(
    st.lists(st.tuples(st.sampled_from(GOOD), st.sampled_from(JOINED)), max_size=2),
    st.sampled_from(GOOD + MISSING),
)
def test_what_is_said_not_to_start_ends_with_126_or_127(tmp_path_factory, before, last):
    folder = tmp_path_factory.getbasetemp()
    run = "".join(f"{each}{joined}" for each, joined in before) + last
    stops = any(joined == " || " for _, joined in before)  # the last may not be reached
    if cannot_start(run, folder, PATH) is not None and not stops:
        assert ended(run, folder) in (126, 127)


@pytest.mark.parametrize("run", [*MISSING, "cd . && no-such-program", "true; no-such-program"])
def test_a_program_that_was_never_there_is_named(tmp_path, run):
    why = cannot_start(run, tmp_path, PATH)
    assert (why is not None and "no-such-program" in why) or "/no/such/program" in str(why)
    assert ended(run, tmp_path) in (126, 127)


@pytest.mark.parametrize(
    "run", [*GOOD, "./made-by-the-agent", "sh made.sh", "exit 127", "f() { true; }; f", "$CMD", "'"]
)
def test_what_may_start_or_is_the_agents_is_not_named(tmp_path, run):
    assert cannot_start(run, tmp_path, PATH) is None


def test_a_file_that_is_not_executable_or_has_no_interpreter_is_named(tmp_path):
    (tmp_path / "check.sh").write_text("#!/no/such/interpreter\n")
    assert "not executable" in str(cannot_start("./check.sh", tmp_path, PATH))
    (tmp_path / "check.sh").chmod(0o755)
    assert "/no/such/interpreter" in str(cannot_start("./check.sh", tmp_path, PATH))


@pytest.mark.parametrize("score", ["exit", "number"])
def test_only_what_could_not_start_before_the_agent_is_an_error_of_the_task(bench, score):
    one = bench.builtin("command", run="no-such-program", score=score)
    assert of_judges([one]).state == "failed", "the agent may have removed it"
    why = {"unable": {"command": "there is no program 'no-such-program'"}}
    two = bench.builtin("command", why, run="no-such-program", score=score)
    assert of_judges([two]).state == "infra_error" and "there is no program" in two.error
    three = bench.builtin("command", why, run="exit 1")
    assert of_judges([three]).score == 0.0, "what started has judged"
