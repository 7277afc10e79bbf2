"""The clauses about manners: what an agent leaves, prints, gives away, and does beside others."""

import contextlib
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from uwf_core.agents.supervise import close_call, run_call
from uwf_testing.agent_failures import texts_of
from uwf_testing.agent_setting import AgentSetting
from uwf_testing.contract import needs
from uwf_testing.harness import Replied, Rig, Told, outcome_of, succeeded
from uwf_testing.peer import Act

SECRET = "kit-secret-9f3b1c7a55"
_QUIET_ACTS = ("say", "crash", "garbage", "missing", "cut", "silence")


class MannerClauses(AgentSetting):
    """An agent keeps to its own folder, is quiet, and keeps secrets."""

    @needs("say")
    def test_nothing_is_written_outside(self, rig: Rig) -> None:
        """A call that went well and one that failed leave nothing in the working folder, the
        temporary folder and the home folder; what an agent keeps lies in its own folder.
        """
        rig.reply(Act(do="say", text="done"))
        for do in ("crash", "garbage"):
            if rig.peer.why_not(do) is None:
                rig.call(rig.request(Act(do=do, code=3)))
        own = {rig.state, *(rig.home / path for path in self.writes_below_home)}
        found = [
            path
            for folder in (rig.workspace, rig.temporary, rig.home)
            for path in _files_outside(folder, own)
        ]
        names = ", ".join(sorted(path.relative_to(rig.home.parent).as_posix() for path in found))
        assert not found, f"left behind: {names}"

    @needs("say")
    def test_what_it_keeps_is_private(self, rig: Rig) -> None:
        """Sessions hold what was said: nobody else may read the agent's folder."""
        rig.reply(Act(do="say", text="done"))
        if rig.state.exists():
            mode = stat.S_IMODE(rig.state.stat().st_mode)
            assert mode & 0o077 == 0, f"the mode of its folder is {mode:o}, not 700"

    @needs("say")
    def test_it_prints_nothing(self, rig: Rig, capfd: pytest.CaptureFixture[str]) -> None:
        """Standard output belongs to the result of the command, standard error to uwf."""
        request = rig.request(Act(do="say", text="done"))
        opened = rig.open()._replace(guard=contextlib.nullcontext())
        capfd.readouterr()
        try:
            run_call(opened, request, Told())
        finally:
            close_call(opened, grace_seconds=rig.limits.grace_seconds)
        printed = capfd.readouterr()
        assert printed.out == "", "it prints to standard output"
        assert printed.err == "", "it prints to standard error"

    @needs("say")
    def test_secrets_are_never_told(self, rig: Rig) -> None:
        """Neither the key of the model nor what the environment holds is in a reply, in a turn
        or in the message of a failure.
        """
        for do in (do for do in _QUIET_ACTS if rig.peer.why_not(do) is None):
            told = _told_with_a_secret(rig, Act(do=do, text="done", code=3))
            assert SECRET not in told, f"the peer was to {do}: {_around(told)}"

    @needs("say")
    def test_two_runs_at_once_stay_apart(self, rig: Rig) -> None:
        """Two threads of uwf at the same moment: each gets its own answer, turns and session."""
        texts = ("the answer of one run", "the reply of the other")
        requests = []
        for index, text in enumerate(texts):
            folder = rig.workspace / str(index)
            folder.mkdir()
            thread = f"01JD000000000000000000000{index}"
            act = Act(do="say", text=text)
            requests.append(rig.request(act, thread=thread, cwd=str(folder)))
        with rig.opened() as one, rig.opened() as other, ThreadPoolExecutor(2) as threads:
            outcomes = list(threads.map(outcome_of, (one, other), requests))
        _check_apart([succeeded(each, Act(do="say")) for each in outcomes], texts)

    def test_it_can_be_closed_unused(self, rig: Rig) -> None:
        """Made and closed, without a call."""
        fault = close_call(rig.open(), grace_seconds=rig.limits.call_seconds)
        assert fault is None, f"closing failed: {fault}"

    @needs("crash")
    def test_it_can_be_closed_after_a_failure(self, rig: Rig) -> None:
        """And closing does not hide what failed."""
        request = rig.request(Act(do="crash", code=3))
        opened = rig.open()
        with contextlib.suppress(Exception):
            run_call(opened, request, Told())
        fault = close_call(opened, grace_seconds=rig.limits.call_seconds)
        assert fault is None, f"closing failed: {fault}"


def _files_outside(folder: Path, own: set[Path]) -> list[Path]:
    """The files below a folder that lie in none of the agent's own."""
    return [
        path
        for path in folder.rglob("*")
        if not path.is_dir() and not any(path.is_relative_to(each) for each in own)
    ]


def _told_with_a_secret(rig: Rig, act: Act) -> str:
    """Everything that a call tells which was given a secret."""
    env = {**rig.environment(), "KIT_API_KEY": SECRET}
    request = rig.request(act, env=env)
    if request.model is not None:
        request = request.with_(model=replace(request.model, api_key=SECRET))
    outcome = rig.call(request)
    said = [repr(outcome.reply), *outcome.told.sessions]
    said += [text for turn in outcome.told.turns for text in texts_of(turn)]
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
        said = "\n".join(text for turn in run.told.turns for text in texts_of(turn))
        assert not any(text in said for text in others), "it was told the turns of the other"
