"""Which session a run is to be in, and what must be seen of it afterwards."""

import json
import uuid
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from uwf_agent_claude_code.transcripts import Transcript, find_transcript
from uwf_agent_claude_code.usage import Ledger
from uwf_core.api import SessionLost


class Plan(NamedTuple):
    """The session of one run.

    Attributes:
        session: its id, known before the program starts, so that a crash leaves a handle.
        resumes: the session whose history it has: itself, its origin where it is forked by this
            run, or None for a new one.
        before: what was recorded of that history.
    """

    session: str
    resumes: str | None = None
    before: Transcript | None = None

    @property
    def is_fork(self) -> bool:
        """Whether this run forks it from another one."""
        return self.resumes not in (None, self.session)

    @property
    def ledger(self) -> Ledger:
        """What its history had cost."""
        return self.before.ledger if self.before else Ledger()

    def arguments(self) -> list[str]:
        """The arguments that select the session."""
        if self.resumes is None:
            return ["--session-id", self.session]
        fork = ["--fork-session", "--session-id", self.session] if self.is_fork else []
        return ["--resume", self.resumes, *fork]

    def proof(self, folder: Path, used: str) -> str | None:
        """The proof that the run continued that history; None for a new session.

        Args:
            folder: the program's folder.
            used: the session that the program says it used.

        Raises:
            SessionLost: it was another one, or what was recorded before is no longer in it.
        """
        if self.before is None:
            return None
        after = find_transcript(folder, self.session)
        if used != self.session or after is None or not self.before.entries <= after.entries:
            raise lost(self.session, f"Claude Code continued {used} without its history")
        origin = f", forked from {self.resumes}" if self.is_fork else ""
        count = len(self.before.entries)
        return f"the transcript of {used}{origin} holds the {count} entries from before"


class Sessions:
    """The sessions of one agent.

    A fork is made by the run that first speaks in it, since the program forks no other way; until
    then the agent's own folder remembers its origin.

    Args:
        state: the agent's own folder.
        folder: the program's folder.
    """

    def __init__(self, state: Path, folder: Path) -> None:
        self._forks = state / "forks"
        self._folder = folder

    def plan(self, session: str | None) -> Plan:
        """The plan for a new session (None), or to continue one.

        Raises:
            SessionLost: there is no record of it.
        """
        if session is None:
            return Plan(str(uuid.uuid4()))
        transcript = find_transcript(self._folder, session)
        if transcript is not None:
            return Plan(session, session, transcript)
        origin = self._origin(session)
        found = None if origin is None else find_transcript(self._folder, origin)
        if found is None:
            raise lost(session, f"there is no transcript of it in {self._folder}")
        return Plan(session, origin, found)

    def fork(self, session: str) -> str:
        """The id of a new session that will know what `session` knows.

        Raises:
            SessionLost: there is no record of `session`.
        """
        plan, forked = self.plan(session), str(uuid.uuid4())
        self._forks.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({"origin": plan.resumes})
        (self._forks / f"{forked}.json").write_text(text, encoding="utf-8")
        return forked

    def made(self, plan: Plan) -> None:
        """A run in the planned session went well: its origin need not be remembered."""
        if plan.is_fork:
            with suppress(OSError):  # a file that stays is passed over
                (self._forks / f"{plan.session}.json").unlink()

    def _origin(self, session: str) -> str | None:
        try:
            found = json.loads((self._forks / f"{Path(session).name}.json").read_bytes())
            return str(found["origin"])
        except (OSError, ValueError, KeyError, TypeError):
            return None


def lost(session: str, why: str) -> SessionLost:
    """The failure of a session that is not continued."""
    return SessionLost(f"the session {session} cannot be continued: {why}", session=session)
