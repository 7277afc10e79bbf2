"""What a run carries from step to step, and what an attempt has gathered when it ends."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.agents.choose import (
    AgentPreferences,
    Choice,
    choose_agent,
    recorded_agent,
    resolve_agent,
)
from uwf_core.agents.open import OpenAgent, check_options, open_agent
from uwf_core.agents.supervise import close_call
from uwf_core.api.agent import AgentContext
from uwf_core.api.events import StepStarted, ThreadStarted, TurnTaken
from uwf_core.api.store import Variable
from uwf_core.engine.attempt import Attempt, Given, begin, withdraw
from uwf_core.engine.imported import check_choice
from uwf_core.engine.plan import moderate
from uwf_core.engine.progress import Place, Progress
from uwf_core.engine.record import Told
from uwf_core.engine.run_file import forget_run
from uwf_core.engine.tools import plugin_tools
from uwf_core.errors import (
    AgentFailure,
    AgentInterrupted,
    AgentStuck,
    InternalFailure,
    TimedOut,
)
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.plugins.load_guards import interruptible
from uwf_core.plugins.scan import AGENTS
from uwf_core.process.private import make_folder

if TYPE_CHECKING:
    from uwf_core.agents.choose import AgentCatalog
    from uwf_core.api.agent import Turn
    from uwf_core.engine.converse import Conversation
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.plan import Intent, Task
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel
    from uwf_core.thread.head import Head
    from uwf_core.workflow.definition import Definition


class Run(NamedTuple):
    """One command's run over one thread, whose lock it holds.

    `agent` is the word of `--agent`, `cwd` the folder of `--cwd`; None if they were not given.
    """

    engine: "Engine"
    definition: "Definition"
    watch: "Watch"
    cancel: "Cancel"
    agent: str | None = None
    cwd: str | None = None

    def folder(self, head: "Head") -> str:
        """The thread's folder in this run."""
        return head.state.cwd if self.cwd is None else self.cwd

    def moderate(self, head: "Head", intent: "Intent") -> "Task":
        """Stage 5: what is to be run from `head`; errors as `uwf_core.engine.plan.moderate`."""
        allowed = self.engine.settings.allowed_folders
        return moderate(self.engine.store, self.definition, head, intent, allowed, self.cwd)

    def choose_agent(self, head: "Head", task: "Task") -> Choice:
        """The agent for a task: by the usual order; a poked step keeps the agent it had, and an
        answer goes to the agent that asked.

        Raises:
            UsageError: there is no such agent, or its plugin may not be used.
        """
        catalog = self.engine.agent_catalog(self.folder(head))
        if task.agent is not None and task.answer is not None:
            choice = self._asker(task.agent, task.alias, catalog)
        else:
            choice = self._usual(head, task.role, catalog)
            if task.agent not in (None, choice.name) and self.agent is None:
                choice = recorded_agent(task.agent, catalog)
        self.engine.check_plugin(choice.plugin)
        return check_choice(self.engine.store, head.state.start, choice)

    def _usual(self, head: "Head", role: str, catalog: "AgentCatalog") -> Choice:
        settings = self.engine.settings
        preferences = AgentPreferences(
            flag=self.agent,
            thread=head.state.agent,
            overrides=settings.agent_overrides,
            default=settings.default_agent,
        )
        choice = choose_agent(preferences, catalog, workflow=self.definition.name, role=role)
        return recordable(self.engine, choice)

    def _asker(self, agent: str, alias: str | None, catalog: "AgentCatalog") -> Choice:
        """The agent that asked, with the options of its alias where that still stands for it."""
        if alias is not None and alias in catalog.aliases:
            choice = recordable(self.engine, resolve_agent(alias, catalog))
            if choice.name == agent:
                return choice
        return recorded_agent(agent, catalog)


def recordable(engine: "Engine", choice: Choice) -> Choice:
    """A choice whose name may be stored: a command line may hold a secret."""
    name = engine.redactor.text(choice.name)
    return choice if name == choice.name else choice._replace(name=name)


@contextmanager
def opened_agent(engine: "Engine", choice: Choice) -> Iterator[OpenAgent]:
    """The agent, ready to be called; let go of at the end, however that comes.

    Raises:
        UsageError: it is blocked, incompatible or claimed twice.
        PluginBroken, AgentFailure: it cannot be made.
    """
    plugins = engine.plugins
    found = None if choice.plugin is None else plugins.found(AGENTS, choice.plugin)
    folder = _made_folder(folder_of_agent(engine.home, choice.word), engine.home)
    if found is not None and engine.agent_options:
        choice = choice._replace(options={**choice.options, **engine.agent_options})
    with nullcontext() if found is None else interruptible(found):
        agent = open_agent(
            choice,
            lambda name: plugins.record(AGENTS, name),
            AgentContext(name=choice.word, state_dir=folder, tools=lambda: plugin_tools(engine)),
            distribution=None if found is None else str(found),
            load_attribute=lambda name, path: plugins.attribute(AGENTS, name, path),
            guard=plugins.guard,
        )
    try:
        yield agent
    finally:
        failure = close_call(agent)
        if failure is not None:
            engine.report_fault(failure)


def check_agent(engine: "Engine", choice: Choice) -> None:
    """Refuse an agent whose options do not fit; that it cannot be loaded is told when it is run.

    Raises:
        ConfigError: the options do not fit.
    """
    plugins = engine.plugins
    with suppress(AgentFailure), plugins.guard:
        check_options(
            choice,
            lambda name: plugins.record(AGENTS, name),
            lambda name, path: plugins.attribute(AGENTS, name, path),
        )


def folder_of_agent(home: str, word: str) -> str:
    """Where an agent keeps what is its own, by the word it was chosen by."""
    return str(Path(home, "agents", _file_name(word)))


def _made_folder(folder: str, home: str) -> str:
    """The folder, made here, so that it is for its owner alone."""
    try:
        make_folder(folder)
    except OSError as error:
        raise InternalFailure(
            f"the agent's folder cannot be made: {error.strerror}",
            hint=f"make room, or make {home} writable",
        ) from error
    return folder


def _file_name(word: str) -> str:
    """A word as the name of a folder: what is not plain is replaced, and told apart by a hash."""
    if word.replace("-", "").replace("_", "").replace(".", "").isalnum() and word[0] != ".":
        return word
    from uwf_core.cas.codec import encode
    from uwf_core.cas.hashing import PRIMITIVES, ref_of

    return f"command-{ref_of(PRIMITIVES['string'], encode(word))}"


class Ending:
    """What an attempt has gathered so far, and when it ends. It begins with `begin`."""

    def __init__(self, run: Run, head: "Head", task: "Task", choice: Choice) -> None:
        self.run = run
        self.head = head
        self.task = task
        self.choice = choice
        self._attempt: Attempt | None = None
        self._progress: Progress | None = None
        self._conversation: Conversation | None = None
        self._told: Told | None = None

    def begin(self, given: Given | None = None) -> Attempt:
        """Store that the attempt begins, once, and tell it."""
        if self._attempt is None:
            engine = self.run.engine
            self._attempt = begin(engine, self.head, self.task, self.choice, given or Given())
            forget_run(engine.home, self.head.thread)
            announce(self.run, self._attempt)
        return self._attempt

    def withdraw(self) -> None:
        """The agent cannot be asked: the attempt has never been."""
        if self._attempt is not None:
            withdraw(self.run.engine, self.told().attempt)

    @property
    def progress(self) -> Progress:
        """The sink of this attempt."""
        if self._progress is None:
            engine, attempt = self.run.engine, self.begin()
            thread = ThreadId(attempt.payload["thread"])
            place = Place(engine.store, engine.nodes, engine.redactor, thread, attempt.name)
            self._progress = Progress(place, attempt.variable, self._tell_turn)
        return self._progress

    def listen(self, conversation: "Conversation") -> "Conversation":
        """Remember the conversation, so that what was said is kept even if it fails."""
        self._conversation = conversation
        return conversation

    def told(self) -> Told:
        """All that is catalog now that the attempt has ended. A second call gives the same.

        Raises:
            StoreError: the agent's progress could not be kept.
        """
        if self._told is None:
            attempt, turns, loose = self.begin(), list[Ref](), list[Variable]()
            if self._progress is not None:
                turns, loose, variable = self._progress.finish()
                attempt = attempt._replace(variable=variable)
            talk = None if self._conversation is None else self._conversation.talk
            self._told = Told(attempt, talk, turns, self.run.engine.now_ms(), loose)
        return self._told

    def why_stuck(self, stuck: AgentStuck) -> AgentFailure:
        """The failure that an agent which does not stop stands for."""
        if self.run.cancel.is_set():
            return AgentInterrupted(stuck.message)
        return TimedOut(stuck.message)

    def _tell_turn(self, turn: "Turn") -> None:
        payload = self.begin().payload
        self.run.watch.event(
            TurnTaken(
                thread=payload["thread"],
                number=payload["number"],
                role=payload["role"],
                turn=turn,
            )
        )


def announce(run: Run, attempt: Attempt) -> None:
    """Tell that an attempt begins, and with the first one that the thread does."""
    payload, state = attempt.payload, attempt.head.state
    if attempt.head.at_start and payload["attempt"] == 1:
        run.watch.event(
            ThreadStarted(
                thread=payload["thread"],
                workflow=state.workflow,
                workflow_name=state.workflow_name,
                cwd=run.folder(attempt.head),
                at_ms=payload["startedAtMs"],
            )
        )
    run.watch.event(
        StepStarted(
            thread=payload["thread"],
            number=payload["number"],
            attempt=payload["attempt"],
            role=payload["role"],
            agent=payload["agent"],
            at_ms=payload["startedAtMs"],
        )
    )
