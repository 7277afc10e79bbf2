"""The report: what each phase of the thread delivered, and whether every command has a phase."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.walkthrough.outer import OuterThread
from tests.walkthrough.site import Site
from tests.walkthrough.table import PHASES, all_commands, declared, gaps, not_called

_NOT_DELIVERED = {"$status": "not run", "commands": [], "findings": [], "seconds": 0}


def write(site: Site) -> tuple[dict[str, Any], str]:
    """Write `report.md`; the output of the role `report`, and the text."""
    delivered = OuterThread.of(site).outputs()
    phases = {each.name: delivered.get(each.name) or _NOT_DELIVERED for each in PHASES}
    commands = all_commands()
    called = (words for _, words in site.called())
    missing = [*gaps(commands), *not_called(called, commands & declared())]
    failed = [name for name, output in phases.items() if output["$status"] != "passed"]
    text = "\n".join(_lines(phases, missing, len(commands)))
    site.report.write_text(text, "utf-8")
    output = {
        "$status": "failed" if failed or missing else "passed",
        "failed": failed,
        "missing": missing,
        "file": str(site.report),
    }
    return output, text


def _lines(phases: Mapping[str, Any], missing: Sequence[str], commands: int) -> Iterator[str]:
    """The report as Markdown."""
    passed = not missing and all(each["$status"] == "passed" for each in phases.values())
    yield from (f"# Walkthrough: {'passed' if passed else 'FAILED'}", "")
    yield from (
        "| phase | result | calls | commands | seconds | findings |",
        "|---|---|---:|---:|---:|---:|",
    )
    for name, output in phases.items():
        calls = [each["command"] for each in output["commands"]]
        yield (
            f"| {name} | {output['$status']} | {len(calls)} | {len(_counted(name, calls))} "
            f"| {output['seconds']} | {len(output.get('findings', []))} |"
        )
    yield from ("", f"uwf has {commands} commands; without a phase or a call: {len(missing)}.", "")
    if missing:
        yield from (*(f"- {each}" for each in missing), "")
    for name, output in phases.items():
        yield from _section(name, output)


def _section(name: str, output: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {name}: {output['$status']}", "")
    for finding in output.get("findings", []):
        yield from (f"- {finding}", "")
    counts = _counted(name, [each["command"] for each in output["commands"]])
    yield ", ".join(f"`{command}` {count}" for command, count in counts.items()) + "\n"


def _counted(name: str, calls: Sequence[str]) -> Counter[str]:
    """The phase's commands, and how often each was called."""
    known = next((phase.commands() for phase in PHASES if phase.name == name), set())
    return Counter(
        command
        for call in calls
        for command in sorted(known)
        if f"{call} ".startswith(f"{command} ")
    )
