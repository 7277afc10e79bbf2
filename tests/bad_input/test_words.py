"""Whatever is said wrongly on the command line: one clear error, the right exit code, and not a
byte changed.
"""

from collections.abc import Iterator, Mapping

import pytest
from refusals import World

from uwf_core.operations.rows import Entry, Noun, own_commands

COMMANDS = own_commands().rows

USAGE, UNKNOWN, STATE, AMBIGUOUS = "usage", "unknown-id", "wrong-state", "ambiguous-id"
NO_THREAD = "01JD0000000000000000000000"
NO_NODE = "0000000000000"

WRONG_WORDS = [
    ("frobnicate",),
    ("thread", "frobnicate"),
    ("thread", "list", "--frobnicate"),
    ("thread", "step", "x"),
    ("thread", "show"),
    ("thread", "show", "a", "b"),
    ("thread", "exec"),
    ("thread", "list", "--format", "xml"),
    ("thread", "list", "--color", "mauve"),
    ("thread", "list", "--status", "asleep"),
    ("thread", "list", "--after", "yesterday"),
    ("thread", "list", "--before", "99999-01-01"),
    ("thread", "list", "--after", "9999999d"),
    ("thread", "list", "--limit", "0"),
    ("thread", "list", "--limit", "-1"),
    ("thread", "list", "--offset", "-1"),
    ("thread", "start", "loop"),
    ("thread", "start", "loop", "-p", ""),
    ("thread", "start", "loop", "-p", " \n\t"),
    ("thread", "start", "loop", "-p", "@missing.md"),
    ("thread", "start", "loop", "-p", "@."),
    ("thread", "start", "loop", "-p", "@"),
    ("thread", "start", "loop", "-p", "@latin1.md"),
    ("thread", "start", "loop", "-p", "x", "--cwd", "missing"),
    ("thread", "start", "loop", "-p", "x", "--cwd", "latin1.md"),
    ("thread", "start", "loop", "-p", "x", "--cwd", "a\0b".replace("\0", "\n")),
    ("thread", "start", "", "-p", "x"),
    ("thread", "start", " ", "-p", "x"),
    ("thread", "start", "loop", "-p", "x", "--agent", ""),
    ("thread", "start", "loop", "-p", "x", "--agent", "'open quote"),
    ("run", "loop", "-p", ""),
    ("run", "loop", "-p", "x", "--cwd", "missing"),
    ("cas", "hash", "string", "missing.json"),
    ("cas", "put", "string", "missing.json"),
    ("completion", "tcsh"),
    ("thread", "show", "\udcff\udcfe"),
    ("thread", "start", "loop", "-p", "a \udcff prompt"),
    ("thread", "start", "\udcff.yaml", "-p", "x"),
    ("workflow", "check", "\udcff"),
    ("thread", "poke", "idle", "-p", "  "),
    ("thread", "poke", "idle"),
    ("thread", "exec", "idle", "-c", "0"),
    ("thread", "exec", "idle", "-c", "-1"),
    ("thread", "exec", "idle", "-c", "many"),
    ("thread", "wait", "idle", "--timeout", "-1"),
    ("thread", "wait", "idle", "--timeout", "soon"),
    ("thread", "read", "idle", "--quota", "0"),
    ("thread", "resume", "suspended", "-p", " "),
    ("step", "ask", "@last", "-p", ""),
    ("inbox", "--answer"),
    ("watch", "a", "b"),
    ("thread", "list", "--tag", "x"),
    ("thread", "list", "--failure", "tired"),
    ("thread", "tag", "idle", "x"),
    ("thread", "tag", "idle", "a b=c"),
    ("thread", "tag", "idle", "a=" + "x" * 300),
    ("thread", "tag", "idle"),
    ("thread", "start", "loop", "-p", "x", "--tag", "x"),
    ("run", "loop", "-p", "x", "--tag", "a=b\nc"),
    ("thread", "rm"),
    ("thread", "rm", "completed", "--status", "completed"),
    ("thread", "rm", "--status", "completed"),
    ("thread", "rm", "--status", "idle"),
    ("thread", "cancel", "--agent", "mock"),
    ("thread", "cancel", "idle", "fresh", "--head", NO_NODE),
    ("store", "prune"),
    ("store", "prune", "--older-than", "soon"),
]

ON_A_THREAD = ("show", "exec", "resume", "stop", "cancel", "wait", "rm", "read")
UNKNOWN_IDS = [
    *(("thread", word, NO_THREAD) for word in ON_A_THREAD),
    ("thread", "poke", NO_THREAD, "-p", "x"),
    ("thread", "tag", NO_THREAD, "a=b"),
    ("thread", "cancel", "idle", NO_THREAD),
    ("watch", NO_THREAD),
    ("thread", "show", "01JD"),
    ("thread", "show", "01"),
    ("thread", "show", ""),
    ("thread", "show", "' OR 1=1 --"),
    ("thread", "show", "%"),
    ("thread", "show", "../../../etc/passwd"),
    ("thread", "show", "é" * 26),
    ("thread", "show", "0" * 100_000),
    ("thread", "fork", NO_NODE),
    ("step", "fork", NO_NODE),
    ("step", "list", NO_THREAD),
    ("step", "turns", NO_THREAD),
    *(("step", word, NO_NODE) for word in ("show", "read")),
    ("step", "ask", NO_NODE, "-p", "x"),
    ("step", "show", "x"),
    ("thread", "read", "idle", "--before", NO_NODE),
    ("thread", "start", "lop", "-p", "x"),
    ("thread", "start", NO_NODE, "-p", "x"),
    ("thread", "start", "missing.yaml", "-p", "x"),
    ("thread", "start", "./missing/loop", "-p", "x"),
    ("workflow", "show", "lop"),
    ("workflow", "graph", "lop"),
    ("thread", "start", "loop", "-p", "x", "--agent", "nobody"),
    ("thread", "exec", "idle", "--agent", "nobody"),
    ("thread", "exec", "fresh", "--agent", "nobody"),
    ("agent", "check", "nobody"),
    ("log", "show", "zzzz"),
]

WRONG_STATES = [
    ("thread", "exec", "cancelled"),
    ("thread", "exec", "cancelled", "--background"),
    ("thread", "resume", "idle"),
    ("thread", "resume", "fresh", "-p", "x"),
    ("thread", "resume", "cancelled"),
    ("thread", "resume", "asking", "-p", "red"),
    ("thread", "resume", "asking"),
    ("thread", "resume", "suspended", "--answer", "colour=red"),
    ("thread", "resume", "failed", "--answer", "colour=red"),
    ("thread", "poke", "fresh", "-p", "x"),
    ("thread", "poke", "failed", "-p", "x"),
    ("thread", "poke", "asking", "-p", "x"),
    ("thread", "poke", "cancelled", "-p", "x"),
    *(("thread", "cancel", name) for name in ("completed", "cancelled")),
    *(("thread", "rm", name) for name in ("idle", "fresh", "suspended", "failed")),
    *(("thread", "stop", name) for name in ("idle", "completed", "failed")),
    ("thread", "rm", "fresh", "completed"),
    ("thread", "cancel", "cancelled", "idle"),
    ("thread", "exec", "idle", "--head", NO_NODE),
    ("thread", "resume", "suspended", "-p", "x", "--head", NO_NODE),
]

BAD_ANSWERS = ["colour=blue", "{", "[]", "null", "colour", '{"colour": 1e999}', "=red", "[1]"]

NOTHING_TO_DO = [("completed", 0), ("suspended", 3), ("asking", 3)]


def filled(world: World, words: tuple[str, ...]) -> list[str]:
    return [world.threads.get(word, word) for word in words]


@pytest.fixture(autouse=True, scope="module")
def files(world: World) -> None:
    (world.folder / "latin1.md").write_bytes(b"caf\xe9")


def commands(entries: Mapping[str, Entry], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, entry in entries.items():
        if isinstance(entry, Noun):
            yield from commands(entry.rows, (*path, name))
        else:
            yield (*path, name)


COMMANDS_BY_WORDS = [*commands(COMMANDS)]


def name_of(words: object) -> str:
    return " ".join(words)[:60] if isinstance(words, tuple) else str(words)


@pytest.mark.parametrize("words", WRONG_WORDS, ids=name_of)
def test_wrong_words_change_nothing(world: World, words: tuple[str, ...]) -> None:
    world.refuse(2, USAGE, *filled(world, words))


@pytest.mark.parametrize("words", sorted(COMMANDS_BY_WORDS), ids=name_of)
def test_no_command_that_rejects_an_option_changes_anything(
    world: World, words: tuple[str, ...]
) -> None:
    world.refuse(2, USAGE, *words, "--frobnicate")


@pytest.mark.parametrize("words", UNKNOWN_IDS, ids=name_of)
def test_what_does_not_exist_is_said_and_nothing_changes(
    world: World, words: tuple[str, ...]
) -> None:
    world.refuse(2, UNKNOWN, *filled(world, words))


@pytest.mark.parametrize("words", WRONG_STATES, ids=name_of)
def test_what_the_state_forbids_changes_nothing(world: World, words: tuple[str, ...]) -> None:
    error = world.refuse(2, STATE, *filled(world, words))
    assert filled(world, words[2:3])[0] in error["message"], "it names the thread"


@pytest.mark.parametrize("answer", BAD_ANSWERS)
def test_an_answer_that_does_not_fit_moves_nothing(world: World, answer: str) -> None:
    world.refuse(
        4, "invalid-payload", "thread", "resume", world.threads["asking"], "--answer", answer
    )


@pytest.mark.parametrize(("name", "code"), NOTHING_TO_DO)
def test_exec_where_there_is_nothing_to_run_says_so_and_changes_nothing(
    world: World, name: str, code: int
) -> None:
    before = world.state()
    answer = world.call("thread", "exec", world.threads[name])
    assert answer.exit_code == code
    after = world.state()
    assert {file: after[file] for file in before if "logs" not in file and "runs" not in file} == {
        file: before[file] for file in before if "logs" not in file and "runs" not in file
    }


def test_a_prefix_that_fits_several_threads_names_them(world: World) -> None:
    error = world.refuse(2, AMBIGUOUS, "thread", "show", world.threads["idle"][:6])
    assert world.threads["idle"][:6] in error["message"]


def test_commands_on_a_machine_without_a_store_make_none(rig: World) -> None:
    for words in (
        ("thread", "show", NO_THREAD),
        ("thread", "exec", "@last"),
        ("step", "show", NO_NODE),
        ("thread", "cancel", NO_THREAD),
    ):
        rig.refuse(2, UNKNOWN, *words)
    assert rig.call("thread", "list").exit_code == 0
    assert not rig.home.exists()
