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
        at: the last entry of it that a fork has.
    """

    session: str
    resumes: str | None = None
    before: Transcript | None = None
    at: str | None = None

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
        if self.at is None:
            return ["--resume", self.resumes]
        return [
            *("--resume", self.resumes, "--resume-session-at", self.at),
            *("--fork-session", "--session-id", self.session),
        ]

    def proof(self, after: Transcript | None, used: str) -> str | None:
        """The proof that the run continued that history; None for a new session.

        Args:
            after: what is recorded of the session now.
            used: the session that the program says it used.

        Raises:
            SessionLost: it was another one, what was recorded before is no longer in it, or a fork
                knows what was said after its place.
        """
        if self.before is None:
            return None
        known, later = frozenset(self.before.entries), frozenset[str]()
        if self.at is not None:
            known, later = self.before.until(self.at), self.before.after(self.at)
        if used != self.session or after is None or not known.issubset(after.entries):
            raise lost(self.session, f"Claude Code continued {used} without its history")
        if later.intersection(after.entries):
            raise lost(self.session, f"it holds what was said in {self.resumes} after {self.at}")
        origin = f", forked from {self.resumes} at {self.at}" if self.is_fork else ""
        return f"the transcript of {used}{origin} holds the {len(known)} entries from before"


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
        origin, at = self._origin(session)
        found = None if origin is None else find_transcript(self._folder, origin)
        if found is None or at not in found.entries:
            raise lost(session, f"there is no transcript of it in {self._folder}")
        return Plan(session, origin, found, at)

    def fork(self, session: str, at: str | None) -> str:
        """The id of a new session that will know what `session` knows now, or knew at an entry.

        Raises:
            SessionLost: there is no record of `session`, or of the entry in it.
        """
        plan, forked = self.plan(session), str(uuid.uuid4())
        assert plan.before is not None
        if at is not None and at not in plan.before.entries:
            raise lost(session, f"its transcript has no entry {at}")
        self._forks.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Named now, since the run that forks it comes later, and the origin may go on meanwhile.
        text = json.dumps({"origin": plan.resumes, "at": at or plan.at or plan.before.last})
        (self._forks / f"{forked}.json").write_text(text, encoding="utf-8")
        return forked

    def made(self, plan: Plan) -> None:
        """A run in the planned session went well: its origin need not be remembered."""
        if plan.is_fork:
            with suppress(OSError):  # a file that stays is passed over
                (self._forks / f"{plan.session}.json").unlink()

    def _origin(self, session: str) -> tuple[str | None, str]:
        """The session that a fork comes from, None if unknown, and its last entry in it."""
        try:
            found = json.loads((self._forks / f"{Path(session).name}.json").read_bytes())
            return str(found["origin"]), str(found["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return None, ""


def lost(session: str, why: str) -> SessionLost:
    """The failure of a session that is not continued."""
    return SessionLost(f"the session {session} cannot be continued: {why}", session=session)
