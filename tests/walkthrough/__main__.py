"""`nox -s walkthrough`: run the workflow in a new folder; 0 if every phase passed.

The report and the thread stay in the folder, which the last lines name.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from tests.walkthrough.outer import OuterThread
from tests.walkthrough.planted import DEFECTS, Defect
from tests.walkthrough.site import Site, lay_out
from tests.walkthrough.table import REPORT

_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "builtin": {"allowShell": "workspace"},
    "claude-code": {"allowedTools": ["Bash(./phase *)", "Bash(./uwf *)"]},
}
"""What an agent needs to run the two programs, if the outer home is a new one."""


def walk(
    site: Site,
    agent: str | None = None,
    home: Path | None = None,
    progress: IO[str] | int | None = None,
) -> OuterThread:
    """Run the workflow in a folder.

    Args:
        agent: the agent that plays the roles; without one, the checks run without a model.
        home: the home of the thread, if it is not a new one.
    """
    player = agent or shlex.quote(str(site.agent))
    if agent is not None and home is None and agent in _OPTIONS:
        settings = {"agents": {"player": {"use": agent, "options": _OPTIONS[agent]}}}
        (site.outer / "config.yaml").write_text(json.dumps(settings), "utf-8")
        player = "player"
    thread = OuterThread.start(site, home or site.outer, player, progress)
    thread.finish(progress)
    return thread


def main(words: Sequence[str]) -> int:
    """Make the run that the words ask for."""
    parser = argparse.ArgumentParser(prog="nox -s walkthrough --", description=__doc__)
    parser.add_argument("--agent", help="let this agent play the roles")
    parser.add_argument("--home", type=Path, help="your UWF_HOME, with the agent's configuration")
    parser.add_argument("--dir", type=Path, help="a new folder for everything")
    parser.add_argument(
        "--planted", nargs="*", metavar="PHASE", help="run once per planted defect, or these"
    )
    asked = parser.parse_args(words)
    folder = asked.dir or Path(tempfile.mkdtemp(prefix="uwf-walkthrough-"))
    folder.mkdir(parents=True, exist_ok=True)
    if asked.planted is not None:
        return planted(folder.resolve(), asked.planted)
    site = lay_out(folder.resolve())
    try:
        thread = walk(site, asked.agent, asked.home and asked.home.resolve())
    except subprocess.CalledProcessError as error:  # uwf has printed why
        return int(error.returncode)
    if site.report.is_file():
        print(site.report.read_text("utf-8"), f"report: {site.report}", sep="\n")
    print(f"next: UWF_HOME={thread.home} uwf thread read {thread.thread}")
    results = thread.results().values()
    return 0 if site.report.is_file() and all(each == "passed" for each in results) else 1


def planted(folder: Path, phases: Sequence[str]) -> int:
    """Run the workflow once per defect (of these phases) and print the table; 1 unless each fails
    its phase alone.
    """

    def seen(defect: Defect) -> tuple[bool, str]:
        site = lay_out(folder / defect.phase, {defect.command: defect.instead})
        thread = walk(site, progress=subprocess.DEVNULL)
        failed = [name for name, status in thread.results().items() if status != "passed"]
        found = thread.outputs().get(defect.phase, {}).get("findings", [])
        named = bool(found) and all(f"`uwf {defect.command}" in each for each in found)
        shutil.rmtree(site.folder)
        row = f"| {defect.phase} | `{defect.command}` | {defect.what} | {', '.join(failed)} |"
        return named and failed == [defect.phase, REPORT], row

    chosen = [each for each in DEFECTS if each.phase in phases or not phases]
    print("| phase | command | planted | failed |", "|---|---|---|---|", sep="\n")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = []
        for ok, row in pool.map(seen, chosen):
            rows.append(ok)
            print(row if ok else f"{row} NOT AS IT MUST BE", flush=True)
    return 0 if rows and all(rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
