"""What `uwf agent check claude-code` looks at: the program, its version, the account, its folder,
what it may do, and on request one tiny request. It never prints a key or token.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from uwf_agent_claude_code.environment import bypass_problem, environment
from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_agent_claude_code.placeholder import INSTALL_HINT, placeholder_problem
from uwf_agent_claude_code.transcripts import config_folder
from uwf_core.api import (
    AgentContext,
    Check,
    CheckRequest,
    CheckResult,
    Unavailable,
    trial_check,
)

TRIED = ((2, 1, 197), (2, 1, 330))
"""The versions that the tests run; what lies between them is taken for one of them."""
_SECONDS = 15.0
_TRIAL_SECONDS = 100.0


def checks(request: CheckRequest) -> Sequence[Check]:
    """The checks, in the order in which they make sense."""
    made = _Checks(request)
    program = Check(name="program", run=made.program)
    if made.path is None or made.placeholder is not None:
        return [program]
    found = [
        program,
        Check(name="version", run=made.version),
        Check(name="account", run=made.account),
        Check(name="config folder", run=made.folder),
        Check(name="permissions", run=made.permissions),
    ]
    return [*found, Check(name="trial", run=made.trial)] if request.trial else found


class _Checks:
    """The checks of one agent."""

    def __init__(self, request: CheckRequest) -> None:
        given = request.options
        self._options = given if isinstance(given, ClaudeCodeOptions) else ClaudeCodeOptions()
        self._env = environment(self._options, request.env)
        limits = replace(request.limits, seconds=_SECONDS, idle_seconds=None, grace_seconds=1.0)
        self._request = replace(request, env=self._env, limits=limits)
        path = self._env.get("PATH")
        self.path = shutil.which(self._options.command, path=path)
        self.placeholder = placeholder_problem(self._options.command, path)

    def program(self) -> CheckResult:
        """Where it is."""
        if self.path is None:
            return CheckResult(
                state="error",
                message=f"there is no program {self._options.command!r} on the PATH",
                hint=INSTALL_HINT,
            )
        if self.placeholder is not None:
            return CheckResult.of_failure(self.placeholder)
        return CheckResult(state="ok", message=self.path)

    def version(self) -> CheckResult:
        """Which version, and whether it is one that is known."""
        said, problem = self._said("--version")
        if problem is not None:
            return problem
        version = _version(said)
        if version is None:
            return CheckResult(state="warning", message=f"it says {said[:80]!r}, no version")
        shown = ".".join(map(str, version))
        first, last = (".".join(map(str, each)) for each in TRIED)
        if TRIED[0] <= version <= TRIED[1]:
            return CheckResult(state="ok", message=shown)
        return CheckResult(
            state="warning",
            message=f"{shown} was not tried with this adapter, {first} to {last} were",
            hint="it is used all the same; report what goes wrong",
        )

    def account(self) -> CheckResult:
        """Whether it is signed in or has a key; neither is shown."""
        said, problem = self._said("auth", "status", "--json")
        if problem is not None and not said:
            return problem
        try:
            found: Any = json.loads(said)
            is_in, method = bool(found["loggedIn"]), found.get("authMethod")
            source = found.get("apiKeySource") or found.get("apiProvider")
        except (ValueError, KeyError, TypeError, AttributeError):
            return CheckResult(
                state="warning", message="this version does not report whether it is signed in"
            )
        if not is_in:
            return CheckResult(
                state="error",
                message="it is not signed in and has no key",
                hint="`claude auth login`, or ANTHROPIC_API_KEY in the environment of uwf",
            )
        return CheckResult(state="ok", message=f"{method} ({source})")

    def folder(self) -> CheckResult:
        """Where its sessions lie."""
        folder = config_folder(self._env)
        count = len(list(folder.glob("projects/*/*.jsonl")))
        state = f"{count} sessions" if folder.is_dir() else "not there yet"
        return CheckResult(state="ok", message=f"{folder} ({state})")

    def permissions(self) -> CheckResult:
        """What its tools may do without asking."""
        problem = bypass_problem(self._options, self._env)
        if problem is not None:
            return CheckResult.of_failure(problem)
        mode = self._options.permission_mode or "as its settings say"
        if mode == "acceptEdits" and not self._options.allowed_tools:
            mode += " (commands are denied, unless `allowedTools` or its settings allow them)"
        sandbox = "IS_SANDBOX is set" if self._env.get("IS_SANDBOX") == "1" else "no IS_SANDBOX"
        return CheckResult(state="ok", message=f"{mode}; {sandbox}")

    def trial(self) -> CheckResult:
        """One request without tools."""
        from uwf_agent_claude_code.agent import ClaudeCodeAgent

        context = AgentContext(name=self._request.name, state_dir=self._request.state_dir)
        agent = ClaudeCodeAgent(self._options, context)
        return trial_check(agent, self._request, self._options, _TRIAL_SECONDS)

    def _said(self, *arguments: str) -> tuple[str, CheckResult | None]:
        """What it prints for these arguments, and what is wrong with that."""
        try:
            done = self._request.run_program([self._options.command, *arguments])
        except Unavailable as failure:
            return "", CheckResult.of_failure(failure)
        said = done.stdout.decode("utf-8", "replace").strip()
        if done.exit_code == 0:
            return said, None
        words = f"`{' '.join(arguments)}` ends with {done.exit_code}"
        return said, CheckResult(state="warning", message=words)


def _version(said: str) -> tuple[int, ...] | None:
    """The version that a text begins with (`2.1.197 (Claude Code)`)."""
    first = said.split(maxsplit=1)[0] if said else ""
    parts = first.split(".")
    return tuple(map(int, parts)) if len(parts) == 3 and all(map(str.isdigit, parts)) else None
