"""The loop: ask the model, run its tool calls, and repeat until it delivers."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from uwf_agent_builtin import prompts
from uwf_agent_builtin.budget import Budget
from uwf_agent_builtin.options import BuiltinOptions
from uwf_agent_builtin.rejection import may_be_images, suspects, without_images
from uwf_agent_builtin.report import Reporter
from uwf_agent_builtin.schemas import (
    flat,
    flat_text,
    has_frontmatter,
    is_deep,
    object_in,
    output_problems,
    without_foreign_keys,
)
from uwf_agent_builtin.sessions.transcript import Transcript
from uwf_agent_builtin.tools.record import CallContext
from uwf_agent_builtin.tools.registry import RESOLVE, Answered, Registry
from uwf_agent_builtin.window import (
    Gauge,
    Size,
    has_room,
    images_to_leave_out,
    size_of_tools,
    to_leave_out,
    to_summarize,
)
from uwf_core.api import (
    AgentFailure,
    AgentInterrupted,
    AgentReply,
    Cancel,
    ContextTooLong,
    EmptyReply,
    Model,
    Redactor,
    ToolCall,
    Truncated,
)
from uwf_llm.arguments import ToolArgumentsError, parse_arguments
from uwf_llm.chat import ChatReply, ChatRequest, ChatTool, Delta, Message

MAX_NUDGES = 2
MAX_BAD_DELIVERIES = 4
_OVERFULL = 0.6


class ModelClient(Protocol):
    """The model of the loop: a `ChatClient`, or the demo's script."""

    @property
    def model(self) -> Model:
        """The model that answers."""
        ...

    def chat(
        self,
        request: ChatRequest,
        *,
        on_delta: Callable[[Delta], None] | None,
        cancel: Cancel,
        seconds: float,
    ) -> ChatReply:
        """As `ChatClient.chat`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The parts of a loop. `schema` None: a plain answer. `then`: what the model gets after the
    calls that waited for a person, if there are any.
    """

    client: ModelClient
    transcript: Transcript
    registry: Registry
    context: CallContext
    budget: Budget
    report: Reporter
    redactor: Redactor
    options: BuiltinOptions
    schema: Mapping[str, Any] | None
    then: str = ""


class Loop:
    """One running call of the agent."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._gauge = Gauge()
        self._tools = setting.registry.offered()
        self._nudge = prompts.NUDGE if self._tools else prompts.NUDGE_WITHOUT_TOOLS
        self._output: Mapping[str, Any] | None = None  # of a text, for a model without tools
        if setting.schema is not None:
            if self._tools:
                self._tools += (_resolve_tool(setting.schema),)
            else:
                self._output = flat_text(setting.schema)
        self._size_of_tools = size_of_tools(self._tools)
        self._delivered: Mapping[str, Any] | None = None
        self._bad_deliveries = 0
        self._denials: dict[str, None] = {}

    def run(self) -> AgentReply:
        """Run until there is a delivery.

        Raises:
            AgentFailure: a limit is reached, or the model's service fails.
            NeedsAnswer: a person must decide about a command.
        """
        waited = self._use_pending()
        if waited is not None:
            return waited
        nudges = 0
        while True:
            self._setting.budget.check()
            self._warn()
            reply = self._reply(may_be_empty=nudges < MAX_NUDGES)
            if reply is not None and reply.tool_calls:
                self._use_tools(reply)
                if self._delivered is not None:
                    return self._delivery(reply, None)
                nudges = 0
                continue
            missing = self._nudge if reply is None else self._missing(reply)
            if missing is None or (reply is not None and nudges >= MAX_NUDGES):
                assert reply is not None
                return self._end(reply, missing)
            nudges += 1
            self._say(missing)

    def _use_pending(self) -> AgentReply | None:
        """Run the calls that waited for a person; the delivery, if one of them is that."""
        setting = self._setting
        if not setting.transcript.pending:
            return None
        waited = ChatReply(tool_calls=tuple(setting.transcript.pending))
        setting.report.reply(waited, setting.budget.usage())
        self._use_tools(waited)
        if self._delivered is not None:
            return self._delivery(waited, None)
        setting.transcript.add(Message(role="user", text=setting.redactor.text(setting.then)))
        return None

    def _end(self, reply: ChatReply, missing: str | None) -> AgentReply:
        if missing == prompts.CUT:
            raise Truncated(
                "the model's reply was cut at its largest length several times",
                hint="raise the option maxOutputTokens, or the service's own limit",
            )
        if missing is not None and self._output is not None:
            fields = object_in(reply.text)
            if fields is not None and not is_deep(fields):
                self._delivered = fields  # the engine reports what is wrong with it
        return self._delivery(reply, reply.text)

    def _delivery(self, reply: ChatReply, text: str | None) -> AgentReply:
        return AgentReply(
            text=text if self._delivered is None else None,
            structured=self._delivered,
            model=reply.model,
            stop_reason=reply.stop_reason,
            denials=tuple(self._denials),
        )

    def _missing(self, reply: ChatReply) -> str | None:
        """The message to the model if its text is not a deliverable; None if it is."""
        if reply.stop_reason == "length":
            return prompts.CUT
        schema = self._setting.schema
        if schema is None or has_frontmatter(reply.text):
            return None
        fields = object_in(reply.text)
        if fields is None or (self._tools and output_problems(schema, fields)):
            return self._nudge
        if self._tools:
            return None  # the extractor reads it, as other agents' objects
        answered = self._resolve(schema, fields)
        return answered.text if answered.is_error else None

    def _say(self, text: str) -> None:
        self._setting.transcript.add(Message(role="user", text=text))
        self._setting.report.note(text)

    def _warn(self) -> None:
        near = self._setting.budget.warning()
        if near is not None:
            self._say(prompts.warning(near))

    def _reply(self, *, may_be_empty: bool) -> ChatReply | None:
        """Ask the model; None if its reply is empty."""
        setting = self._setting
        self._fit_images()
        self._fit(setting.options.context_tokens)
        self._summarize(setting.options.context_tokens)
        try:
            reply = self._ask()
        except ContextTooLong:
            room = round(self._gauge.tokens(self._prompt_size()) * _OVERFULL)
            if not self._fit(room):
                raise
            reply = self._ask()
        except EmptyReply:
            setting.budget.turns += 1
            if not may_be_empty:
                raise
            return None
        setting.budget.spend(reply.usage)
        reply = replace(reply, tool_calls=setting.transcript.own_ids(reply.tool_calls))
        setting.transcript.add(reply.message)
        setting.report.reply(reply, setting.budget.usage())
        return reply

    def _ask(self) -> ChatReply:
        try:
            return self._ask_with(self._setting.transcript.messages)
        except AgentFailure as failure:
            reply = self._ask_without_images(failure)
            if reply is None:
                raise
            return reply

    def _ask_without_images(self, failure: AgentFailure) -> ChatReply | None:
        """Ask again without the new images, then without any; None if that does not help, or there
        are none. An image that a service cannot take would be sent, and fail, each time.
        """
        if not may_be_images(failure):
            return None
        setting = self._setting
        text = prompts.rejected(setting.redactor.text(failure.message))
        for ids in suspects(setting.transcript.messages):
            setting.report.delta(Delta(kind="again"))
            try:
                reply = self._ask_with(without_images(setting.transcript.messages, ids, text))
            except AgentFailure as again:
                if may_be_images(again):
                    continue
                raise
            setting.transcript.reject_images(ids, text)
            setting.report.note(f"images that are not sent from here on: {len(ids)}. {text}")
            return reply
        return None

    def _ask_with(self, messages: Sequence[Message]) -> ChatReply:
        setting = self._setting
        on_delta = setting.report.delta if setting.options.stream else None
        reply = self._chat(messages, on_delta, self._output)
        used = reply.usage
        parts = (used.input_tokens, used.cache_read_tokens or 0, used.cache_write_tokens or 0)
        if used.input_tokens is not None:
            self._gauge.learn(self._prompt_size(), sum(each or 0 for each in parts))
        return reply

    def _chat(
        self,
        messages: Sequence[Message],
        on_delta: Callable[[Delta], None] | None = None,
        output: Mapping[str, Any] | None = None,
    ) -> ChatReply:
        setting, options = self._setting, self._setting.options
        request = ChatRequest(
            messages=tuple(messages),
            tools=self._tools,
            schema=output,
            max_tokens=options.max_output_tokens,
            temperature=options.temperature,
        )
        return setting.client.chat(
            request,
            on_delta=on_delta,
            cancel=setting.context.call.cancel,
            seconds=max(0.1, setting.budget.seconds_left()),
        )

    def _summarize(self, limit_tokens: int) -> None:
        """Replace earlier work by a summary of the model, if it does not fit and that helps."""
        setting, transcript = self._setting, self._setting.transcript
        messages = transcript.messages
        end = to_summarize(messages, self._prompt_size(), self._gauge, limit_tokens)
        if not end:
            return
        try:
            request = [*messages[:end], Message(role="user", text=prompts.SUMMARIZE)]
            reply = self._chat(request)
        except (ContextTooLong, EmptyReply):
            return  # the service decides whether the whole fits
        setting.budget.spend(reply.usage)
        text = setting.redactor.text(reply.text.strip())
        if text:
            transcript.summarize(end, text)
            setting.report.note(
                f"the model's window is nearly full: from here on this summary replaces the work "
                f"of {end} messages:\n\n{text}"
            )

    def _prompt_size(self) -> Size:
        return self._setting.transcript.size.plus(self._size_of_tools)

    def _fit_images(self) -> None:
        """Leave out old images if there are more than a request can have."""
        ids = images_to_leave_out(self._setting.transcript.messages)
        if ids:
            self._setting.transcript.leave_out(ids)
            self._setting.report.note(f"{len(ids)} earlier images are left out from here on")

    def _fit(self, limit_tokens: int) -> bool:
        """Leave out old results until it fits; whether there was any."""
        transcript = self._setting.transcript
        prompt = self._prompt_size()
        ids = to_leave_out(transcript.messages, prompt, self._gauge, limit_tokens)
        if ids:
            transcript.leave_out(ids)
            self._setting.report.note(
                f"the results of {len(ids)} earlier tool calls are left out from here on, to stay "
                f"within {limit_tokens} tokens"
            )
        return bool(ids)

    def _use_tools(self, reply: ChatReply) -> None:
        """Run the tool calls of a reply in their order, none after a delivery."""
        setting = self._setting
        for call in reply.tool_calls:
            if setting.context.call.cancel.is_set():
                raise AgentInterrupted(f"cancelled: {setting.context.call.cancel.reason}")
            started = _now_ms()
            cut = reply.stop_reason == "length" and call is reply.tool_calls[-1]
            answered = Answered(prompts.CUT_CALL, True) if cut else self._answer(call)
            answered = self._with_room(answered)
            text = setting.redactor.text(answered.text)
            is_error, image = answered.is_error, answered.image
            setting.transcript.answer(call.id, text, is_error=is_error, image=image)
            if answered.denied is not None:
                self._denials[answered.denied] = None
            setting.report.result(
                replace(
                    call,
                    result=text,
                    is_error=answered.is_error,
                    started_ms=started,
                    ended_ms=_now_ms(),
                )
            )

    def _with_room(self, answered: Answered) -> Answered:
        """The answer, without an image for which there is no room, or which holds a secret."""
        if answered.image is None:
            return answered
        if not has_room(self._setting.transcript.messages, answered.image):
            return Answered(prompts.TOO_MANY_IMAGES, True)
        bytes_as_text = answered.image.data.decode("latin-1")
        if self._setting.redactor.text(bytes_as_text) != bytes_as_text:
            return Answered(prompts.SECRET_IMAGE, True)
        return answered

    def _answer(self, call: ToolCall) -> Answered:
        if self._delivered is not None:
            return Answered(prompts.NOT_RUN, True)
        if self._setting.budget.seconds_left() <= 0:
            return Answered("[not done: the time limit is reached]", True)
        try:
            arguments = parse_arguments(call)
        except ToolArgumentsError as fault:
            return Answered(str(fault), True)
        if call.name == RESOLVE and self._setting.schema is not None:
            return self._resolve(self._setting.schema, arguments)
        if self._setting.context.permission is not None:
            self._setting.context.permission.begin(call.id)
        return self._setting.registry.call(call.name, arguments, self._setting.context)

    def _resolve(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Answered:
        """Accept a valid delivery; after many invalid ones, the engine decides."""
        output = without_foreign_keys(schema, arguments)
        wrong = output_problems(schema, output)
        if wrong and (self._bad_deliveries < MAX_BAD_DELIVERIES or is_deep(output)):
            self._bad_deliveries += 1
            return Answered("not delivered, because of these errors:\n" + "\n".join(wrong), True)
        self._delivered = output
        return Answered(prompts.ACCEPTED)


def _resolve_tool(schema: Mapping[str, Any]) -> ChatTool:
    return ChatTool(name=RESOLVE, description=prompts.RESOLVE_DESCRIPTION, parameters=flat(schema))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
