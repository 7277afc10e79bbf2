"""Steps: one as a process, many in one, on short and long threads; reading a long thread."""

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.measure import BASE, Case, interleaved, one_sync_ms, peak_megabytes, ratio, syncs
from benchmarks.world import User

MANY = 50


def one_step(folder: Path, rounds: int) -> Iterator[Figure]:
    """`thread exec` of one step with the mock agent, durable, as a process."""
    user = User(folder / "one")
    case = user.case("thread", "exec", user.thread())
    times = interleaved({"exec": case}, rounds)
    yield Figure("thread exec, one step", ratio(times, "exec"), "x py", 12.5, "mock agent, durable")
    counted = syncs(case, folder / "syncs-one")
    yield Figure(
        "thread exec, one step: syncs",
        counted,
        "syncs",
        note=_why(counted) or "opening and closing the store included",
    )
    yield Figure("peak memory, thread exec", peak_megabytes(case), "MB")


def many_steps(
    folder: Path, rounds: int, langgraph_ms: float | None, most: float
) -> Iterator[Figure]:  # fmt: skip
    """`thread exec -c 50`, for each step: time without the process's own, and syncs."""
    user = User(folder / "many")
    thread = user.thread()
    cases = {
        "one": user.case("thread", "exec", thread),
        "many": user.case("thread", "exec", thread, "-c", str(MANY)),
    }
    times = interleaved(cases, max(3, rounds // 3))
    each = [
        (many - one) / (MANY - 1) * 1000
        for one, many in zip(times["one"], times["many"], strict=True)
    ]
    step_ms = median(each)
    sync_ms = one_sync_ms(folder)
    name = f"thread exec -c {MANY}, each step"
    yield Figure(name, step_ms, "ms", note=f"one fdatasync here: {sync_ms:.2f} ms")
    yield Figure(
        name,
        step_ms / langgraph_ms if langgraph_ms else None,
        "x LangGraph sync",
        most,
        f"{langgraph_ms:.2f} ms" if langgraph_ms else "with --peers",
    )
    counted = syncs(cases["many"], folder / "syncs-many")
    yield Figure(f"{name}: syncs", counted and counted / MANY, "syncs", 2.0, _why(counted))


def _replay(user: User, threads: tuple[str, str], rounds: int, more: int) -> Figure:
    """`replay`, for each of the `more` steps that the second thread has, without the process."""
    cases = {name: user.case("replay", name) for name in threads}
    times = interleaved(cases, rounds)
    short, long = (times[name] for name in threads)
    each_ms = median(b - a for a, b in zip(short, long, strict=True)) / more * 1000
    return Figure("replay, each step", each_ms, "ms", 2.0, f"{1000 / each_ms:,.0f} steps a second")


def long_threads(folder: Path, rounds: int, length: int) -> Iterator[Figure]:
    """A step on a long thread against one on a short thread; reading half of the long one."""
    user = User(folder / "long")
    short, long = user.thread(10), user.thread(length // 2)
    read = {"read": user.case("thread", "read", long, "--quota", "100000000")}
    times = interleaved(read, max(3, rounds // 3), Case.cpu_seconds)
    yield Figure(
        f"thread read, {length // 2:,} steps: CPU",
        ratio(times, "read"),
        "x py",
        15.0,
        f"{median(times['read']):.2f} s; everything of every step",
    )
    yield Figure(f"peak memory, reading {length // 2:,} steps", peak_megabytes(read["read"]), "MB")
    yield _replay(user, (short, long), max(3, rounds // 3), length // 2 - 10)
    started = time.perf_counter()
    user.document("thread", "exec", long, "-c", str(length - length // 2))
    growing = (time.perf_counter() - started) / (length - length // 2) * 1000
    yield _newest(user, short, long, length, rounds)
    cases = {
        "short": user.case("thread", "exec", short),
        "long": user.case("thread", "exec", long),
    }
    times = interleaved(cases, rounds)
    yield Figure(
        f"thread exec on {length:,} steps, to one on 10",
        ratio(times, "long", "short"),
        "x",
        1.2,
        f"{median(times['short']) * 1000:.0f} ms on 10, py {median(times[BASE]) * 1000:.0f} ms; "
        f"{growing:.1f} ms each while it grew",
    )
    yield Figure(
        f"peak memory, thread exec on {length:,} steps", peak_megabytes(cases["long"]), "MB"
    )


def _newest(user: User, short: str, long: str, length: int, rounds: int) -> Figure:
    """Reading the last 10 steps of a long thread, to a thread of 10."""
    text = user.document("thread", "read", short)["text"]
    quota = str(int(1.05 * len(text[text.index("## Step 1:") :])))
    shown = user.document("thread", "read", long, "--quota", quota)["text"].count("## Step ")
    if shown != 10:
        raise RuntimeError(f"a quota of {quota} shows {shown} steps")
    cases = {
        name: user.case("thread", "read", thread, "--quota", quota)
        for name, thread in {"short": short, "long": long}.items()
    }
    times = interleaved(cases, rounds, Case.cpu_seconds)
    name = f"thread read, the last 10 of {length:,} steps, to a thread of 10: CPU"
    return Figure(name, ratio(times, "long", "short"), "x", 1.5)


def _why(counted: int | None) -> str:
    return "no strace here that may look, so not counted" if counted is None else ""
