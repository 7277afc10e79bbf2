"""The agent: calls of the contract become runs of the program."""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

from uwf_agent_claude_code.arguments import READING, command_line, narrowed
from uwf_agent_claude_code.environment import (
    TEMPORARY,
    bypass_problem,
    environment,
    temporary_folder,
)
from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_agent_claude_code.placeholder import start_problem
from uwf_agent_claude_code.project_text import has_settings, with_project_text
from uwf_agent_claude_code.reply import WHO, Run, reply_of, used
from uwf_agent_claude_code.schemas import wrapped
from uwf_agent_claude_code.sessions import Plan, Sessions
from uwf_agent_claude_code.stream import Stream
from uwf_agent_claude_code.transcripts import config_folder
from uwf_core.api import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AskRequest,
    ChildProgram,
    ProgramResult,
    TurnSink,
    Unavailable,
)

_LINES_PER_REPLY = 6
"""How much it may print for one answer: each text and each result of a tool comes twice."""
_AFTER_RESULT_SECONDS = 5.0
"""It ends within this after a reply, or continues after a result that is none."""
_NO_SCHEMA = "unknown option '--json-schema'"


class _Task(NamedTuple):
    """What a run is for: its prompt, its schema (None: text), the only tools (None: all)."""

    prompt: str
    schema: Mapping[str, Any] | None
    tools: Sequence[str] | None


class ClaudeCodeAgent:
    """Claude Code, a run of the program for each call.

    Args:
        options: see `ClaudeCodeOptions`.
        context: `state_dir` keeps what forks come from, and temporary files of the program.
    """

    def __init__(self, options: ClaudeCodeOptions | None, context: AgentContext) -> None:
        self._options = options or ClaudeCodeOptions()
        self._state = Path(context.state_dir)

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """A run in a new session or in `request.session`.

        Raises:
            AgentFailure: by kind; the session's id is in it.
        """
        options = self._options_of(request)
        schema = wrapped(request.schema) if options.structured and request.schema else None
        return self._converse(request, _Task(request.prompt, schema, narrowed(request.tools)), sink)

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str:
        """The id of a new session that will know what `session` knows, or knew at the mark `at`,
        once it is spoken in.

        Raises:
            SessionLost: there is no record of `session`, or of the mark.
        """
        env = environment(self._options_of(request), request.env)
        self._make_folder()
        return Sessions(self._state, config_folder(env)).fork(session, at)

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Answer in the session, or from the record alone, with those of the role's tools that
        read, and no others.

        Raises:
            AgentFailure: as `run`.
        """
        text = request.question
        if request.session is None and request.record:
            text = f"{request.record}\n\n# Question\n\n{text}"
        own = narrowed(request.tools)
        tools = tuple(each for each in READING if own is None or each in own)
        return self._converse(request, _Task(text, None, tools), sink)

    def close(self) -> None:
        """Nothing is kept open."""

    def _make_folder(self) -> None:
        """The agent's own folder, for its owner alone."""
        self._state.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _options_of(self, call: AgentRequest | AskRequest) -> ClaudeCodeOptions:
        given = call.options
        return given if isinstance(given, ClaudeCodeOptions) else self._options

    def _converse(self, call: AgentRequest | AskRequest, task: _Task, sink: TurnSink) -> AgentReply:
        options = self._options_of(call)
        env = environment(options, call.env)
        problem = bypass_problem(options, env)
        if problem is not None:
            raise problem
        folder = config_folder(env)
        sessions = Sessions(self._state, folder)
        plan = sessions.plan(call.session)
        self._make_folder()
        sink.session(plan.session)  # before anything runs, so that a crash leaves a handle
        limits = replace(call.limits, reply_bytes=call.limits.reply_bytes * _LINES_PER_REPLY)
        with temporary_folder(self._state, env) as temporary:
            env = {TEMPORARY: str(temporary), **env}
            run = _run(replace(call, env=env, limits=limits), options, plan, task, sink)
        usage = used(run, plan)
        sink.usage(usage)
        reply = reply_of(run, plan, usage, folder, is_typed=task.schema is not None)
        sessions.made(plan)
        return reply


def _run(
    call: AgentRequest | AskRequest,
    options: ClaudeCodeOptions,
    plan: Plan,
    task: _Task,
    sink: TurnSink,
) -> Run:
    """Run the program to its end; once more without a schema where it is too old for one."""
    stream = Stream(plan, sink, task.tools)
    argv = command_line(options, plan.arguments(), task.tools, task.schema, trusted=call.trusted)
    prompt = task.prompt
    if not call.trusted:
        if plan.resumes is None:
            prompt = with_project_text(prompt, call.cwd)
        if has_settings(call.cwd):
            stream.turns.note(
                f"{call.cwd} is not trusted, so its settings, hooks and servers are "
                f"not used; if you trust what is there: uwf config trust {call.cwd}"
            )
    try:
        child = call.start_program(argv, stdin=_stdin(prompt), first_signal=signal.SIGINT)
    except Unavailable as failure:
        raise start_problem(options.command, call.env.get("PATH")) or failure from failure
    ended = _follow(child, stream)
    if task.schema is not None and stream.init is None and _NO_SCHEMA in _words(ended):
        stream.turns.note(f"this version of {WHO} takes no schema; its text is read")
        return _run(call, options, plan, task._replace(schema=None), sink)
    return Run(stream, ended)


def _follow(child: ChildProgram, stream: Stream) -> ProgramResult:
    """Read the output to its end; a program that stays after its result is stopped."""
    timers = list[Timer]()

    def feed(data: bytes) -> None:
        was_received = stream.is_received
        stream.feed(data)
        if was_received:
            return  # what comes now gives it no more time
        while timers:
            timers.pop().cancel()
        if stream.result is not None:
            timers.append(Timer(_AFTER_RESULT_SECONDS, child.stop))
            timers[0].daemon = True
            timers[0].start()

    try:
        return child.run(feed)
    finally:
        for timer in timers:
            timer.cancel()


def _stdin(prompt: str) -> bytes:
    """The prompt; one that begins with a slash would be taken for a command of the program."""
    text = f"\n{prompt}" if prompt.startswith("/") else prompt
    return text.encode("utf-8", "replace")


def _words(ended: ProgramResult) -> str:
    return ended.stderr.decode("utf-8", "replace")
