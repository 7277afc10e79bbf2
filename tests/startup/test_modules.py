"""No command imports more than its level of laziness allows; each runs in a process of its own."""

import sys
from pathlib import Path

import pytest
from levels import (
    CALLS,
    LEVEL_OF,
    LEVELS,
    NEVER_BEFORE_A_COMMAND_IS_NAMED,
    OF_OTHER_WORKFLOWS,
    Level,
)

import uwf_core
from uwf_core.operations.plugin_rows import every_command
from uwf_core.operations.rows import Noun

COMMANDS = every_command().rows

OWN = "uwf_core"
CORE = Path(uwf_core.__file__).parent
OWN_MODULES_OF_A_STEP = 130
OWN_MODULES_OF_A_LIST = 60
NAMED_BY_A_BUILD = ("_cython_", "_sysconfigdata_")  # of PyYAML's extension, of Python itself


def is_below(module: str, roots) -> bool:
    """Whether `module` is one of `roots` or below one."""
    parts = module.split(".")
    return any(".".join(parts[:length]) in roots for length in range(1, len(parts) + 1))


def unwanted(modules: set[str], level: Level) -> list[str]:
    """What a process holds that its level does not allow."""
    own = set(sys.stdlib_module_names) | {OWN}
    any_library = level.libraries is None
    allowed = own if any_library else own | level.libraries
    return sorted(
        module
        for module in modules
        if not (
            any_library or module.split(".")[0] in allowed or module.startswith(NAMED_BY_A_BUILD)
        )
        or is_below(module, level.closed)
    )


def all_commands() -> set[str]:
    """Every command of the command line, as a user types it."""

    def below(entries, words):
        for name, entry in entries.items():
            if isinstance(entry, Noun):
                yield from below(entry.rows, (*words, name))
            else:
                yield " ".join((*words, name))

    return set(below(COMMANDS, ()))


def test_every_command_is_measured_here():
    assert all_commands() <= {call.command for call in CALLS}


def test_every_level_is_that_of_a_command():
    """A typing error in the table would lower a command to level 3 unseen."""
    assert set(LEVEL_OF) <= all_commands() | {"--version", "--help", "__complete"}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.words.replace("/", "-"))
def test_a_command_imports_what_its_level_allows_and_no_more(call, place, tmp_path):
    words = [word.format(**place.words) for word in call.words.split()]
    code, modules, stderr = place.modules_of(words, tmp_path / "modules")
    assert code == call.exit_code, stderr
    level = LEVEL_OF.get(call.command, 3)
    assert unwanted(modules, LEVELS[level]) == [], f"level {level}: {LEVELS[level].meaning}"


def test_the_version_is_told_before_anything_is_imported(place, tmp_path):
    _, modules, _ = place.modules_of(["--version"], tmp_path / "modules")
    assert {module for module in modules if is_below(module, NEVER_BEFORE_A_COMMAND_IS_NAMED)} == (
        set()
    )


def test_help_imports_no_command(place, tmp_path):
    _, modules, _ = place.modules_of(["--help"], tmp_path / "modules")
    assert set(targets(COMMANDS)) & modules == set()


def targets(entries):
    """The modules that commands call."""
    for entry in entries.values():
        if isinstance(entry, Noun):
            yield from targets(entry.rows)
        else:
            texts = (entry.operation.get(key, "") for key in ("command", "run", "target", "text"))
            yield from (text.partition(":")[0] for text in texts if ":" in text)


@pytest.mark.parametrize(
    ("words", "most"),
    [("thread exec {thread}", OWN_MODULES_OF_A_STEP), ("thread list", OWN_MODULES_OF_A_LIST)],
)
def test_a_command_imports_no_more_of_our_own_modules(words, most, place, tmp_path):
    """Each costs a search, a read and a run of its code; packages that hold only a docstring are
    not counted.
    """
    _, modules, _ = place.modules_of(words.format(**place.words).split(), tmp_path / "modules")
    code = {
        f"{OWN}.{'.'.join(path.relative_to(CORE).with_suffix('').parts)}"
        for path in CORE.rglob("*.py")
        if path.name != "__init__.py"
    }
    print(len(modules & code), "modules of our own:", *sorted(modules & code))
    assert len(modules & code) <= most


@pytest.mark.parametrize(
    "words",
    ["workflow check {file}", "workflow add {file}", "run pair -p task", "step show {step}"],
)
def test_a_plain_workflow_imports_nothing_of_what_it_does_not_use(words, place, tmp_path):
    _, modules, _ = place.modules_of(words.format(**place.words).split(), tmp_path / "modules")
    assert modules & OF_OTHER_WORKFLOWS == set()
    files = [CORE.parent / f"{each.replace('.', '/')}.py" for each in OF_OTHER_WORKFLOWS]
    assert all(file.exists() for file in files)


@pytest.mark.parametrize("words", ["thread list", "thread exec {thread}"])
def test_a_short_command_imports_no_pathlib(words, place, tmp_path):
    """With what it needs it takes a quarter of a bare Python; plugins may still import it."""
    _, modules, _ = place.modules_of(words.format(**place.words).split(), tmp_path / "modules")
    assert "pathlib" not in modules


def test_the_measurement_sees_what_is_imported(place, tmp_path):
    """Else every other test here would pass on an empty list."""
    _, modules, _ = place.modules_of(["workflow", "check", "pair.yaml"], tmp_path / "modules")
    assert {"click", "uwf_core.cli.main", "json"} <= modules
