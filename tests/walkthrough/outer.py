"""The thread that runs the walkthrough, in a home apart from that of the command under test."""

import json
import os
import subprocess
from pathlib import Path
from typing import IO, Any, NamedTuple

from tests.walkthrough.site import Site, installed_uwf
from tests.walkthrough.table import PHASES, REPORT

WORKFLOW = Path(__file__).with_name("walkthrough.yaml")
TASK = "Walk through every command of uwf. The working folder holds ./uwf and ./phase."


class OuterThread(NamedTuple):
    """The thread; the file `thread.json` names it to the programs in the folder."""

    home: Path
    thread: str

    @classmethod
    def start(
        cls, site: Site, home: Path, agent: str, progress: IO[str] | int | None = None
    ) -> "OuterThread":
        """Start the workflow in the folder of the walkthrough.

        Raises:
            subprocess.CalledProcessError: uwf cannot start it.
        """
        words = ("-p", TASK, "--cwd", str(site.folder), "--agent", agent)
        done = _uwf(home, progress, "thread", "start", str(WORKFLOW), *words)
        done.check_returncode()
        started = cls(home, json.loads(done.stdout)["thread"])
        site.thread.write_text(json.dumps([str(home), started.thread]), "utf-8")
        return started

    @classmethod
    def of(cls, site: Site) -> "OuterThread":
        """The thread that was started in this folder."""
        home, thread = json.loads(site.thread.read_text("utf-8"))
        return cls(Path(home), thread)

    def finish(self, progress: IO[str] | int | None = None) -> None:
        """Run all roles; uwf writes a line about each to `progress`, or to stderr."""
        _uwf(self.home, progress, "thread", "exec", self.thread, "--until-done")

    def outputs(self) -> dict[str, Any]:
        """What the roles delivered so far, by role."""
        steps = json.loads(_uwf(self.home, None, "step", "list", self.thread).stdout)["steps"][1:]
        shown = (_uwf(self.home, None, "step", "show", each["step"]).stdout for each in steps)
        return {step["role"]: step["output"] for step in map(json.loads, shown)}

    def results(self) -> dict[str, str]:
        """The status that each role delivered; `not run` if it delivered none."""
        delivered = self.outputs()
        names = [*(phase.name for phase in PHASES), REPORT]
        return {name: (delivered.get(name) or {}).get("$status", "not run") for name in names}


def _uwf(
    home: Path, progress: IO[str] | int | None, *words: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(installed_uwf()), *words, "--format", "json"],
        env={**os.environ, "UWF_HOME": str(home)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=progress, text=True, check=False,
    )  # fmt: skip
