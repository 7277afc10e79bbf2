"""The process of an agent for one call.

Agents keep their sessions on disk, so each call has a new process: a session that a cancel has
left wedged is whole again in the next one, and nothing outlives a call.

It is stopped as soon as its turn is over. Its temporary folder is removed with it.

To stop a call, it first sends `session/cancel`, so that the agent ends its tools and records the
conversation; then come the signals, then the reaper.
"""

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self

from uwf_agent_acp import __version__
from uwf_agent_acp.agent.profile import Profile
from uwf_agent_acp.protocol.client import AcpClient, AgentInfo, Listener, PromptEnd
from uwf_agent_acp.protocol.connection import Service
from uwf_agent_acp.protocol.errors import AcpError, RpcError
from uwf_core.api import Call, Cancel, ChildProgram, ProgramResult, Unavailable

_LINGER_SECONDS = 1.0
_POLITE_SECONDS = 2.0
_TICK_SECONDS = 0.05
_QUIET_SECONDS, _LATE_SECONDS = 0.15, 2.0
"""What agents still send after they have answered a prompt comes within this."""
_WIRE_BYTES = 64 * 1024 * 1024
_WIRE_PER_REPLY = 4

Ended = Literal["cancelled", "timeout", "by us"]


class AcpProcess:
    """The running program; as a context manager it ends on exit.

    Args:
        call: the call.
        profile: how the program is started.
        listener: gets updates and requests for permission.
        services: what else the agent may ask.

    Raises:
        Unavailable: the program was not found.
    """

    def __init__(
        self,
        call: Call,
        profile: Profile,
        listener: Listener,
        services: Mapping[str, Service],
    ) -> None:
        self._call = call
        self._stop = Cancel()
        self._over = threading.Event()
        self._ending = threading.Event()
        self._answered = threading.Event()
        self._prompting: str | None = None
        self._result: ProgramResult | None = None
        self.ended: Ended | None = None
        """Why the call was stopped before its answer; None if it was not."""
        self._temporary = tempfile.TemporaryDirectory(
            prefix=f"uwf-{profile.name}-", dir=call.env.get("TMPDIR"), ignore_cleanup_errors=True
        )
        try:
            self._child = self._start(call, profile)
        except BaseException:
            self._temporary.cleanup()
            raise
        self.client = AcpClient(_Wire(self._child), listener, services)
        self._watcher = threading.Thread(
            target=self._watch, name=f"watch {profile.name}", daemon=True
        )
        self._watcher.start()

    def _start(self, call: Call, profile: Profile) -> ChildProgram:
        folder = Path(self._temporary.name)
        launch = profile.launch(call, folder)
        own = replace(_own(call, self._stop), cwd=launch.cwd or call.cwd)
        env = {**launch.env, "TMPDIR": str(folder)}
        try:
            return own.start_program(launch.argv, env=env, stdin=None)
        except Unavailable as failure:
            is_there = shutil.which(launch.argv[0], path=env.get("PATH", call.env.get("PATH")))
            if is_there or profile.install_hint is None:
                raise
            raise Unavailable(failure.message, hint=profile.install_hint) from failure

    def begin(self) -> AgentInfo:
        """Agree on the protocol; call it first.

        Raises:
            AcpError: see `AcpClient.initialize`.
        """
        return self.client.initialize("uwf", __version__)

    def prompt(self, session: str, text: str) -> PromptEnd:
        """Send a prompt to a session and wait for the end of the agent's turn.

        Raises:
            AcpError: see `AcpClient.prompt`.
        """
        self._answered.clear()
        self._prompting = session
        try:
            return self.client.prompt(session, text)
        finally:
            self._prompting = None
            self._answered.set()

    def end_turn(self, session: str | None) -> str | None:
        """Take what the agent still says after its answer, and let it close the session, if any, in
        a limited time. Return what went wrong; the answer is received, whatever it is.
        """
        overdue = f"it did not close its session within {_POLITE_SECONDS:g} s"
        timer = threading.Timer(_POLITE_SECONDS, self._stop.set, (overdue,))
        try:
            self.client.drain(_QUIET_SECONDS, _LATE_SECONDS)
            timer.start()
            if session is not None and self.ended is None:
                self.client.tell_session(session, "close")
        except RpcError:
            return None  # the next load shows whether it has kept the session
        except AcpError:
            return overdue if self._stop.reason == overdue else None
        finally:
            timer.cancel()
        return None

    def end_prompt(self) -> None:
        """End the running prompt; called from within a listener.

        The agent gets the cancel before the listener's answer: else it would continue with that.
        """
        if self._prompting is not None and not self._ending.is_set():
            self.client.cancel(self._prompting)
        self.ended = self.ended or "by us"
        self._ending.set()

    def finish(self, *, is_ending: bool = False) -> ProgramResult:
        """End the program and return its result. One that is ending by itself gets a moment."""
        if self._result is None:
            self._over.set()
            self._watcher.join()
            linger = _LINGER_SECONDS if is_ending else 0.0
            timer = threading.Timer(linger, self._stop.set, ("its work is done",))
            timer.start()
            try:
                self._result = self._child.wait()
            finally:
                timer.cancel()
                timer.join()
                self._temporary.cleanup()
        return self._result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.finish()

    def _watch(self) -> None:
        """Wait for a reason to stop; then send a cancel, and after a while the signals."""
        deadline = time.monotonic() + self._call.limits.seconds
        while not self._ending.is_set():
            if self._over.wait(_TICK_SECONDS):
                return
            if self._call.cancel.is_set():
                self.ended = self.ended or "cancelled"
                break
            if time.monotonic() >= deadline:
                self.ended = self.ended or "timeout"
                break
        session = self._prompting
        if session is not None:
            if not self._ending.is_set():
                self.client.cancel(session)
            self._answered.wait(min(_POLITE_SECONDS, self._call.limits.grace_seconds / 2))
        self._stop.set(self.ended or "stopped")


class _Wire:
    """The program as a channel of the protocol."""

    def __init__(self, child: ChildProgram) -> None:
        self.write = child.write
        self._child = child

    def lines(self) -> Iterator[bytes | None]:
        return self._child.lines_or_silence(_TICK_SECONDS)


def _own(call: Call, stop: Cancel) -> Call:
    """The call with the limits of the program: this module enforces those of the call, and a
    replayed transcript may be longer than a reply.
    """
    limits = replace(
        call.limits,
        seconds=call.limits.seconds + _POLITE_SECONDS + call.limits.grace_seconds,
        reply_bytes=_WIRE_BYTES + _WIRE_PER_REPLY * call.limits.reply_bytes,
    )
    return replace(call, cancel=stop, limits=limits)
