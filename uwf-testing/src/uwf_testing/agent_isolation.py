"""The clauses about isolation: files, output, secrets, and two runs at once."""

import contextlib
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from uwf_core.agents.supervise import close_call, run_call
from uwf_testing.agent_failures import texts_of
from uwf_testing.agent_fixtures import AgentFixtures
from uwf_testing.contract import needs
from uwf_testing.harness import Harness, RecordingSink, Replied, outcome_of, succeeded
from uwf_testing.peer import Act

SECRET = "kit-secret-9f3b1c7a55"
_QUIET_ACTS = ("say", "crash", "garbage", "missing", "cut", "silence")


class IsolationClauses(AgentFixtures):
    """An agent stays in its own folder, prints nothing, and reports no secrets."""

    @needs("say")
    def test_nothing_is_written_outside(self, harness: Harness) -> None:
        """Neither a success nor a failure leaves files in the working, temporary or home folder;
        the agent keeps its files in its own folder.
        """
        harness.reply(Act(do="say", text="done"))
        for do in ("crash", "garbage"):
            if harness.peer.why_not(do) is None:
                harness.call(harness.request(Act(do=do, code=3)))
        own = {harness.state, *(harness.home / path for path in self.writes_below_home)}
        found = [
            path
            for folder in (harness.workspace, harness.temporary, harness.home)
            for path in _files_outside(folder, own)
        ]
        names = ", ".join(
            sorted(path.relative_to(harness.home.parent).as_posix() for path in found)
        )
        assert not found, f"left behind: {names}"

    @needs("say")
    def test_what_it_keeps_is_private(self, harness: Harness) -> None:
        """Only the user can read the agent's folder, because sessions hold the conversation."""
        harness.reply(Act(do="say", text="done"))
        if harness.state.exists():
            mode = stat.S_IMODE(harness.state.stat().st_mode)
            assert mode & 0o077 == 0, f"the mode of its folder is {mode:o}, not 700"

    @needs("say")
    def test_it_prints_nothing(self, harness: Harness, capfd: pytest.CaptureFixture[str]) -> None:
        """The agent writes neither to standard output nor to standard error."""
        request = harness.request(Act(do="say", text="done"))
        opened = harness.open()._replace(guard=contextlib.nullcontext())
        capfd.readouterr()
        try:
            run_call(opened, request, RecordingSink())
        finally:
            close_call(opened, grace_seconds=harness.limits.grace_seconds)
        printed = capfd.readouterr()
        assert printed.out == "", "it prints to standard output"
        assert printed.err == "", "it prints to standard error"

    @needs("say")
    def test_secrets_are_never_reported(self, harness: Harness) -> None:
        """Neither the key of the model nor the values of the environment appear in a reply, in a
        turn or in the message of a failure.
        """
        for do in (do for do in _QUIET_ACTS if harness.peer.why_not(do) is None):
            reported = _reported_with_a_secret(harness, Act(do=do, text="done", code=3))
            assert SECRET not in reported, f"the peer was to {do}: {_around(reported)}"

    @needs("say")
    def test_two_runs_at_once_stay_apart(self, harness: Harness) -> None:
        """Two runs at the same moment each get their own answer, turns and session."""
        texts = ("the answer of one run", "the reply of the other")
        requests = []
        for index, text in enumerate(texts):
            folder = harness.workspace / str(index)
            folder.mkdir()
            thread = f"01JD000000000000000000000{index}"
            act = Act(do="say", text=text)
            requests.append(harness.request(act, thread=thread, cwd=str(folder)))
        with harness.opened() as one, harness.opened() as other, ThreadPoolExecutor(2) as threads:
            outcomes = list(threads.map(outcome_of, (one, other), requests))
        _check_apart([succeeded(each, Act(do="say")) for each in outcomes], texts)

    def test_it_can_be_closed_unused(self, harness: Harness) -> None:
        """An agent can be closed without a call."""
        fault = close_call(harness.open(), grace_seconds=harness.limits.call_seconds)
        assert fault is None, f"closing failed: {fault}"

    @needs("crash")
    def test_it_can_be_closed_after_a_failure(self, harness: Harness) -> None:
        """An agent can be closed after a failure, and closing does not hide the failure."""
        request = harness.request(Act(do="crash", code=3))
        opened = harness.open()
        with contextlib.suppress(Exception):
            run_call(opened, request, RecordingSink())
        fault = close_call(opened, grace_seconds=harness.limits.call_seconds)
        assert fault is None, f"closing failed: {fault}"


def _files_outside(folder: Path, own: set[Path]) -> list[Path]:
    """The files below a folder that are outside the agent's folders."""
    return [
        path
        for path in folder.rglob("*")
        if not path.is_dir() and not any(path.is_relative_to(each) for each in own)
    ]


def _reported_with_a_secret(harness: Harness, act: Act) -> str:
    """Everything that a call with a secret reports."""
    env = {**harness.environment(), "KIT_API_KEY": SECRET}
    request = harness.request(act, env=env)
    if request.model is not None:
        request = request.with_(model=replace(request.model, api_key=SECRET))
    outcome = harness.call(request)
    said = [repr(outcome.reply), *outcome.sink.sessions]
    said += [text for turn in outcome.sink.turns for text in texts_of(turn)]
    error = outcome.error
    if error is not None:
        said += [str(error), repr(error), str(getattr(error, "hint", ""))]
    return "\n".join(said)


def _around(text: str) -> str:
    at = text.find(SECRET)
    return f"…{text[max(0, at - 60) : at]}<the secret>"


def _check_apart(runs: list[Replied], texts: tuple[str, ...]) -> None:
    assert sorted(run.reply.text or "" for run in runs) == sorted(texts)
    sessions = [run.session for run in runs if run.session]
    assert len(set(sessions)) == len(sessions), "both have the same session"
    for run in runs:
        others = [text for text in texts if text != run.reply.text]
        said = "\n".join(text for turn in run.sink.turns for text in texts_of(turn))
        assert not any(text in said for text in others), "the sink got turns of the other run"
