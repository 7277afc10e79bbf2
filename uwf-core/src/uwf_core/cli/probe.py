"""One plugin, really loaded, in a process of its own: `python -m uwf_core.cli.probe GROUP NAME`.

Prints one line of JSON, a `Probe`. Whoever asks runs this as a child with a time limit (`probe`),
so that a plugin that hangs, exits or crashes at import tells only about itself.
"""

import json
import os
import sys
from typing import TYPE_CHECKING, Any, TypedDict

from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

SECONDS = 20.0


class CheckDocument(TypedDict):
    """How a check went; `state` is ok, warning or error."""

    name: str
    state: str
    message: str
    hint: str | None


class Probe(TypedDict):
    """What loading told: `problem` is null for a plugin that is ready."""

    summary: str | None
    capabilities: list[str] | None
    checks: list[CheckDocument]
    problem: str | None
    hint: str | None


def probe(engine: "Engine", group: str, name: str) -> Probe:
    """Load the plugin in a child process and say how it is; a child that fails says so too."""
    from uwf_core.process.program import End, ProcessLimits, Program, run_program

    program = Program(
        argv=(sys.executable, "-m", "uwf_core.cli.probe", group, name),
        cwd=engine.cwd,
        env=engine.env,
    )
    result = run_program(program, ProcessLimits(total_seconds=SECONDS, grace_seconds=1.0))
    if result.end is End.TIMED_OUT:
        return failed(f"it does not load within {SECONDS:g} s")
    lines = result.stdout.decode("utf-8", "replace").splitlines()
    try:
        found: Probe = json.loads(lines[-1])
    except (IndexError, ValueError):
        said = result.stderr.decode("utf-8", "replace").strip().splitlines()
        return failed(f"it ends the process ({result.exit_code}){': ' + said[-1] if said else ''}")
    return found


def failed(problem: str, hint: str | None = None) -> Probe:
    """The answer about a plugin that cannot be used."""
    return {
        "summary": None,
        "capabilities": None,
        "checks": [],
        "problem": problem,
        "hint": hint or "block it: uwf config set plugins.block '[NAME]'",
    }


def look(engine: "Engine", group: str, name: str) -> Probe:
    """Load the plugin here and run its checks."""
    from uwf_core.plugins.loading import attribute, manager_of
    from uwf_core.plugins.scan import COMMANDS, EVAL_TASKS, OBSERVERS

    try:
        found = engine.plugins.found(group, name)
        if group in (COMMANDS, EVAL_TASKS):
            attribute(found, found.target)
            return _ready(None, [])
        record = None if group == OBSERVERS else engine.plugins.record(group, name)
        if record is not None:
            engine.plugins.attribute(group, name, record.factory)
        with engine.plugins.guard:
            checks = [check for given in manager_of(found).hook.uwf_checks() for check in given]
            return _ready(record, [_checked(check) for check in checks])
    except UwfError as error:
        return failed(error.message, error.hint)


def _ready(record: Any, checks: list[CheckDocument]) -> Probe:
    capabilities = getattr(record, "capabilities", None)
    return {
        "summary": getattr(record, "summary", None),
        "capabilities": None if capabilities is None else sorted(capabilities),
        "checks": checks,
        "problem": None,
        "hint": None,
    }


def _checked(check: Any) -> CheckDocument:
    name = str(getattr(check, "name", check))
    try:
        result = check.run()
        return {
            "name": name,
            "state": result.state,
            "message": result.message,
            "hint": result.hint,
        }
    except Exception as error:
        cause = f"the check failed: {type(error).__name__}: {error}"
        return {"name": name, "state": "error", "message": cause, "hint": None}


def main() -> int:
    """Answer about the plugin that the command line names."""
    from uwf_core.engine.engine import open_engine

    engine = open_engine(env=os.environ, cwd=os.getcwd())  # noqa: PTH109
    print(json.dumps(look(engine, sys.argv[1], sys.argv[2])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
