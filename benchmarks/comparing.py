"""Comparing two long threads: CPU time in one process, so one core."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.figures import Figure


def thread_diff(folder: Path, rounds: int, steps: int) -> Iterator[Figure]:
    """Two threads of so many steps: with equal steps in two folders, and with none in common."""
    from uwf_core.testing.project import Project
    from uwf_core.views.recorded import open_thread
    from uwf_explain.comparison.compare import compare
    from uwf_explain.comparison.page import diff_page
    from uwf_testing.exporter_threads import WORKFLOW

    project = Project(folder / "diff")
    project.workflow("kit-exporter", WORKFLOW)
    with project.client(durable=False) as uwf:
        runs = (("first", "one"), ("same", "one"), ("other", "two"))
        threads = {name: _run(project, uwf, name, text, steps) for name, text in runs}

    def compared(name: str) -> Any:
        with project.client() as uwf:
            engine = uwf._engine
            return compare(
                open_thread(engine, threads["first"]), open_thread(engine, threads[name])
            )

    for name, words in (("same", "all the same"), ("other", "all different")):
        seconds = [_cpu(lambda: compared(name)) for _ in range(rounds)]  # noqa: B023
        title = f"thread diff, {steps:,} steps, {words}"
        yield Figure(title, median(seconds), "s of one core", 1.0)
    document = compared("other")
    yield Figure(
        f"its page, {steps:,} steps, all different",
        median(_cpu(lambda: diff_page(document)) for _ in range(rounds)),
        "s of one core",
    )


def _run(project: Any, uwf: Any, folder: str, text: str, steps: int) -> str:
    """A thread in a separate folder, so that no prompt is the same node."""
    (project.folder / folder).mkdir()
    project.script([_play(number, text) for number in range(steps)])
    thread = str(uwf.start("kit-exporter", "a task", cwd=project.folder / folder)["thread"])
    uwf.exec(thread, count=steps)
    return thread


def _play(number: int, text: str) -> dict[str, Any]:
    body = f"Text {number}, {text}.\n" * 20
    if number % 2:
        output = {"$status": "rejected", "comments": f"comments {number}, {text}"}
        return {"role": "reviewer", "output": output, "body": body}
    output = {"$status": "done", "summary": f"summary {number}, {text}"}
    return {"role": "writer", "output": output, "body": body}


def _cpu(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
