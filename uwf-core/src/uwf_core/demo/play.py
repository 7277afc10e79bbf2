"""Run the demo: create the project, run the workflow, check the tests, suggest next commands."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypedDict

from uwf_core.demo.players import AGENT, Player, live_player, scripted_player
from uwf_core.demo.site import WORKFLOW, Site, Tests, lay_out, run_tests, written
from uwf_core.engine.context import RunOptions
from uwf_core.engine.documents import ExecDocument, StepResult
from uwf_core.engine.engine import Engine
from uwf_core.engine.open_engine import open_engine
from uwf_core.engine.results import Outcome
from uwf_core.engine.run import exec_thread
from uwf_core.engine.watch import Watch
from uwf_core.errors import ExitCode
from uwf_core.process.cancel import Cancel
from uwf_core.threads.start import StartOptions, start_thread
from uwf_core.views.read import read_thread
from uwf_core.views.recorded import open_thread

TASK = "The total of an invoice is off by one cent: 0.99 and 1.00 plus tax should be 2.37."


class Next(TypedDict):
    """A next command that can be pasted into a shell, and what it shows."""

    command: str
    shows: str


class DemoDocument(ExecDocument):
    """The result of `demo`: the run's document, the tests before and after, and the folders.

    `text` is the whole thread as Markdown, then the thread that it called.
    """

    agent: str
    playedBy: str  # noqa: N815 (a key of the document)
    testsBefore: Tests  # noqa: N815 (a key of the document)
    testsAfter: Tests  # noqa: N815 (a key of the document)
    folder: str
    project: str
    home: str
    store: str
    text: str
    next: list[Next]


class _Stage(NamedTuple):
    """The folders of the demo and its player."""

    site: Site
    player: Player


def play(
    env: Mapping[str, str], folder: str | None, watch: Watch, cancel: Cancel, *, live: bool = False
) -> Outcome:
    """Run the demo in `folder` (default: a new temporary one); it changes nothing of the user's,
    and needs no home folder.

    Args:
        live: use the user's own model, not a script.

    Raises:
        UsageError: the folder is not empty or cannot be written; `live` without a model.
        ConfigError: `live`, and the user's settings have errors.
    """
    stage = _set_up(env, folder, watch, live=live)
    site, own_env = stage.site, {**stage.site.environment(env), **stage.player.env}
    before = run_tests(site.project, own_env, cancel)
    watch.notice(tests_line("tests before", before))
    own = open_engine(env=own_env, cwd=str(site.project), on_fault=lambda _: None)
    try:
        started = start_thread(own, StartOptions(WORKFLOW, TASK, ".", AGENT), watch)
        options = RunOptions(until_done=True)
        outcome = exec_thread(own, started["thread"], options, watch, cancel)
        if outcome.error is not None:
            raise outcome.error
        after = run_tests(site.project, own_env, Cancel())
        watch.notice(tests_line("tests after", after))
        document = _document(own, stage, outcome, (before, after))
    finally:
        own.close()
    good = not before["green"] and outcome.document["done"] and after["green"]
    failed = outcome.exit_code or ExitCode.FAILED
    return Outcome(document, ExitCode.DONE if good else failed)


def _set_up(env: Mapping[str, str], folder: str | None, watch: Watch, *, live: bool) -> _Stage:
    real = live_player(env) if live else None
    site = lay_out(folder)
    watch.notice(f"a small project with a failing test, and the workflow {WORKFLOW}: {site.folder}")
    with written(site.folder):
        player = real or scripted_player(site, site.environment(env))
        site.configure(player.description, player.settings)
    watch.notice(f"all roles but the tester are played by {player.description}")
    watch.notice("the tester is a program; development is played by the workflow develop")
    return _Stage(site, player)


def tests_line(what: str, tests: Tests) -> str:
    """`tests before: red (1 of 3 fails)`."""
    if tests["green"]:
        return f"{what}: green ({tests['ran']} pass)"
    return f"{what}: red ({tests['failed']} of {tests['ran']} fail)"


def _document(
    engine: Engine, stage: _Stage, outcome: Outcome, tests: tuple[Tests, Tests]
) -> DemoDocument:
    document, (site, player) = outcome.document, stage
    return {
        **document,
        "agent": player.agent,
        "playedBy": player.description,
        "testsBefore": tests[0],
        "testsAfter": tests[1],
        "folder": str(site.folder),
        "project": str(site.project),
        "home": str(site.home),
        "store": engine.store.location(),
        "text": "\n".join(_texts(engine, document)),
        "next": _next(site, document),
    }


def _texts(engine: Engine, document: ExecDocument) -> Iterator[str]:
    """All threads of the run as Markdown, the root first."""
    below = (each["thread"] for each in document["steps"])
    for thread in dict.fromkeys((document["thread"], *below)):
        yield read_thread(open_thread(engine, thread))


def _next(site: Site, document: ExecDocument) -> list[Next]:
    uwf = f"UWF_HOME={shlex.quote(str(site.home))} {own_command()}"
    thread = document["thread"]
    listed: Next = {
        "command": f"{uwf} step list {thread}",
        "shows": "the steps with role, agent and duration; development is a call",
    }
    review = _first(document["steps"], "reviewer")
    if not document["done"] or review is None:
        onward = f"{uwf} thread exec {thread} --until-done"
        return [{"command": onward, "shows": "continues where the demo stopped"}, listed]
    return [
        listed,
        {
            "command": f"{uwf} step list {review['thread']}",
            "shows": "the called thread: developer, tester and reviewer until all agree",
        },
        {
            "command": f"{uwf} step read {review['step']} --prompt",
            "shows": "the whole prompt of the reviewer: the work, not the developer's session",
        },
        {
            "command": f'{uwf} step ask {review["step"]} -p "Why did you reject it?"',
            "shows": "an answer from the session of that step; the thread does not change",
        },
    ]


def _first(steps: list[StepResult], role: str) -> StepResult | None:
    return next((each for each in steps if each["role"] == role and each["step"]), None)


def own_command() -> str:
    """The command that runs this uwf from any shell: its name if it is found outside of this
    environment's folder (which only the PATH of this process may contain), else its path.
    """
    beside = Path(sys.executable).parent
    others = [
        each for each in os.get_exec_path() if not (Path(each).exists() and beside.samefile(each))
    ]
    script = beside / "uwf"
    found = shutil.which("uwf", path=os.pathsep.join(others))
    if found is not None and script.exists() and Path(found).samefile(script):
        return "uwf"
    if script.exists():
        return shlex.quote(str(script))
    return f"{shlex.quote(sys.executable)} -P -m uwf_core"
