"""A reader can hold each file and each function in the head."""

from pathlib import Path

from benchmarks.size import GENERATED, step_records
from sources import CORE, ROOT, counted_modules, name_of, project_files
from uwf_core.operations.rows import Noun, own_commands

COMMANDS = own_commands().rows

MODULE_LINES = 400
TEST_LINES = 500
COMMAND_MODULE_LINES = 260
FUNCTION_LINES = 50

# A file that may be longer, and why.
LONGER = {
    "noxfile.py": 490,  # every session in one place
    "uwf-core/src/uwf_core/client.py": 450,  # the methods that have no command, mostly docstrings
    "uwf-core/src/uwf_core/errors.py": 435,  # the whole error tree in one place, mostly docstrings
    "uwf-core/src/uwf_core/thread/types.py": 640,  # every node of a thread, mostly docstrings
    "uwf-core/src/uwf_core/api/agent.py": 460,  # each field of the contract has its sentence
    "examples/verify-bundle/verify_bundle.py": 420,  # one file that needs nothing of uwf
    "uwf-core/src/uwf_core/workflow/bound.py": 420,  # one walk for each thing that is counted
    "uwf-core/src/uwf_core/workflow/definition.py": 515,  # every key of a file with its sentence
}


def line_count(path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def most(path: Path) -> int:
    """How many lines a file may have; tests are looked up, not read in one go."""
    usual = TEST_LINES if path.is_relative_to(ROOT / "tests") else MODULE_LINES
    return LONGER.get(name_of(path), usual)


def test_no_file_is_too_long_to_read_in_one_go():
    too_long = {
        name_of(path): line_count(path)
        for path in project_files()
        if path.suffix == ".py" and line_count(path) > most(path) and path.name not in GENERATED
    }
    assert too_long == {}, "split them: is it one room or two?"


def command_modules() -> set[Path]:
    """The files that hold a command, by the table of all commands."""

    def targets(entries):
        for entry in entries.values():
            if isinstance(entry, Noun):
                yield from targets(entry.rows)
            else:
                texts = (entry.operation.get(key, "") for key in ("command", "run", "text"))
                yield from (text.partition(":")[0] for text in texts)

    modules = {each for each in targets(COMMANDS) if each.startswith("uwf_core.cli.")}
    return {CORE.parent / (module.replace(".", "/") + ".py") for module in modules}


def test_a_command_module_parses_calls_and_renders_and_no_more():
    """Longer ones hide logic that belongs in a room below, or hold two topics."""
    too_long = {
        name_of(path): line_count(path)
        for path in command_modules()
        if line_count(path) > COMMAND_MODULE_LINES
    }
    assert too_long == {}


def test_every_function_fits_on_a_screen():
    too_long = [
        f"{place}: {lines} lines"
        for module in counted_modules()
        for place, lines in module.functions()
        if lines > FUNCTION_LINES
    ]
    assert too_long == []


def test_a_step_is_one_value_that_its_stages_fill():
    """`Attempt`; the others are what a run and a stage are given, and what the run gives back."""
    assert step_records(counted_modules()) == [
        "Attempt", "Intent", "Outcome", "Run", "RunOptions", "Situation", "SplitReply", "Task",
        "Transition",
    ]  # fmt: skip
