"""The scripted peer of an agent: how the kit controls the program or service behind an adapter.

An adapter connects uwf with a program, a service or a library. To test the adapter, the kit must
make that peer answer, fail and hang. Only the author knows how, and writes a `Peer`: a scripted
program that plays an `Act`, a scripted server, or the real program if it can be controlled. `lacks`
lists missing abilities with the reason; the clauses that need it are skipped, and the table
shows the reason.

    class EchoPeer(Peer):
        abilities = ("say", "crash", "hang")
        lacks = {"structured": "the program prints text only"}

        def prepare(self, act, call):
            return replace(call, env={**call.env, "ECHO_ACT": json.dumps(act.document())})
"""

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from uwf_core.api.agent import Call, Usage
from uwf_core.fields.mismatch import nearest
from uwf_core.fields.records import write_record

_Call = TypeVar("_Call", bound=Call)

ABILITIES: Mapping[str, str] = {
    "say": "answers `text`",
    "usage": "answers `text` and reports `usage` and no other numbers",
    "no_usage": "answers `text` and reports no usage at all",
    "structured": "answers the object `structured`",
    "write": "writes `text` to the file `name` with its own tool, then answers `text`",
    "say_variable": "answers the environment variable `name`, or `unset`",
    "deny": "is denied a tool, then answers `text`",
    "question": "asks a person `text` before it can continue",
    "say_answer": "gets a person's answer to its question, and says the field `name` of it",
    "fail": "fails with `kind`, one of the peer's `kinds`; a limit ends at `until_ms`",
    "missing": "does not exist: no such program, no listening service",
    "crash": "ends with the exit code `code` and without an answer",
    "garbage": "answers in a wrong format",
    "cut": "stops in the middle of its answer `text` and exits as after a success",
    "silence": "exits successfully without an answer",
    "say_bytes": "answers the bytes `data` with NUL and invalid UTF-8",
    "hang": "answers nothing and does not exit",
    "hang_after": "answers the whole `text` and does not exit",
    "spawn": "starts a process that leaves its session, answers nothing and does not exit",
    "spawn_and_say": "starts a process that leaves its session, and answers `text`",
    "read_stdin": "reads its standard input to the end, then answers `text`",
    "close_stdin": "closes its standard input unread, then answers `text`",
    "lost": "reports that the session to continue does not exist",
    "replaced": "silently starts a new session instead of continuing one, and answers `text`",
    "heard": "lists every text that it got (`Peer.heard`)",
    "knows": "lists the texts that it got in a session (`Peer.knows`)",
    "offered": "lists the tools of the last call (`Peer.offered`)",
}
"""What a clause can require of a peer."""


@dataclass(frozen=True, kw_only=True)
class Act:
    """The behaviour of the peer in one call: `do` is an ability, the rest are its values."""

    do: str
    text: str = ""
    structured: Mapping[str, Any] | None = None
    usage: Usage | None = None
    data: bytes = b""
    code: int = 1
    kind: str = ""
    name: str = ""
    until_ms: int | None = None

    def document(self) -> dict[str, Any]:
        """The act as JSON, for a scripted program; the bytes are `dataBase64`."""
        plain = {name: write_record(value) for name, value in vars(self).items() if name != "data"}
        return {**plain, "dataBase64": b64encode(self.data).decode("ascii")}


class Peer:
    """A peer without abilities: subclass it and list yours in `abilities`.

    Attributes:
        abilities: those that it has, from `ABILITIES`.
        lacks: why others are missing, for the table; `otherwise` is the reason for the rest.
        kinds: the kinds of failure that `fail` can cause.
        always_counted: fields of `Usage` that it reports for every call, even if an act does not
            set them (no cached tokens, a cost that it computes itself).
        state_dir: the agent's own folder, for a peer that has to reach into it (to lose a session
            that the adapter itself keeps); set by the kit before the first call.
    """

    abilities: Collection[str] = ()
    lacks: Mapping[str, str] = {}
    otherwise: str = ""
    kinds: Collection[str] = ()
    always_counted: Collection[str] = ()
    state_dir: str = ""

    def prepare(self, act: Act, call: _Call) -> _Call:
        """Make the peer play `act` in the call, an `AgentRequest` or an `AskRequest`.

        Called once for each call, before it, in the thread of the test. Returns the call, usually
        with an addition to its environment or with another model.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `prepare`")

    def heard(self) -> Sequence[str]:
        """Every text that was sent to it, call by call, oldest first."""
        raise NotImplementedError(f"{type(self).__name__} has no method `heard`")

    def knows(self, session: str) -> Sequence[str]:
        """The texts that were sent to it in this session, oldest first; of a fork with those
        that its origin was sent before.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `knows`")

    def offered(self) -> Collection[str]:
        """The names of the tools that it could use in the last call."""
        raise NotImplementedError(f"{type(self).__name__} has no method `offered`")

    def close(self) -> None:
        """Release everything. Called at the end of each clause."""

    def why_not(self, ability: str) -> str | None:
        """Why a clause that needs this ability is skipped; None if it runs.

        Raises:
            ValueError: the peer's declarations are not valid.
        """
        self.check()
        if ability in self.abilities:
            return None
        reason = self.lacks.get(ability, self.otherwise)
        return (
            f"the peer has no {ability!r}: {reason}" if reason else f"the peer has no {ability!r}"
        )

    def check(self) -> None:
        """Reject unknown names of abilities.

        Raises:
            ValueError: with the nearest name.
        """
        for name in (*self.abilities, *self.lacks):
            if name not in ABILITIES:
                close = nearest(name, ABILITIES)
                raise ValueError(
                    f"{type(self).__name__} has the unknown ability {name!r}; "
                    + (f"did you mean {close!r}?" if close else f"known: {', '.join(ABILITIES)}")
                )
        both = sorted(set(self.abilities) & set(self.lacks))
        if both:
            raise ValueError(f"{type(self).__name__} both has and lacks {both[0]!r}")


class NoPeer(Peer):
    """The default: skips every clause that needs a peer."""

    otherwise = "no fixture `peer` is defined"
