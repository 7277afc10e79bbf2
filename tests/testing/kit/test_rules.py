"""The rules of the kits: nothing is passed that was not tried, and no clause goes away quietly."""

import getpass
import subprocess
import sys
from importlib.metadata import distribution
from types import FunctionType

import pytest

from uwf_testing.agent_contract import AgentContract
from uwf_testing.contract import clauses
from uwf_testing.peer import ABILITIES, Act, Peer

HEAD = """
import pytest
from kit_agents.peer import QuickPeer
from uwf_testing.agent_contract import AgentContract, Command, KitLimits
from uwf_testing.peer import Peer

class Fixtures:
    limits = KitLimits(hang_seconds=0.15, cancel_seconds=0.1, grace_seconds=0.3)

    @pytest.fixture
    def agent(self):
        return "right"

    @pytest.fixture
    def peer(self, tmp_path):
        (tmp_path / "peer").mkdir()
        return QuickPeer(tmp_path / "peer")
"""


@pytest.fixture
def contract(tmp_path, run_contracts):
    """Runs a contract in which a class has these members."""

    def run(members="", mark="", *arguments):
        text = f"{HEAD}\n{mark}\nclass TestIt(Fixtures, AgentContract):\n    pass\n{members}"
        file = tmp_path / "test_contract.py"
        file.write_text(text)
        return run_contracts(str(file), *arguments)

    return run


def _stand_in():
    return FunctionType((lambda self: None).__code__, {}, "test_silence_is_empty")


@pytest.mark.parametrize(
    "stand_in",
    [
        _stand_in(),
        None,
        pytest.mark.skip(reason="later")(_stand_in()),
        pytest.mark.xfail(_stand_in()),
    ],
    ids=["redefined", "removed", "skipped", "without-a-reason"],
)
def test_a_clause_cannot_be_redefined_without_saying_why(stand_in):
    with pytest.raises(TypeError, match="redefines a clause") as refusal:
        type("TestIt", (AgentContract,), {"test_silence_is_empty": stand_in})
    assert "TestIt.test_silence_is_empty redefines a clause of the contract" in str(refusal.value)
    assert "@pytest.mark.xfail(reason=" in str(refusal.value)


def test_a_contract_cannot_be_marked_as_a_whole():
    with pytest.raises(TypeError, match="TestIt is marked 'skip' as a whole"):
        type("TestIt", (AgentContract,), {"pytestmark": pytest.mark.skip})


def test_a_refused_contract_is_an_error_of_the_collection(contract):
    run = contract("    def test_silence_is_empty(self): pass\n")
    assert run.exit_code == 2
    assert "TestIt.test_silence_is_empty redefines a clause of the contract" in run.output
    assert run.results == []


def test_a_known_fault_is_shown_with_its_reason(contract):
    xfail = "    @pytest.mark.xfail(reason='the service answers {}')\n"
    members = (
        f"{xfail.format('late')}    def test_silence_is_empty(self, harness):\n"
        "        super().test_silence_is_empty(harness)\n        assert False\n"
        f"{xfail.format('never')}    def test_garbage_is_a_failure(self, harness):\n"
        "        super().test_garbage_is_a_failure(harness)\n"
    )
    run = contract(members, "", "-k", "silence or garbage")
    outcomes = {each["clause"]: (each["outcome"], each["reason"]) for each in run.results}
    assert outcomes == {
        "test_silence_is_empty": ("known bug", "the service answers late"),
        "test_garbage_is_a_failure": ("fixed", "the service answers never"),
    }


def test_without_a_peer_nothing_is_passed_that_needs_one(contract):
    members = "    @pytest.fixture\n    def peer(self):\n        return Peer()\n"
    run = contract(members)
    assert run.clauses("TestIt", "fails") == set()
    assert run.clauses("TestIt", "holds") == {
        "test_it_is_registered",
        "test_importing_it_is_light",
        "test_importing_it_does_nothing",
        "test_its_distribution_bounds_the_core",
        "test_it_can_be_closed_unused",
    }
    reasons = {each["clause"]: each["reason"] for each in run.results}
    assert reasons["test_silence_is_empty"] == "the peer has no 'silence'"
    assert set(reasons) == set(clauses(AgentContract))


def test_what_is_not_declared_is_skipped_with_the_reason(contract):
    members = (
        "    @pytest.fixture\n    def agent(self):\n"
        "        return Command(('true',), frozenset({'continue'}))\n"
    )
    run = contract(members, "", "-k", "fork or question_to_a_session")
    assert run.clauses("TestIt", "skipped") == run.clauses("TestIt", "skipped", "holds", "fails")
    assert {each["reason"] for each in run.results} == {
        "true does not declare 'fork'",
        "true does not declare 'ask'",
    }


def test_a_failing_clause_shows_what_it_compared(contract):
    members = "    @pytest.fixture\n    def agent(self):\n        return 'adds_usage_up'\n"
    run = contract(members, "", "-k", "usage_is_of_this_call")
    assert "14 == 7" in run.results[0]["reason"]


def test_a_peer_cannot_have_what_there_is_not():
    class Odd(Peer):
        abilities = ("sya",)

    with pytest.raises(ValueError, match=r"Odd has the unknown ability 'sya'.*did you mean 'say'"):
        Odd().why_not("say")


def test_an_act_is_json_for_a_program():
    document = Act(do="say_bytes", data=b"\xff\0").document()
    assert document["dataBase64"] == "/wA="
    assert set(document) >= {"do", "text", "structured", "usage", "code", "kind", "name"}


def test_every_ability_is_needed_by_a_clause():
    needed = {
        ability
        for name in clauses(AgentContract)
        for ability in getattr(getattr(AgentContract, name), "__uwf_needs__", (None, ()))[1]
    }
    assert needed == set(ABILITIES)


def test_no_pytest_of_anybody_loads_the_kit_by_itself():
    groups = {entry.group for entry in distribution("uwf-core").entry_points}
    assert "pytest11" not in groups


def table(environment, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "uwf_testing", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=115,
        check=False,
    )


@pytest.fixture
def tests_of(tmp_path):
    """A file with the contract of one agent."""

    def write(agent):
        members = f"    @pytest.fixture\n    def agent(self):\n        return {agent!r}\n"
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
        file = tmp_path / "test_contract.py"
        file.write_text(f"{HEAD}\nclass TestIt(Fixtures, AgentContract):\n{members}")
        return str(file)

    return write


def test_the_table_shows_capabilities_and_every_clause(author_environment, tests_of):
    done = table(author_environment, "right", "--tests", tests_of("right"))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("**agent `right`** (kit-agents 1.0) under the agent contract of kit")
    assert "| `fork` | yes | 4 of 4 hold |" in lines
    assert "| text comes back byte for byte | holds |" in lines
    row = "| standard input has an end | not tried: the peer has no 'read_stdin': takes long |"
    assert row in lines
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| `")]
    assert len(rows) == len(clauses(AgentContract)) + 4


def test_the_table_of_a_wrong_agent_names_the_fault_and_exits_with_1(author_environment, tests_of):
    wrong = "takes_half_an_answer"
    done = table(author_environment, wrong, "--tests", tests_of(wrong))
    assert done.returncode == 1
    assert "| a cut answer is a failure | **fails**: " in done.stdout


def test_a_table_of_nothing_is_an_error_with_a_cure(author_environment, tests_of):
    done = table(author_environment, "rihgt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no plugin with a contract has the name 'rihgt'" in done.stderr
    done = table(author_environment, "right", "--tests", tests_of("litters"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "a subclass of AgentContract whose fixture returns 'right'" in done.stderr


@pytest.mark.parametrize("name", ["mock", "memory", "right_tool", "right_observer"])
def test_without_tests_what_needs_none_is_tried(author_environment, name):
    done = table(author_environment, name)
    assert done.returncode == 0, done.stderr
    assert f"`{name}`" in done.stdout
    assert "not run" not in done.stdout


def test_what_earlier_runs_of_pytest_have_left_is_not_touched(author_environment, tmp_path):
    """It may be the folders of a whole suite, and to delete them takes minutes."""
    root = tmp_path / f"pytest-of-{getpass.getuser()}"
    for number in range(6):
        (root / f"pytest-{number}").mkdir(parents=True)
    root.chmod(0o700)
    done = table({**author_environment, "TMPDIR": str(tmp_path)}, "mock")
    assert done.returncode == 0, done.stderr
    assert len(list(root.iterdir())) == 6
    assert list(tmp_path.iterdir()) == [root]
