"""Every error that uwf raises on purpose, each with its exit code, code word, place and hint.

    UwfError
    ├── UsageError                  exit 2   the command or its arguments
    │   ├── UnknownIdError                   a thread, step, node or name that does not exist
    │   ├── AmbiguousIdError                 a prefix that fits several
    │   ├── WrongStateError                  the thread is not in a state for this command
    │   ├── ConfigError                      config.yaml, .env, environment, trust
    │   └── PluginError                      an unknown plugin, or one that is not ready
    ├── DefinitionError             exit 4   a workflow (or other definition) with its problems
    ├── PayloadError                exit 4   a value that is not a valid payload of its type
    ├── StoreError                  exit 1   the store cannot be used
    │   ├── MissingNodeError                 a reference to a node that is not stored
    │   ├── CorruptNodeError                 bytes that do not match their reference
    │   ├── CollisionError                   another payload already has this reference
    │   └── StoreVersionError                written by a newer uwf
    ├── BundleError                 exit 4   an invalid bundle
    ├── LimitReached                exit 5   a limit leaves no room for a step
    ├── BusyError                   exit 75  a held lock, or a wait that timed out
    │   └── LeaseLostError                   a lock that another process has taken over
    ├── RunInterrupted              exit 130 Ctrl-C or SIGTERM
    ├── AgentFailure                by kind  an agent failed: the closed table `FailureKind`
    │   └── one subclass per kind, and PluginBroken, an InternalFailure
    ├── NeedsAnswer                 exit 3   an agent needs a person; not a failure
    └── AgentStuck                  exit 6   an in-process agent ignored its cancel token

An error has a `message` (what is wrong, and why), `where` (the place: `file:line:column`, a path
within a payload, a thread) and `hint` (how to fix it).
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import takewhile
from typing import Any


class ExitCode:
    """The exit codes of every command; `uwf --help` explains them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    SUSPENDED = 3
    INVALID = 4
    LIMIT = 5
    AGENT = 6
    BUSY = 75
    INTERRUPTED = 130


class UwfError(Exception):
    """The root: an error with a code word, an exit code, a place and a hint; `problems` are the
    documents of several errors that are reported together. Each has a `message`; `severity`,
    `code`, `file`, `line`, `column` and `hint` may be missing.
    """

    code = "error"
    exit_code: int = ExitCode.FAILED

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        problems: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.problems = tuple(problems)

    def document(self) -> dict[str, Any]:
        """The error as the JSON document that commands print on stderr, without redaction."""
        error: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "where": self.where,
            "hint": self.hint,
            "exitCode": self.exit_code,
        }
        if self.problems:
            error["problems"] = [dict(problem) for problem in self.problems]
        return {"error": error}

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


def place_of(problem: Mapping[str, Any]) -> str:
    """`file:line:column` of the document of a problem, as far as it has them; else ""."""
    parts = takewhile(bool, map(problem.get, ("file", "line", "column")))
    return ":".join(map(str, parts))


class UsageError(UwfError):
    """An invalid command line."""

    code = "usage"
    exit_code = ExitCode.USAGE


class UnknownIdError(UsageError):
    """A thread, step, node, workflow or name that does not exist."""

    code = "unknown-id"


class AmbiguousIdError(UsageError):
    """A prefix that matches more than one thread or step."""

    code = "ambiguous-id"


class WrongStateError(UsageError):
    """The thread is not in a state that allows this command."""

    code = "wrong-state"


class ConfigError(UsageError):
    """An error in the configuration: an unknown key, a wrong type, an untrusted setting.

    `problems` has every error that was found, as the problem documents of a workflow check.
    """

    code = "config"


class PluginError(UsageError):
    """A plugin that is unknown, blocked, incompatible or claimed twice; nothing was stored."""

    code = "plugin"


class DefinitionError(UwfError):
    """A definition with errors. `problems` has all of them, each as the document
    `{severity, code, file, line, column, message, hint}`.
    """

    code = "invalid-definition"
    exit_code = ExitCode.INVALID


class PayloadError(UwfError):
    """A value that JSON cannot represent, or that its schema rejects; `where` is its path."""

    code = "invalid-payload"
    exit_code = ExitCode.INVALID


class StoreError(UwfError):
    """The store cannot be opened, read or written."""

    code = "store"


class MissingNodeError(StoreError):
    """A reference to a node that this store does not have."""

    code = "missing-node"


class CorruptNodeError(StoreError):
    """Stored bytes that do not match their reference, digest or checksum."""

    code = "corrupt-node"


class CollisionError(StoreError):
    """Another payload already has this reference (XXH64 is a name, not a proof)."""

    code = "collision"


class StoreVersionError(StoreError):
    """The store was written by a newer uwf than this one."""

    code = "store-version"


class BundleError(UwfError):
    """A bundle that is cut, changed, incomplete, or holds unexpected content."""

    code = "invalid-bundle"
    exit_code = ExitCode.INVALID


class LimitReached(UwfError):
    """A limit leaves no room for a step; `reached` is that limit (`thread.limits.Reached`)."""

    code = "limit"
    exit_code = ExitCode.LIMIT

    def __init__(self, message: str, reached: Any, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reached = reached


class BusyError(UwfError):
    """Another process holds the lock, or a wait timed out."""

    code = "busy"
    exit_code = ExitCode.BUSY


class LeaseLostError(BusyError):
    """Another process has taken a lock over; nothing was stored."""


class RunInterrupted(UwfError):
    """Ctrl-C or SIGTERM ended the command."""

    code = "interrupted"
    exit_code = ExitCode.INTERRUPTED


class NeedsAnswer(UwfError):
    """An agent needs a person: not a failure and not a step, but a question with its form.

    `form` is a JSON Schema that an answer must satisfy.
    """

    code = "needs-answer"
    exit_code = ExitCode.SUSPENDED

    def __init__(self, message: str, form: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.form = dict(form)


class AgentStuck(UwfError):
    """An agent within this process kept running after its cancel token was set."""

    code = "agent-stuck"
    exit_code = ExitCode.AGENT


class FailureKind(Enum):
    """Every way in which an agent can fail, a closed table: its word, the exit code, whether a
    later run continues the session, and the meaning.
    """

    UNAVAILABLE = ("unavailable", 6, False, "the program or service is missing, or not signed in")
    AUTH = ("auth", 6, True, "the key, login or account was rejected (also: no credit is left)")
    RATE_LIMIT = ("rate_limited", 6, True, "the service asks to wait")
    CONTEXT_TOO_LONG = ("context_too_long", 6, False, "the model's context is full")
    BAD_REQUEST = ("bad_request", 6, False, "the provider rejected the request")
    MAX_TURNS = ("max_turns", 6, True, "the agent's own turn limit was reached")
    MAX_BUDGET = ("max_budget", 6, True, "the agent's own budget was spent")
    TIMEOUT = ("timeout", 6, True, "the time limit of the run was reached")
    STALLED = ("stalled", 6, True, "the agent was silent for too long")
    CRASHED = ("crashed", 6, True, "the agent ended without a result")
    TRUNCATED = ("truncated", 6, True, "the agent's stream was cut")
    TOO_LARGE = ("too_large", 6, True, "the reply exceeds the limit")
    REFUSED = ("refused", 6, True, "the model refused")
    EMPTY = ("empty", 6, True, "the agent delivered nothing")
    SESSION_LOST = ("session_lost", 6, False, "the requested session is lost")
    INVALID_OUTPUT = ("invalid_output", 4, True, "the output does not satisfy the role's schema")
    INTERRUPTED = ("interrupted", 130, True, "the run was stopped in the middle")
    ROUTING = ("routing", 1, True, "the graph has no valid next step")
    INTERNAL = ("internal", 1, True, "an error in uwf or in a plugin")

    def __init__(self, word: str, exit_code: int, keeps_session: bool, meaning: str) -> None:
        self.word = word
        self.exit_code = exit_code
        self.keeps_session = keeps_session
        self.meaning = meaning

    @classmethod
    def of(cls, word: str) -> "FailureKind":
        """The kind named `word`.

        Raises:
            ValueError: unknown kind.
        """
        for kind in cls:
            if kind.word == word:
                return kind
        raise ValueError(f"{word!r} is not a kind of failure")


class AgentFailure(UwfError):
    """An agent failed; `kind` is a row of `FailureKind`.

    Adapters raise the subclass of the kind. `until_ms` (ms since 1970) is the end of a rate limit,
    if known; `session` is the session's id, if there is one.
    """

    kind = FailureKind.INTERNAL
    code = "agent-failure"

    def __init__(
        self,
        message: str,
        *,
        until_ms: int | None = None,
        session: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.until_ms = until_ms
        self.session = session
        self.exit_code = self.kind.exit_code

    @staticmethod
    def of(kind: FailureKind, message: str, **details: Any) -> "AgentFailure":
        """The failure of `kind`, as an instance of its subclass."""
        for subclass in AgentFailure.__subclasses__():
            if subclass.kind is kind:
                return subclass(message, **details)
        raise AssertionError(f"no class for {kind}")


class Unavailable(AgentFailure):
    """The program or service is missing, or not signed in at all."""

    kind = FailureKind.UNAVAILABLE


class AuthRefused(AgentFailure):
    """The key, the login or the account was rejected, also because no credit is left."""

    kind = FailureKind.AUTH


class RateLimited(AgentFailure):
    """The service asks to wait, until `until_ms` if known."""

    kind = FailureKind.RATE_LIMIT


class ContextTooLong(AgentFailure):
    """The model's context is full; the session is not kept."""

    kind = FailureKind.CONTEXT_TOO_LONG


class BadRequest(AgentFailure):
    """The provider rejected the request; the message has its text."""

    kind = FailureKind.BAD_REQUEST


class MaxTurns(AgentFailure):
    """The agent's own limit on turns was reached."""

    kind = FailureKind.MAX_TURNS


class MaxBudget(AgentFailure):
    """The agent's own budget was spent."""

    kind = FailureKind.MAX_BUDGET


class TimedOut(AgentFailure):
    """The run's time limit was reached."""

    kind = FailureKind.TIMEOUT


class Stalled(AgentFailure):
    """The agent was silent for longer than the idle limit."""

    kind = FailureKind.STALLED


class Crashed(AgentFailure):
    """The agent ended without a result."""

    kind = FailureKind.CRASHED


class Truncated(AgentFailure):
    """The agent's stream was cut."""

    kind = FailureKind.TRUNCATED


class TooLarge(AgentFailure):
    """The reply exceeds the limit."""

    kind = FailureKind.TOO_LARGE


class Refused(AgentFailure):
    """The model refused."""

    kind = FailureKind.REFUSED


class EmptyReply(AgentFailure):
    """The agent delivered nothing."""

    kind = FailureKind.EMPTY


class SessionLost(AgentFailure):
    """The agent lost the session that it should continue, or cannot prove that it continues it."""

    kind = FailureKind.SESSION_LOST


class InvalidOutput(AgentFailure):
    """The output does not satisfy the role's schema, after all corrections."""

    kind = FailureKind.INVALID_OUTPUT


class AgentInterrupted(AgentFailure):
    """The run was stopped in the middle: its cancel token was set."""

    kind = FailureKind.INTERRUPTED


class RoutingFailed(AgentFailure):
    """No edge for the status, a prompt that renders blank, a location that does not exist."""

    kind = FailureKind.ROUTING


class InternalFailure(AgentFailure):
    """An error in uwf or in a plugin, or a plugin that fails at import."""

    kind = FailureKind.INTERNAL


class PluginBroken(InternalFailure):
    """A plugin that cannot be loaded: it raises, exits, or does not return what it announces."""

    code = "plugin-broken"
