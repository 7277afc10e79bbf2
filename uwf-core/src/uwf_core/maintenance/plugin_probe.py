"""Load, create and close one plugin in a separate process:
`python -m uwf_core.maintenance.plugin_probe GROUP NAME [AGENT [trial]]`.

Prints one line of JSON, a `Probe`; with AGENT, the word that selects an agent, also the results of
its checks. `probe` runs this as a child with a time limit,
so that a plugin that hangs, exits or crashes at import affects nothing else.

`--together GROUP NAME [GROUP NAME …]` does it for the plugins of one distribution, one after the
other, and prints a line for each: most of the time of a probe is the start of its process.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

from uwf_core.engine.models import model_of
from uwf_core.errors import AgentFailure, InternalFailure, PluginError, UwfError
from uwf_core.plugins.scan import AGENTS, COMMANDS, EVAL_TASKS, OBSERVERS, OPERATIONS

if TYPE_CHECKING:
    from concurrent.futures import Future

    from uwf_core.api.checks import Check, CheckRequest
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.deprecations import Deprecation
    from uwf_core.plugins.scan import EntryPoint
    from uwf_core.process.cancel import Cancel
    from uwf_core.process.records import ProgramResult

SECONDS = 20.0
GRACE_SECONDS = 1.0
TOGETHER = "--together"

_STATES = ("ok", "warning", "error")


class CheckDocument(TypedDict):
    """The result of a check; `state` is ok, warning or error."""

    name: str
    state: str
    message: str
    hint: str | None


class Probe(TypedDict):
    """The result of loading: `reason` is null for a ready plugin, else `status` is the kind
    of problem. `hooks` are those that it implements.
    """

    summary: str | None
    capabilities: list[str] | None
    hooks: list[str] | None
    checks: list[CheckDocument]
    reason: str | None
    hint: str | None
    status: str | None


def probe(
    engine: "Engine",
    found: "EntryPoint",
    seconds: float = SECONDS,
    agent: Sequence[str] = (),
    cancel: "Cancel | None" = None,
) -> Probe:
    """Load the plugin in a child process and return the result, also if the child fails.

    `agent` is the word that selects an agent, and "trial" if a trial was requested.
    """
    from uwf_core.process.program import End

    result, answer = _child(engine, (found.group, found.name, *agent), seconds, cancel)
    if result.end is End.TIMED_OUT:
        return _broken(engine, found, f"it did not load within {seconds:g} s")
    if result.end is not End.EXITED:
        return _broken(engine, found, "it printed too much while loading")
    if answer is None:
        said = result.stderr.decode("utf-8", "replace").strip().splitlines()
        last = f": {said[-1]}" if said else ""
        return _broken(engine, found, f"{_end_of(result.exit_code)} while loading{last}")
    found_out: Probe = answer
    return found_out


def _probe_together(
    engine: "Engine", found: "Sequence[EntryPoint]", cancel: "Cancel"
) -> "dict[EntryPoint, Probe]":
    """The results of those plugins of a distribution that one child process found to be ready.

    The others are missing: only a separate process shows which plugin is to blame, and why. An
    ended one has no answers.
    """
    from uwf_core.process.program import End

    words = [word for each in found for word in (each.group, each.name)]
    result, answers = _child(engine, (TOGETHER, *words), SECONDS, cancel)
    if result.end is not End.EXITED or len(answers or ()) != len(found):
        return {}
    paired = zip(found, answers, strict=True)
    return {each: answer for each, answer in paired if answer["reason"] is None}


def _child(
    engine: "Engine", words: Sequence[str], seconds: float, cancel: "Cancel | None"
) -> "tuple[ProgramResult, Any]":
    """How a child process ended, and what its last line says; None if it was ended before."""
    from uwf_core.process.own_python import own_python
    from uwf_core.process.program import ProcessLimits, Program, run_program

    argv = own_python("uwf_core.maintenance.plugin_probe", *words)
    limits = ProcessLimits(total_seconds=seconds, grace_seconds=GRACE_SECONDS)
    program = Program(argv=argv, cwd=engine.cwd, env=engine.env)
    result = run_program(program, limits, cancel=cancel)
    try:
        return result, json.loads(result.stdout.rstrip().rpartition(b"\n")[2])
    except ValueError:
        return result, None


_AT_ONCE = 8
"""How many plugins are loaded at the same time; one that hangs uses its whole time limit."""


class Probes:
    """Loads plugins in child processes, several at a time; leaving it early ends them."""

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        from uwf_core.process.cancel import Cancel

        self._cancel = Cancel()
        self._threads = ThreadPoolExecutor(_AT_ONCE)

    def start(
        self, engine: "Engine", found: "EntryPoint", agent: Sequence[str] = ()
    ) -> "Future[Probe]":
        """Start `probe`."""
        return self._threads.submit(probe, engine, found, SECONDS, agent, self._cancel)

    def start_all(
        self, engine: "Engine", found: "Sequence[EntryPoint]"
    ) -> "dict[EntryPoint, Callable[[], Probe]]":
        """Start `probe` for all of them; a function waits for the result of each.

        The plugins of an installed distribution share a process, in which one import serves them
        all. If one of them is not ready there, it is loaded again in a separate process.
        """
        rows: dict[str, list[EntryPoint]] = {}
        for each in found:  # the files of a project have nothing to do with each other
            rows.setdefault(each.file or each.distribution, []).append(each)
        answers: dict[EntryPoint, Callable[[], Probe]] = {}
        for row in rows.values():
            if len(row) == 1:
                answers[row[0]] = self.start(engine, row[0]).result
                continue
            together = self._threads.submit(self._start_row, engine, row)
            answers |= {each: partial(_result_of, together, each) for each in row}
        return answers

    def _start_row(
        self, engine: "Engine", row: "Sequence[EntryPoint]"
    ) -> "dict[EntryPoint, Probe | Future[Probe]]":
        ready = _probe_together(engine, row, self._cancel)
        return {each: ready.get(each) or self.start(engine, each) for each in row}

    def __enter__(self) -> "Probes":
        return self

    def __exit__(self, kind: object, *_error: object) -> None:
        if kind is not None:
            self._cancel.set("interrupted")
        self._threads.shutdown(cancel_futures=kind is not None)


def _result_of(
    row: "Future[dict[EntryPoint, Probe | Future[Probe]]]", found: "EntryPoint"
) -> Probe:
    answer = row.result()[found]
    return answer if isinstance(answer, dict) else answer.result()


def _end_of(exit_code: int) -> str:
    if exit_code >= 0:
        return f"it ended the process ({exit_code})"
    from signal import Signals

    try:
        return f"it was killed by {Signals(-exit_code).name}"
    except ValueError:  # a real-time signal has no name
        return f"it was killed by signal {-exit_code}"


def _broken(engine: "Engine", found: "EntryPoint", cause: str) -> Probe:
    from uwf_core.plugins.loading import broken, cure

    return failed(broken(found, cause).message, cure(found))


def failed(problem: str | None, hint: str | None, status: str | None = None) -> Probe:
    """The result for a plugin that cannot be used; without a problem, for one that is ready."""
    return {
        "summary": None,
        "capabilities": None,
        "hooks": None,
        "checks": [],
        "reason": problem,
        "hint": hint,
        "status": status,
    }


def look(
    engine: "Engine",
    group: str,
    name: str,
    agent: Sequence[str] = (),
    deprecated: "Sequence[Deprecation] | None" = None,
) -> Probe:
    """Load the plugin here and run its checks; `agent` is as in `probe`.

    What it uses of `deprecated` (default: `DEPRECATED`) becomes a warning.
    """
    try:
        answer = _look(engine, group, name, agent)
        answer["checks"][:0] = _deprecated(engine, group, name, answer, deprecated)
        return answer
    except UwfError as error:
        # Its metadata is compatible, or it would not be loaded: so its record is not.
        return failed(
            str(error), error.hint, "incompatible" if isinstance(error, PluginError) else None
        )


def _look(engine: "Engine", group: str, name: str, agent: Sequence[str]) -> Probe:
    from uwf_core.plugins.loading import hooks_of, manager_of, plugin_code

    plugins = engine.plugins
    found = plugins.found(group, name)
    if group == COMMANDS:
        plugins.command(name)
    if group in (EVAL_TASKS, OPERATIONS):
        plugins.attribute(group, name, found.target)
    if group in (COMMANDS, EVAL_TASKS, OPERATIONS):
        return _ready(None, [], [])
    record: Any = None if group == OBSERVERS else plugins.record(group, name)
    created = _created(engine, found, record, agent[0] if agent else None)
    request = _request(engine, record, agent[0], trial="trial" in agent[1:]) if agent else None
    with plugins.guard, plugin_code(found, "uwf_checks"):
        manager = manager_of(found)
        checks = [check for given in manager.hook.uwf_checks() for check in given]
        checks += created
        if request is not None:
            checks += plugins.attribute(group, name, record.checks)(request)
        return _ready(record, hooks_of(manager), [_checked(check) for check in checks])


def _deprecated(
    engine: "Engine",
    group: str,
    name: str,
    answer: Probe,
    table: "Sequence[Deprecation] | None",
) -> list[CheckDocument]:
    from uwf_core.plugins.deprecations import DEPRECATED, deprecations
    from uwf_core.plugins.loading import ANNOUNCEMENTS

    records = engine.plugins.load(group, name) if group in ANNOUNCEMENTS else ()
    found = deprecations(
        group, records, answer["hooks"] or (), DEPRECATED if table is None else table
    )
    return [
        {"name": "contract", "state": "warning", "message": message, "hint": hint}
        for message, hint in found
    ]


def _created(
    engine: "Engine", found: "EntryPoint", record: Any, word: str | None
) -> "Iterator[Check]":
    """Create the plugin and close it. What prevents that but is not an error of the plugin, such as
    a program that is missing, becomes a check.

    Raises:
        PluginBroken: it cannot be created, or cannot do what it announces.
    """
    from uwf_core.api.checks import Check, CheckResult
    from uwf_core.maintenance.plugin_create import create

    try:
        create(engine, found, record, word)
    except InternalFailure:
        raise
    except AgentFailure as failure:
        result = CheckResult(state="error", message=failure.message, hint=failure.hint)
        return iter((Check(name="create", run=lambda: result),))
    return iter(())


def _request(engine: "Engine", record: Any, word: str, *, trial: bool) -> "CheckRequest | None":
    """What the checks of an agent get, with the options that the word selects; None if it has none.

    Raises:
        ConfigError: the agent has no such options; the word is wrong then, not the plugin.
    """
    from uwf_core.agents.choose import resolve_agent
    from uwf_core.agents.open import check_options
    from uwf_core.api.checks import CheckRequest
    from uwf_core.engine.open_plugins import folder_of_agent

    plugins, choice = engine.plugins, resolve_agent(word, engine.agent_catalog(engine.cwd))

    def load(name: str, path: str) -> Any:
        return plugins.attribute(AGENTS, name, path)

    with plugins.guard:
        options = check_options(choice, lambda _: record, load)
    if record.checks is None:
        return None
    return CheckRequest(
        thread="",
        role="",
        step_number=0,
        cwd=engine.cwd,
        model=model_of(engine, record.capabilities),
        options=options,
        env=engine.agent_env((*record.env, *choice.env)),
        trusted=engine.trusts(engine.cwd),
        name=choice.word,
        state_dir=folder_of_agent(engine.home, choice.word),
        trial=trial,
    )


def _ready(record: Any, hooks: list[str], checks: list[CheckDocument]) -> Probe:
    capabilities = getattr(record, "capabilities", None)
    return {
        **failed(None, None),
        "summary": getattr(record, "summary", None),
        "capabilities": None if capabilities is None else sorted(capabilities),
        "hooks": hooks,
        "checks": checks,
    }


def _checked(check: Any) -> CheckDocument:
    name = str(getattr(check, "name", check))
    try:
        result = check.run()
        return {
            "name": name,
            "state": result.state if result.state in _STATES else "error",
            "message": str(result.message),
            "hint": None if result.hint is None else str(result.hint),
        }
    except (Exception, SystemExit) as error:
        cause = f"the check failed: {type(error).__name__}: {error}"
        return {"name": name, "state": "error", "message": cause, "hint": None}


def main() -> NoReturn:
    """Print the result for the plugin on the command line and exit, without waiting for threads of
    the plugin and without its output at exit.
    """
    from uwf_core.engine.open_engine import open_engine

    engine = open_engine(env=os.environ, cwd=os.getcwd())  # noqa: PTH109
    words = sys.argv[1:]
    answer: object
    if words[0] == TOGETHER:
        pairs = zip(words[1::2], words[2::2], strict=True)
        answer = [look(engine, group, name) for group, name in pairs]
    else:
        answer = look(engine, words[0], words[1], words[2:])
    print("\n" + json.dumps(answer), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
