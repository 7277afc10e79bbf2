"""`maxUnchanged`: a role that delivers the same again and again stops its thread; no other does.

`maxElapsed`: time counts, waiting included.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.engine.test_thread_state import check

from uwf_core.api.sums import NOTHING_USED
from uwf_core.client import Client
from uwf_core.errors import UsageError
from uwf_core.testing.project import Project
from uwf_core.thread.decisions import Event, runs
from uwf_core.thread.fold import begin as begun_state
from uwf_core.thread.fold import fold
from uwf_core.thread.head import from_tags, to_tags
from uwf_core.thread.limits import elapsed_ms
from uwf_core.thread.state import ThreadState


def _variants(statuses: Iterable[str]) -> str:
    each = (
        f"{{properties: {{$status: {{const: {status}}}, note: {{type: string}}}}, "
        "required: [$status]}"
        for status in statuses
    )
    return f"    frontmatter: {{oneOf: [{', '.join(each)}]}}\n"


AGENT, FAILING = ("red", "blue", "done"), ("red", "done")
ROLE = "    goal: Work.\n" + _variants(AGENT)
PROGRAM = "    program: {argv: [sh, ./check.sh], statuses: {0: red, 9: done}}\n" + _variants(
    FAILING
)
ROUNDS = 12
SAME, WORDS, EVERY, THIRD = "nothing", "words", "files", "files in each third round"


def workflow(roles: dict[str, str], *, record: bool = False, top: str = "") -> str:
    """Roles that follow each other in a circle, until one is done."""
    names, graph = list(roles), ""
    for name, after in zip(names, [*names[1:], names[0]], strict=True):
        statuses = FAILING if "program:" in roles[name] else AGENT
        edges = [f"{each}: {{role: {after}, prompt: Again.}}" for each in statuses[:-1]]
        graph += f"  {name}: {{{', '.join(edges)}, done: {{role: $END, prompt: Done.}}}}\n"
    text = "".join(f"  {name}:\n{text}" for name, text in roles.items())
    return (
        f"name: looping\nrecord: {str(record).lower()}\n{top}roles:\n{text}graph:\n"
        f"  $START: {{new: {{role: {names[0]}, prompt: Again.}}, "
        f"resume: {{role: {names[0]}, prompt: More.}}}}\n{graph}"
    )


def red(role: str, note: str = "x", status: str = "red") -> dict[str, Any]:
    return {"role": role, "output": {"$status": status, "note": note}}


def begin(project: Project, uwf: Client, text: str, steps: list[Any], **options: Any) -> str:
    project.trust()
    project.workflow("looping", text)
    project.script(steps)
    return str(uwf.start("looping", "x", **options)["thread"])


def changes(project: Project, kind: str) -> None:
    """The program changes a file in every round, in each third one, or never."""
    every = {EVERY: 1, THIRD: 3}.get(kind, 1000)
    (project.folder / "check.sh").write_text(
        "n=$(cat ../n 2>/dev/null || echo 0); echo $((n + 1)) > ../n\n"
        f"[ $(( (n + 1) % {every} )) -ne 0 ] || echo $n > result\n"
    )


def notes(kind: str) -> Iterator[str]:
    return map(str, itertools.count()) if kind == WORDS else itertools.repeat("the same")


LOOPS = [
    # shape, whether files are recorded, what changes, how many steps the thread takes
    ("alone", False, SAME, 4),
    ("alone", False, WORDS, ROUNDS),
    ("alone", True, SAME, 4),
    ("alone", True, WORDS, 4),
    ("alternating", False, SAME, ROUNDS),
    ("alternating", False, WORDS, ROUNDS),
    ("alternating", True, SAME, ROUNDS),
    ("alternating", True, WORDS, ROUNDS),
    ("pair", False, SAME, 8),
    ("pair", False, WORDS, ROUNDS),
    ("pair", True, SAME, 8),
    ("pair", True, WORDS, 8),
    ("program", False, SAME, 8),
    ("program", False, WORDS, ROUNDS),
    ("program", True, SAME, 8),
    ("program", True, WORDS, 8),
    ("program", True, EVERY, ROUNDS),
    ("program", True, THIRD, ROUNDS),
    ("poll", False, SAME, ROUNDS),
    ("poll", True, SAME, ROUNDS),
]


@pytest.mark.parametrize(("shape", "record", "kind", "steps"), LOOPS)
def test_a_loop_without_progress_ends_and_no_other_one(
    project: Project, uwf: Client, shape: str, record: bool, kind: str, steps: int
) -> None:
    changes(project, kind)
    other = {"pair": ROLE, "program": PROGRAM, "poll": PROGRAM}.get(shape)
    roles = {"builder": PROGRAM if shape == "poll" else ROLE}
    roles |= {} if other is None else {"checker": other}
    note, script = notes(kind), list[Any]()
    for number in range(ROUNDS):
        role = "checker" if other and number % 2 else "builder"
        status = "blue" if shape == "alternating" and number % 2 else "red"
        script.append(red(role, next(note), status))
    thread = begin(project, uwf, workflow(roles, record=record), script)
    outcome = uwf.exec(thread, count=ROUNDS)
    assert len(uwf.steps(thread)) - 1 == steps
    assert (outcome.exit_code == 5) == (steps < ROUNDS)
    if steps < ROUNDS:
        cycle = "builder -> checker -> builder" if other else "builder -> builder"
        assert outcome.document["suspendMessage"] == (
            f"maxUnchanged 4 of role builder is reached: {cycle} made no progress 4 times in a row"
        )
    check(uwf, thread)


def test_a_person_grants_further_rounds_or_says_something_new(
    project: Project, uwf: Client
) -> None:
    text = workflow({"builder": ROLE})
    thread = begin(project, uwf, text, [red("builder")] * 40)
    assert uwf.exec(thread, until_done=True).exit_code == 5
    assert uwf.exec(thread).exit_code == 5, "still the same"
    (item,) = uwf.inbox()
    assert "unchanged=4" in str(item)
    assert uwf.resume(thread, grants=["unchanged=2"], until_done=True).exit_code == 5
    assert len(uwf.steps(thread)) - 1 == 6
    assert uwf.resume(thread, until_done=True).exit_code == 5
    assert len(uwf.steps(thread)) - 1 == 10, "the same allowance once more"
    other = begin(project, uwf, text, [red("builder")] * 40)
    uwf.exec(other, until_done=True)
    assert uwf.resume(other, "Look into the log.").exit_code == 0
    assert uwf.exec(other, until_done=True).exit_code == 5
    assert len(uwf.steps(other)) - 1 == 4 + 1 + 8, "it counts anew after the words of a person"
    for each in (thread, other):
        check(uwf, each)
    project.uwf("thread", "why", thread)
    why = project.uwf("thread", "why", thread, "--format", "text").stdout
    assert "4 of 4 runs of the role without progress" in why
    assert "builder -> builder made no progress 4 times in a row" in why


@pytest.mark.parametrize(("most", "steps"), [(0, ROUNDS), (2, 2), (7, 7)])
def test_a_role_says_how_often_it_may_deliver_the_same(
    project: Project, uwf: Client, most: int, steps: int
) -> None:
    text = workflow({"builder": f"    limits: {{maxUnchanged: {most}}}\n{ROLE}"})
    thread = begin(project, uwf, text, [red("builder")] * ROUNDS)
    uwf.exec(thread, count=ROUNDS)
    assert len(uwf.steps(thread)) - 1 == steps


def test_a_person_who_answers_the_same_is_not_stopped(project: Project, uwf: Client) -> None:
    thread = begin(project, uwf, workflow({"builder": ROLE}), [], agent="human")
    for _ in range(6):
        uwf.exec(thread)
        assert uwf.resume(thread, answer='{"$status": "red"}').exit_code in (0, 4, 5)
    assert len(uwf.steps(thread)) - 1 >= 6
    assert uwf.show(thread)["suspendReason"] in (None, "role")


def test_a_fork_counts_its_own_rounds(project: Project, uwf: Client) -> None:
    thread = begin(project, uwf, workflow({"builder": ROLE}), [red("builder")] * 20)
    uwf.exec(thread, until_done=True)
    fork = uwf.fork(uwf.show(thread)["head"])["thread"]
    assert uwf.exec(fork, until_done=True).exit_code == 5
    assert len(uwf.steps(fork)) - 1 == 8
    check(uwf, fork)


VISIT = st.tuples(
    st.sampled_from(["a", "b"]),  # the role
    st.sampled_from(["red", "blue"]),  # its status
    st.sampled_from(["tree-1", "tree-2"]),  # the files after it
    st.sampled_from([None, "a text"]),  # what a person said
    st.integers(0, 50),  # the time that it took, waiting included
)


BEGAN_MS = 1_000


def folded(visits: list[Any]) -> ThreadState:
    """The state of a thread after these steps."""
    texts = dict.fromkeys(("cwd", "workflow", "workflowName", "start"), "x")
    begun = {"thread": "0" * 26, "agent": None, "limits": None, "seq": 0, "depth": 0}
    begun |= {**texts, "atMs": BEGAN_MS, "next": runs("a")}
    state = begun_state(Event("started", "", begun))
    ended = BEGAN_MS
    for number, (role, status, tree, said, ms) in enumerate(visits, 1):
        ended += ms
        step = {
            "thread": state.thread, "seq": state.seq, "number": number, "role": role, "agent": "m",
            "attempt": {"replaces": None, "said": said, "answer": None}, "call": None,
            "session": None, "failure": None, "ancestors": [*state.ancestors], "status": status,
            "files": {"artifacts": None, "workspace": {"after": {"tree": tree}}},
            "usage": NOTHING_USED, "startedAtMs": ended, "completedAtMs": ended, "next": runs("a"),
        }  # fmt: skip
        state = fold(state, Event("step", f"step-{number}", step))
    return state


@given(st.lists(VISIT, max_size=30))
def test_the_state_counts_the_equal_visits_at_the_end_and_the_time_of_each_role(
    visits: list[Any],
) -> None:
    state = folded(visits)
    elapsed = sum(each[-1] for each in visits)
    assert state.since_ms == BEGAN_MS + elapsed
    assert elapsed_ms(state, state.since_ms + 7) == elapsed + 7
    for role in ("a", "b"):
        own = [each for each in visits if each[0] == role]
        assert state.role(role).elapsed_ms == sum(each[-1] for each in own)
        equal = itertools.takewhile(
            lambda each, own=own: each[3] is None and each[1:3] == own[-1][1:3], reversed(own)
        )
        assert state.role(role).unchanged == len(list(equal))
    assert from_tags(state.thread, to_tags(state)) == state


# -- the time, waiting included --------------------------------------------------------------------

ELAPSED = workflow({"builder": ROLE})


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """All that follows happens so much later."""
    from uwf_core.engine.engine import Engine

    now = Engine.now_ms
    monkeypatch.setattr(Engine, "now_ms", lambda self: now(self) + int(seconds * 1000))


@pytest.mark.parametrize(
    ("old", "new", "origin"),
    [
        ("roles:\n", "limits: {maxElapsed: 45m}\nroles:\n", "workflow looping"),
        ("builder:\n", "builder:\n    limits: {maxElapsed: 2700}\n", "role builder"),
    ],
)
def test_time_counts_while_nothing_runs(
    project: Project,
    uwf: Client,
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    new: str,
    origin: str,
) -> None:
    thread = begin(
        project, uwf, ELAPSED.replace(old, new, 1), [red("builder", str(n)) for n in range(9)]
    )
    assert uwf.exec(thread).exit_code == 0
    later(monkeypatch, 44 * 60)
    assert uwf.exec(thread).exit_code == 0
    later(monkeypatch, 2 * 60)
    stopped = uwf.exec(thread)
    assert stopped.exit_code == 5
    assert stopped.document["suspendMessage"] == (
        f"maxElapsed 45m of {origin} is reached (46m used)"
    )
    check(uwf, thread)
    later(monkeypatch, 8 * 3600)
    assert uwf.exec(thread).exit_code == 5
    (item,) = uwf.inbox()
    assert "elapsed=45m" in str(item)
    with pytest.raises(UsageError, match="is not an amount"):
        uwf.resume(thread, grants=["elapsed=soon"])
    assert uwf.resume(thread, grants=["elapsed=10m"]).exit_code == 0, "from now on"
    later(monkeypatch, 9 * 60)
    assert uwf.exec(thread).exit_code == 0
    later(monkeypatch, 2 * 60)
    assert uwf.exec(thread).exit_code == 5
    assert uwf.resume(thread).exit_code == 0, "the same allowance once more, from now on"
    why = project.uwf("thread", "why", thread, "--format", "text").stdout
    assert "of 45 minutes with all that it waited for" in why
    check(uwf, thread)


def test_what_a_completed_thread_rests_does_not_count(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = workflow({"builder": ROLE}, top="limits: {maxElapsed: 1h}\n")
    again = [red("builder", str(n)) for n in range(4)]
    thread = begin(project, uwf, text, [red("builder", status="done"), *again])
    assert uwf.exec(thread).document["status"] == "completed"
    later(monkeypatch, 3 * 86_400)
    assert uwf.resume(thread, "Once more.").exit_code == 0
    assert uwf.exec(thread).exit_code == 0
    later(monkeypatch, 3_601)
    assert uwf.exec(thread).exit_code == 5
    check(uwf, thread)


def test_the_time_of_a_call_covers_what_is_called(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.workflow("inner", ELAPSED.replace("name: looping", "name: inner"))
    outer = (
        "name: looping\nroles:\n  sub: {workflow: ./inner.yaml}\ngraph:\n"
        "  $START: {new: {role: sub, prompt: Go., limits: {maxElapsed: 1h}}, "
        "resume: {role: sub, prompt: More.}}\n  sub: {done: {role: $END, prompt: Done.}}\n"
    )
    thread = begin(project, uwf, outer, [red("builder", str(n)) for n in range(9)])
    assert uwf.exec(thread).exit_code == 0
    later(monkeypatch, 3_601)
    stopped = uwf.exec(thread)
    assert stopped.exit_code == 5
    assert "maxElapsed 1h of the call of sub" in str(stopped.document)
    assert uwf.resume(thread).exit_code == 0
    check(uwf, thread)


def test_a_thread_gets_its_time_at_its_start(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [red("builder", str(n)) for n in range(9)]
    begin(project, uwf, ELAPSED, words, limits={"maxElapsed": "2h"})
    started = project.uwf("thread", "start", "looping", "-p", "x", "--max-elapsed", "2h")
    thread = started.document["thread"]
    assert uwf.exec(thread).exit_code == 0
    later(monkeypatch, 7_201)
    assert "maxElapsed 2h of --max-elapsed" in uwf.exec(thread).document["suspendMessage"]
