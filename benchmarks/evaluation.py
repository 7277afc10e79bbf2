"""uwf-eval: what a run costs before its trials, and each trial; two jobs; reading 10,000 trials."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.measure import Case, interleaved, ratio
from benchmarks.world import User

UWF_EVAL = str(Path(sys.executable).with_name("uwf-eval"))
SLOW_MS = 200

_WORKFLOW = """\
version: 1
name: once
roles:
  worker:
    goal: work
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: worker, prompt: Begin.}, resume: {role: worker, prompt: Continue.}}
  worker: {done: {role: $END, prompt: Done.}}
"""
_SCRIPT = """\
repeat: true
steps:
  - {role: worker, output: "---\\n$status: done\\n---\\nhello\\n", delayMs: %d}
"""
_TASK = """\
version: 1
name: %s
workflow: once.yaml
prompt: Say hello.
agent: mock
env: {UWF_MOCK_SCRIPT: ./script.yaml}
judges:
  - {name: route, builtin: expected-route, options: {route: [worker]}}
"""


def trials(
    folder: Path, rounds: int, count: int, peers: dict[str, float] | None
) -> Iterator[Figure]:  # fmt: skip
    """A run of one trial as a process, and what each further one takes.

    Args:
        folder: where to work. rounds: how often. count: trials of the long run.
        peers: seconds of each trial in other tools, by their names; None where not asked for.
    """
    user = User(folder / "trials")
    task = _task(folder / "tiny", 0)
    few = max(2, rounds // 5)
    cases = {"one": _run(user, task, 1), "many": _run(user, task, count)}
    times = interleaved(cases, few)
    yield Figure("eval, a run of 1 trial", ratio(times, "one"), "x py", 15.0, "fixed cost and all")
    one, many = min(times["one"]), min(times["many"])
    each = (many - one) / (count - 1)
    name = f"eval, each of {count} trials"
    yield Figure(name, each * 1000, "ms", note="durable, one job, best run")
    for peer, most in (("promptfoo", 1.5), ("Inspect AI", 0.7)):
        seconds = (peers or {}).get(peer)
        note = (
            "with --peers" if peers is None else f"{seconds * 1000:.1f} ms" if seconds else "none"
        )
        yield Figure(name, each / seconds if seconds else None, f"x {peer}", most, note)
    yield from _two_jobs(user, folder, few)


def _two_jobs(user: User, folder: Path, rounds: int) -> Iterator[Figure]:
    """Two jobs against one, for trials that take some time, without what the run itself costs."""
    task = _task(folder / "slow", SLOW_MS)
    cases = {
        "none": _run(user, task, 1),
        "alone": _run(user, task, 30),
        "pair": _run(user, task, 30, "--jobs", "2"),
    }
    times = interleaved(cases, rounds)
    none = min(times["none"])
    share = (min(times["pair"]) - none) / (min(times["alone"]) - none)
    note = f"{1 / share:.2f} times as fast; trials of {SLOW_MS} ms and more"
    yield Figure("eval, 2 jobs", share, "x 1 job", 1 / 1.6, note)


def reading(folder: Path, rounds: int, count: int) -> Iterator[Figure]:
    """`list` and `report` of a store with so many trials."""
    user = User(folder / "reading")
    _fill(user, count)
    cases = {
        "list": _call(user, "list"),
        "report": _call(user, "report"),
        "report --format html": _call(user, "report", "--format", "html"),
    }
    times = interleaved(cases, max(3, rounds // 3))
    for name in cases:
        most = None if "html" in name else 1.0
        note = f"{ratio(times, name):.1f} x py; the best"
        yield Figure(f"eval {name}, {count:,} trials", min(times[name]), "s", most, note)


def _task(folder: Path, delay_ms: int) -> Path:
    folder.mkdir(parents=True)
    (folder / "once.yaml").write_text(_WORKFLOW, encoding="utf-8")
    (folder / "script.yaml").write_text(_SCRIPT % delay_ms, encoding="utf-8")
    (folder / "task.yaml").write_text(_TASK % folder.name, encoding="utf-8")
    return folder


def _run(user: User, task: Path, count: int, *words: str) -> Case:
    return _call(user, "run", str(task), "--repeat", str(count), *words)


def _call(user: User, *words: str) -> Case:
    return user.case()._replace(argv=[UWF_EVAL, *words])


def _fill(user: User, count: int) -> None:
    """Store a run of so many trials in 50 tasks, as one that was really run leaves them."""
    from uwf_core.client import Client
    from uwf_eval.records import RunTask
    from uwf_eval.store.results import Results

    user_run = _run(user, _task(user.project / "tiny", 0), 2)
    user_run.run()
    with Client.open(env=user.environment, cwd=user.project) as client:
        results = Results(client)
        run = results.run("@last")
        example = results.trials(run.run)[0]
        tasks = [RunTask(name=f"task-{n}", source="folder", place="", digest="") for n in range(50)]
        large = replace(run, run="7" + run.run[1:], trials=count, tasks=tasks)
        made = [
            replace(
                example, run=large.run, number=n + 1,
                cell=replace(example.cell, task=f"task-{n % 50}", repeat=n // 50 + 1),
            )
            for n in range(count)
        ]  # fmt: skip
        results.save_run(large, [replace(each, state="not_run", judges=()) for each in made])
        results.save_trials(made)
        results.write_pages(large.run)
