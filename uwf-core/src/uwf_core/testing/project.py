"""A throw-away project: a folder, a separate home, workflows, mock scripts, the `uwf` command.

    project = Project(tmp_path)
    project.workflow("fix-bug", FIX_BUG)
    project.script([{"role": "developer", "output": {"$status": "done"}}])
    outcome = project.uwf("run", "fix-bug", "-p", "the task")
    assert outcome.document["status"] == "completed"

Nothing of the user's is read: it has a minimal environment.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.client import Client
from uwf_core.process.own_python import own_python

_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")
COMMAND_SECONDS = 60.0


class CommandOutcome(NamedTuple):
    """The end of a command: exit code and output."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout.

        Raises:
            ValueError: stdout is not JSON; the message shows it.
        """
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            raise ValueError(
                f"stdout is not JSON: {self.stdout!r}; stderr: {self.stderr}"
            ) from error

    @property
    def error(self) -> Any:
        """The `error` of the JSON document on stderr (its last line).

        Raises:
            ValueError: there is none.
        """
        lines = self.stderr.strip().splitlines()
        try:
            return json.loads(lines[-1])["error"]
        except (ValueError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"stderr ends with no error: {self.stderr!r}") from error


def run_command(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: str, seconds: float
) -> CommandOutcome:
    """Run a command line in a separate process, and wait until it has ended.

    Raises:
        subprocess.TimeoutExpired: it did not end in time.
    """
    done = subprocess.run(
        argv,
        cwd=cwd,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )
    return CommandOutcome(done.returncode, done.stdout, done.stderr)


class Project:
    """A project in `folder`, with its own `home` (`UWF_HOME`) and `env`.

    The default agent is `mock`; `script` writes its script. `run_command` is how `uwf` is run.
    """

    run_command = staticmethod(run_command)

    def __init__(self, root: Path) -> None:
        self.folder = root / "project"
        self.home = root / "home"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.env: dict[str, str] = {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "HOME": str(root / "user"),
            "UWF_HOME": str(self.home),
            "UWF_DEFAULT_AGENT": "mock",
            "UWF_MOCK_SCRIPT": str(root / "script.yaml"),
        }
        self._script = root / "script.yaml"

    def workflow(self, name: str, text: str) -> Path:
        """Write a project-local workflow; return its file."""
        file = self.folder / ".workflow" / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def script(
        self, steps: Sequence[Mapping[str, Any]], *, repeat: bool = False, by_role: bool = False
    ) -> Path:
        """Write the script of the mock agent; return its file."""
        script = {"steps": list(steps), "repeat": repeat, "byRole": by_role}
        text = json.dumps(script, ensure_ascii=False)
        text = re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text)  # not in YAML
        return _replace(self._script, text, 0o644)

    def config(self, text: str) -> Path:
        """Write the user's config.yaml; return its file."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        return _replace(self.home / "config.yaml", text, 0o600)

    def trust(self, folder: Path | None = None) -> None:
        """Trust a folder, by default the project's, as `uwf config trust` does."""
        from uwf_core.config.trust import trust

        trust(str(self.home), str(folder or self.folder))

    def client(self, **options: Any) -> Client:
        """A client of this project; the caller closes it."""
        return Client.open(env=self.env, cwd=self.folder, **options)

    def command(self, *arguments: str) -> list[str]:
        """The command line of `uwf` with these arguments, in this Python."""
        return [*own_python("uwf_core"), *arguments]

    def uwf(
        self,
        *arguments: str,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        seconds: float = COMMAND_SECONDS,
    ) -> CommandOutcome:
        """Run `uwf` in a separate process, in the project's folder, and wait for it.

        Raises:
            subprocess.TimeoutExpired: it did not end in time.
        """
        run, words = self.run_command, self.command(*arguments)
        return run(words, self.folder, {**self.env, **(env or {})}, stdin, seconds)

    def start_uwf(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        """Start `uwf` and return immediately; the caller waits for it."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )


def _replace(file: Path, text: str, mode: int) -> Path:
    """Write a file that a run in the background may be reading: it finds all of the old text or of
    the new one.
    """
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.chmod(mode)
    new.replace(file)
    return file
