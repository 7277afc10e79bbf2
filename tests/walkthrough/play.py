"""Run the checks of a phase. As a program, `play.py NAME [CHECK…]` in the folder of a walkthrough
prints what they saw as JSON; the exit code is 1 if there are findings.
"""

import json
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tests.walkthrough import report
from tests.walkthrough.checking import Call, Check, Finding, Uwf
from tests.walkthrough.site import Site
from tests.walkthrough.table import PHASES, REPORT, Phase

_TOGETHER = 2
"""How many checks run at the same time."""


class Played(NamedTuple):
    """What the checks of a phase saw."""

    calls: list[Call]
    findings: list[str]
    lines: list[str]
    seconds: float

    def output(self) -> dict[str, Any]:
        """The output of the phase's role."""
        return {
            "$status": "failed" if self.findings else "passed",
            "commands": [call._asdict() for call in self.calls],
            "findings": self.findings,
            "seconds": round(self.seconds, 1),
        }


def play(phase: Phase, site: Site, tell: Callable[[str], None], only: Sequence[str] = ()) -> Played:
    """Run the checks of a phase, those that must be alone last; `tell` gets a line about each.

    Raises:
        KeyError: no check has one of the words of `only`.
    """
    played, started = Played([], [], [], 0.0), time.monotonic()

    def run(each: Check) -> tuple[Uwf, list[str]]:
        uwf = Uwf(site, site.work(phase.name, each.promise.replace(" ", "-")))
        return uwf, findings_of(each, uwf)

    checks = sorted(phase.checks(only), key=lambda each: each.alone)
    together = [each for each in checks if not each.alone]
    with ThreadPoolExecutor(_TOGETHER) as pool:
        ran = chain(pool.map(run, together), map(run, checks[len(together) :]))
        for each, (uwf, found) in zip(checks, ran, strict=True):
            line = f"{'✗' if found else '✓'} {each.promise} ({len(uwf.calls)} commands)"
            tell("\n".join([line, *found]))
            played.calls.extend(uwf.calls)
            played.findings.extend(found)
            played.lines.append(line)
    return played._replace(seconds=time.monotonic() - started)


def findings_of(each: Check, uwf: Uwf) -> list[str]:
    """Try one check; whatever happens in it is a finding, which names its commands."""
    commands = ", ".join(f"`uwf {command}`" for command in each.commands)
    try:
        each.run(uwf)
        found = [f"`uwf {command}`: not called" for command in uwf.not_called(each.commands)]
    except Finding as finding:
        found = [str(finding)]
    except Exception:
        found = [f"`{uwf.line}`: the check failed: {traceback.format_exc(limit=-1).strip()}"]
    return [f"{what} (promise of {commands}: {each.promise})" for what in found]


def output_of(
    role: str, site: Site, tell: Callable[[str], None], only: Sequence[str] = ()
) -> tuple[dict[str, Any], str]:
    """The output of a role, and a text for people.

    Raises:
        KeyError: there is no such phase.
    """
    if role == REPORT:
        return report.write(site)
    played = play({phase.name: phase for phase in PHASES}[role], site, tell, only)
    return played.output(), "\n".join(f"- {line}" for line in played.lines)


def main(words: Sequence[str]) -> int:
    """Run the checks of the named phase."""
    names = [*(phase.name for phase in PHASES), REPORT]
    if not words or words[0] not in names:
        print(f"usage: ./phase NAME [CHECK…]; the phases: {', '.join(names)}", file=sys.stderr)
        return 2
    try:
        output, _ = output_of(words[0], Site(Path.cwd()), _print_line, words[1:])
    except KeyError as error:
        print(f"phase: {error.args[0]}", file=sys.stderr)
        return 2
    print(json.dumps(output, indent=2, ensure_ascii=False))
    return 0 if output["$status"] == "passed" else 1


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
