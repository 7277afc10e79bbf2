"""The agent: each call opens a session, a workspace and tools, and runs the loop."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from uwf_agent_builtin import __version__, prompts
from uwf_agent_builtin.budget import Budget
from uwf_agent_builtin.loop import Loop, ModelClient, Setting
from uwf_agent_builtin.options import BuiltinOptions
from uwf_agent_builtin.protection import Protection, obeyed_in, own_folders
from uwf_agent_builtin.redaction import cleaned, secrets_of
from uwf_agent_builtin.report import Reporter
from uwf_agent_builtin.schemas import flat_text
from uwf_agent_builtin.sessions.permission import Permission
from uwf_agent_builtin.sessions.transcript import Sessions, Transcript
from uwf_agent_builtin.tools.record import CallContext, ServerTools
from uwf_agent_builtin.tools.registry import READING, Registry
from uwf_agent_builtin.workspace import Workspace
from uwf_core.api import (
    AgentContext,
    AgentFailure,
    AgentReply,
    AgentRequest,
    AskRequest,
    Model,
    Redactor,
    TurnSink,
    Unavailable,
    require_model,
)
from uwf_llm.chat import Message
from uwf_llm.client import ChatClient
from uwf_llm.limits import ChatLimits, RetryPolicy

_ASK_TURNS = 10


class _Task(NamedTuple):
    """The task of a call: its message, its schema (None: a plain answer), the tools it may use."""

    text: str
    schema: Mapping[str, Any] | None
    narrowed: Sequence[str] | None
    options: BuiltinOptions


class BuiltinAgent:
    """A ReAct agent on the model of the call.

    Args:
        options: see `BuiltinOptions`.
        context: `state_dir` keeps the sessions; `tools` are added to the built-in ones.
    """

    def __init__(self, options: BuiltinOptions | None, context: AgentContext) -> None:
        self._options = options or BuiltinOptions()
        self._context = context
        self._sessions = Sessions(context.state_dir)
        self._client: ChatClient | None = None
        self._made_for: tuple[Model, ChatLimits, RetryPolicy] | None = None

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """Work until there is a deliverable: a text with frontmatter, or the typed object.

        Raises:
            AgentFailure: by kind; the session's id is in it.
        """
        options = self._options_of(request.options)
        task = _Task(request.prompt, request.schema or None, request.tools, options)
        return self._converse(request, task, sink)

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str:
        """A copy of the session under a new id, up to the mark `at`.

        Raises:
            SessionLost: the session or the mark does not exist.
        """
        return self._sessions.fork(session, at)

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Answer from the session, or from the record alone; with those of the role's tools that
        read, no others.

        Raises:
            AgentFailure: as `run`.
        """
        given = self._options_of(request.options)
        options = replace(given, max_turns=min(_ASK_TURNS, given.max_turns))
        text = request.question
        if request.session is None and request.record:
            text = f"{request.record}\n\n# Question\n\n{text}"
        reading = (tool.name for tool in READING)
        narrowed = tuple(x for x in reading if request.tools is None or x in request.tools)
        return self._converse(request, _Task(text, None, narrowed, options), sink)

    def close(self) -> None:
        """Close the connections to the model."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _options_of(self, given: Any) -> BuiltinOptions:
        return given if isinstance(given, BuiltinOptions) else self._options

    def _converse(
        self, request: AgentRequest | AskRequest, task: _Task, sink: TurnSink
    ) -> AgentReply:
        client = self.client_of(request, task.options)
        transcript = self._transcript(request)
        sink.session(transcript.id)
        try:
            with (
                self._workspace(request, task.options) as workspace,
                _servers(request, task) as servers,
            ):
                opened = client, transcript, workspace, servers
                setting = self._setting(request, task, sink, opened)
                self._begin(setting, task)
                delivered = Loop(setting).run()
                return _whole(delivered, request, setting, servers.record)
        except AgentFailure as failure:
            failure.session = failure.session or transcript.id
            raise
        finally:
            transcript.close()

    @contextmanager
    def _workspace(
        self, request: AgentRequest | AskRequest, options: BuiltinOptions
    ) -> Iterator[Workspace]:
        own = (self._context.state_dir, request.env.get("UWF_HOME") or self._context.state_dir)
        try:
            may_write_all = request.role in options.allow_protected
            protection = Protection(
                options.deny,
                options.allow_write,
                own_folders(request.cwd, own),
                None if may_write_all else obeyed_in(request.cwd, own),
            )
            workspace = Workspace(request.cwd, protection)
        except OSError as fault:
            raise Unavailable(f"cannot open the folder {request.cwd}: {fault.strerror}") from fault
        try:
            yield workspace
        finally:
            workspace.close()

    def _setting(
        self,
        request: AgentRequest | AskRequest,
        task: _Task,
        sink: TurnSink,
        opened: tuple[ModelClient, Transcript, Workspace, ServerTools],
    ) -> Setting:
        client, transcript, workspace, servers = opened
        budget = Budget(task.options, request.limits.seconds)
        call = replace(request, env=cleaned(request.env))
        registry = Registry(task.options, self._context.tools(), task.narrowed, servers.tools)
        registry.problems += servers.problems
        key = None if request.model is None else request.model.api_key
        context = CallContext(
            workspace=workspace,
            call=call,
            options=task.options,
            seconds_left=budget.seconds_left,
            permission=Permission(transcript, request.step_number, _answer(request)),
        )
        return Setting(
            client=client,
            transcript=transcript,
            registry=registry,
            context=_sandbox(context, registry, request.env),
            budget=budget,
            report=Reporter(sink),
            redactor=Redactor(secrets_of(request.env, key)),
            options=task.options,
            schema=task.schema,
            then=request.parts.instruction if isinstance(request, AgentRequest) else "",
        )

    def _begin(self, setting: Setting, task: _Task) -> None:
        """Report the active protection and add the task to the session."""
        names, transcript = setting.registry.names, setting.transcript
        foreign = setting.registry.foreign
        setting.report.note(prompts.protection_note(setting.context, names, foreign))
        for problem in setting.registry.problems:
            setting.report.note(problem)
        if transcript.pending:
            return  # the model waits for the results of these calls
        if not transcript.messages:
            output = None if task.schema is None else flat_text(task.schema)
            text = prompts.system_text(names, output)
            transcript.add(Message(role="system", text=text))
        transcript.add(Message(role="user", text=setting.redactor.text(task.text)))

    def _transcript(self, request: AgentRequest | AskRequest) -> Transcript:
        if request.session is None:
            return self._sessions.new()
        return self._sessions.open(request.session, keep_pending=_answer(request) is not None)

    def client_of(self, request: AgentRequest | AskRequest, options: BuiltinOptions) -> ModelClient:
        """The client of the request's model; the demo replaces it."""
        limits = ChatLimits(
            idle_seconds=request.limits.idle_seconds,
            total_seconds=request.limits.seconds,
            reply_bytes=request.limits.reply_bytes,
        )
        wanted = (require_model(request.model), limits, RetryPolicy(attempts=options.max_attempts))
        if self._client is None or self._made_for != wanted:
            self.close()
            self._client = ChatClient(wanted[0], limits=limits, retry=wanted[2])
            self._made_for = wanted
        return self._client


@contextmanager
def _servers(request: AgentRequest | AskRequest, task: _Task) -> Iterator[ServerTools]:
    """The tools of the servers that the role may use."""
    if not task.options.mcp:
        yield ServerTools()
        return
    from uwf_agent_builtin.mcp.servers import open_servers  # only where there are servers

    with open_servers(task.options.mcp, request, task.narrowed) as found:
        yield found


def _answer(request: AgentRequest | AskRequest) -> Mapping[str, Any] | None:
    return request.answer if isinstance(request, AgentRequest) else None


def _sandbox(context: CallContext, registry: Registry, env: Mapping[str, str]) -> CallContext:
    """The context with the sandbox of its commands, tried out, if they need one.

    Raises:
        Unavailable: it does not work here.
    """
    options = context.options
    if "run_command" not in registry.names or options.allow_shell != "sandbox":
        return context
    from uwf_agent_builtin.tools.sandbox import probe, sandbox_of  # only where it is chosen

    found = sandbox_of(context.workspace.root, env, options.sandbox_reads)
    probe(context.call, found)
    return replace(context, sandbox=found)


def _whole(
    delivered: AgentReply, request: AgentRequest | AskRequest, setting: Setting, tools: str | None
) -> AgentReply:
    transcript, continued = setting.transcript, request.session is not None
    return replace(
        delivered,
        session=transcript.id,
        continuation="continued" if continued else "new",
        proof=f"its transcript held {transcript.earlier} messages" if continued else None,
        usage=setting.budget.usage(),
        model=delivered.model or setting.client.model.name,
        agent_version=__version__,
        mark=str(transcript.lines),
        tool_list=tools,
    )
