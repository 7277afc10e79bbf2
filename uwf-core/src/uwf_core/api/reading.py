"""The exporter contract, and the recorded thread that every view and exporter reads.

A recorded thread is lazy: each part is read from the store when it is asked for, so a reader pays
for what it shows. Nothing in it can change the store.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from uwf_core.api.agent import API_VERSION
from uwf_core.api.calls import RecordedCall, RecordedFile
from uwf_core.api.sums import UsagePayload


@dataclass(frozen=True, kw_only=True)
class ExporterSpec:
    """An exporter as its distribution announces it; import paths are text, so nothing is loaded.

    Attributes:
        name: what a user types (`uwf thread export THREAD --format NAME`); equals the entry
            point's name. `bundle`, `text`, `json` and `yaml` are taken.
        summary: one line for people.
        factory: `module:attribute`, called without arguments, gives an `Exporter`.
        suffix: the end of a file's name in this format, for example `.json`.
        api: the version of this contract that the exporter was written for.
    """

    name: str
    summary: str
    factory: str
    suffix: str = ".txt"
    api: str = API_VERSION


class Exporter(Protocol):
    """Writes a recorded thread in another format. The same thread gives the same output."""

    def export(self, thread: "RecordedThread") -> Iterable[str | bytes]:
        """The output, part by part. Texts are written as UTF-8."""


class RecordedSaying(Protocol):
    """What a person said for a step."""

    @property
    def kind(self) -> str:
        """`answer`, or the purpose of the call: `run`, `resume`, `poke`."""

    @property
    def text(self) -> str:
        """The person's words."""


class RecordedTurn(Protocol):
    """One message inside the agent's own loop."""

    @property
    def ref(self) -> str:
        """The reference of its node."""

    @property
    def node(self) -> Mapping[str, Any]:
        """The node's payload: texts are references."""

    @property
    def index(self) -> int:
        """Its number in the step, from 0."""

    @property
    def speaker(self) -> str:
        """`assistant`, `tool` or `note`."""

    @property
    def text(self) -> str:
        """The message."""

    @property
    def reasoning(self) -> str | None:
        """The model's reasoning, if the agent reported it."""

    @property
    def tool_calls(self) -> Sequence[Mapping[str, Any]]:
        """The uses of tools, with the keys `id`, `name`, `arguments`, `result` (text or null),
        `isError`, `startedAtMs`, `endedAtMs`.
        """

    @property
    def usage(self) -> UsagePayload | None:
        """What this message used, if the agent reported it."""


class RecordedCorrection(Protocol):
    """A rejected reply, and the correction that the agent got."""

    @property
    def node(self) -> Mapping[str, Any]:
        """The entry of the step's node: `prompt` and `raw` are references."""

    @property
    def prompt(self) -> str:
        """The text that the agent got."""

    @property
    def raw(self) -> str:
        """The rejected reply."""

    @property
    def errors(self) -> Sequence[str]:
        """What was wrong with the reply."""


class RecordedStep(Protocol):
    """A step of a role, or a failed attempt at one."""

    @property
    def ref(self) -> str:
        """The reference of its node."""

    @property
    def node(self) -> Mapping[str, Any]:
        """The node's payload (`uwf cas get STEP`): plain fields such as `agent`, `model`, `usage`,
        `denials`, `startedAtMs` and `next`, and the records `attempt` (what it was asked to do),
        `session`, `call` and `files`, null if unused; texts are references.
        """

    @property
    def number(self) -> int:
        """Its number in the thread, from 1."""

    @property
    def role(self) -> str:
        """The role that ran."""

    @property
    def child(self) -> str | None:
        """The thread that it called; None for the step of an agent, a person or a program, and for
        branches.
        """

    @property
    def calls(self) -> Sequence[RecordedCall]:
        """The calls that it recorded: one, those of the branches in their order, or none."""

    @property
    def workflow(self) -> "RecordedWorkflow":
        """The workflow that chose the role and routed the output."""

    @property
    def status(self) -> str | None:
        """The `$status` of the output; None for a failed attempt."""

    @property
    def output(self) -> Mapping[str, Any]:
        """The typed output; empty for a failed attempt."""

    @property
    def body(self) -> str:
        """The text beside the output."""

    @property
    def raw(self) -> str | None:
        """The whole reply as the agent gave it (redacted); None if there was none."""

    @property
    def prompt(self) -> str:
        """Exactly what the agent got."""

    @property
    def edge_prompt(self) -> str:
        """The moderator's instruction: the rendered prompt of the edge that led here."""

    @property
    def said(self) -> str | None:
        """The text of a person to the role, if any."""

    @property
    def answer(self) -> Any:
        """A person's answer to the role's question (JSON), None if there is none."""

    @property
    def sayings(self) -> Sequence[RecordedSaying]:
        """What persons said for this step and the attempts before it, oldest first."""

    @property
    def is_answer(self) -> bool:
        """Whether the output is a person's answer, without a turn of an agent."""

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """`kind`, `message` and `until` of a failed attempt; None for a step."""

    @property
    def duration_ms(self) -> int:
        """How long it took."""

    @property
    def corrections(self) -> Sequence[RecordedCorrection]:
        """The replies that were rejected, oldest first."""

    @property
    def attempts(self) -> "Sequence[RecordedStep]":
        """The attempts at this step that failed, oldest first."""

    @property
    def replaced(self) -> "RecordedStep | None":
        """The step that this one replaced (`thread poke`)."""

    @property
    def files(self) -> Sequence[RecordedFile]:
        """The files that it delivered, by their paths."""

    @property
    def turns(self) -> Sequence[RecordedTurn]:
        """The messages inside the agent's loop."""


class RecordedEdge(Protocol):
    """The target of a status in a workflow."""

    @property
    def role(self) -> str:
        """The next role, or `$END` or `$SUSPEND`."""

    @property
    def prompt(self) -> str:
        """The template of the next role's instruction."""

    @property
    def location(self) -> str | None:
        """The template of the next step's folder."""


class RecordedRole(Protocol):
    """A role of a workflow."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def description(self) -> str:
        """Its purpose, for people."""

    @property
    def goal(self) -> str:
        """Its goal; empty for a program and a workflow."""

    @property
    def workflow(self) -> str | None:
        """The workflow that plays it, a reference or `$SELF`; None for other roles."""

    @property
    def command(self) -> Sequence[str] | None:
        """The program that plays it and the templates of its arguments; None for other roles."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of its output."""


class RecordedWorkflow(Protocol):
    """A published workflow."""

    @property
    def ref(self) -> str:
        """The reference of its node."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def description(self) -> str:
        """Its purpose, for people."""

    @property
    def roles(self) -> Mapping[str, RecordedRole]:
        """The roles by name."""

    @property
    def graph(self) -> Mapping[str, Mapping[str, RecordedEdge]]:
        """Role (or `$START`) -> `$status` (or `new`, `resume`) -> edge."""


class RecordedEvent(Protocol):
    """A stored event of the thread that is not a step."""

    @property
    def kind(self) -> str:
        """`started`, `called`, `compacted`, `asked`, `granted`, `limit`, `unrouted`, …"""

    @property
    def ref(self) -> str:
        """The reference of its node."""

    @property
    def payload(self) -> Mapping[str, Any]:
        """The node's payload: `seq`, `atMs`, `by`, `next` and what the kind adds."""

    @property
    def call(self) -> Mapping[str, Any] | None:
        """Of `asked`: the payload of the call that asked (`payload["attempt"]`), whose record
        `attempt` has the person who made it (`by`) and the words of that person (`said`, a
        reference).
        """

    @property
    def said(self) -> str | None:
        """Of `asked`: the words with which a person made that call, if any."""

    @property
    def summary(self) -> str | None:
        """Of `compacted`: the text that replaces older steps in new sessions."""

    @property
    def origin(self) -> str | None:
        """Of `compacted`: the thread from which a fork took over this summary, if any."""


class RecordedThread(Protocol):
    """One run of a workflow as it is stored."""

    @property
    def id(self) -> str:
        """The thread's id."""

    @property
    def head(self) -> str:
        """The reference of its newest step, or of its start."""

    @property
    def start(self) -> str:
        """The reference of its start node."""

    @property
    def node(self) -> Mapping[str, Any]:
        """The payload of the start node: `prompt` is a reference, `cwd` and `agent` are text."""

    @property
    def task(self) -> str:
        """The text with which the thread was started."""

    @property
    def workflow(self) -> RecordedWorkflow:
        """The workflow that the thread runs now."""

    @property
    def status(self) -> str:
        """`idle`, `running`, `suspended`, `completed`, `cancelled` or `corrupt`."""

    @property
    def root(self) -> str | None:
        """The root over all its nodes, which `uwf thread export` and `uwf bundle verify` print; it
        reads all of them. None while the thread runs.
        """

    @property
    def cwd(self) -> str:
        """The folder of the thread."""

    @property
    def started_ms(self) -> int:
        """When it was started, in ms since 1970."""

    @property
    def usage(self) -> UsagePayload:
        """What all its attempts used."""

    @property
    def running_ms(self) -> int:
        """The time that all its attempts took."""

    @property
    def count(self) -> int:
        """How many steps there are."""

    def steps(self, *fields: str) -> Iterator[RecordedStep]:
        """The steps, oldest first. What the `fields` of their nodes refer to (`output`, `body`, …)
        is read together with them, which makes long threads fast.
        """

    def newest_first(self, *fields: str, before: str | None = None) -> Iterator[RecordedStep]:
        """The steps, newest first; reads little more than is consumed. `fields` as for `steps`;
        with `before` (a step, or a prefix of one) only the steps before that one.
        """

    @property
    def open_calls(self) -> Sequence[RecordedCall]:
        """The calls for which the next step waits, of branches in their order."""

    def called_thread(self, call: RecordedCall) -> "RecordedThread | None":
        """The thread of a call of this thread; None if it is deleted or cannot be read."""

    @property
    def pending(self) -> Sequence[RecordedStep]:
        """The attempts at the next step that have failed so far, oldest first."""

    def events(self) -> Sequence[RecordedEvent]:
        """The events of the thread that are not steps, in their order."""
