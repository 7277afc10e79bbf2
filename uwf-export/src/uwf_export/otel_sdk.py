"""Events of observers -> spans of the OpenTelemetry SDK. Only the thread of `otel` imports it."""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from uwf_core import __version__
from uwf_core.api.agent import ToolCall, Turn, usage_payload
from uwf_core.api.events import StepFailed, StepFinished, StepStarted, ThreadEnded, TurnTaken
from uwf_core.ids import ThreadId
from uwf_export.spans import (
    SCHEMA_URL,
    Attributes,
    SpanRecord,
    agent_attributes,
    program_attributes,
    span_id,
    tool_spans,
    trace_id,
    usage_attributes,
    workflow_attributes,
)

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_SECONDS = 3.0
"""For one request with its repetitions, if the environment sets no other time."""


class Exporting:
    """Makes spans of events in their order, and sends them."""

    def __init__(self) -> None:
        # The SDK logs each failed request; the observer reports the first one instead.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        logging.getLogger("opentelemetry").propagate = False
        own = [f"OTEL_EXPORTER_OTLP_{each}TIMEOUT" for each in ("TRACES_", "")]
        named = any(os.environ.get(each) for each in own)
        self._exporter = OTLPSpanExporter(timeout=None if named else _SECONDS)
        self._resource = Resource.create({"service.name": "uwf", "service.version": __version__})
        self._scope = InstrumentationScope("uwf", __version__, SCHEMA_URL)
        content = os.environ.get(_CONTENT, "").lower()
        self._content = content in ("true", "span_only", "span_and_event")
        self._open: dict[tuple[str, int], _Attempt] = {}
        self._begun: dict[str, StepStarted] = {}

    def send(self, events: Sequence[object]) -> str | None:
        """Send the spans that end with these events; what went wrong, if anything did."""
        spans = [span for event in events for span in self._spans(event)]
        if not spans or self._exporter.export(spans) is SpanExportResult.SUCCESS:
            return None
        return f"{len(spans)} spans could not be sent to {self._exporter._endpoint}"

    def _spans(self, event: object) -> Iterator[ReadableSpan]:
        if isinstance(event, StepStarted):
            self._open[event.thread, event.number] = _Attempt(event)
            self._begun.setdefault(event.thread, event)
        elif isinstance(event, TurnTaken):
            if attempt := self._open.get((event.thread, event.number)):
                attempt.turns[event.turn.index] = event.turn
        elif isinstance(event, StepFinished | StepFailed):
            attempt = self._open.pop((event.thread, event.number), None)
            if attempt is not None and event.agent != "workflow" and event.step is not None:
                yield from self._step(attempt, event, event.step)
        elif isinstance(event, ThreadEnded):
            yield self._thread(event, self._begun.pop(event.thread, None))

    def _step(
        self, attempt: "_Attempt", event: StepFinished | StepFailed, step: str
    ) -> Iterator[ReadableSpan]:
        begun, own = attempt.begun, span_id(step)
        callers = _callers(begun, event.thread)
        name, attributes = _kind(event)
        attributes |= {"uwf.step": step, "uwf.step.number": event.number, "uwf.role": event.role}
        failed, text = None, ""
        if isinstance(event, StepFailed):
            failed, text = event.kind, event.message if self._content else ""
        else:
            attributes |= {"uwf.output.status": event.output.get("$status")}
            attributes |= usage_attributes(usage_payload(event.usage))
            if self._content:
                output = json.dumps(event.output, ensure_ascii=False)
                parts = [{"type": "text", "content": output}]
                message = {"role": "assistant", "parts": parts, "finish_reason": "stop"}
                attributes["gen_ai.output.messages"] = json.dumps([message], ensure_ascii=False)
        parent, times = span_id(callers[-1]), (begun.at_ms, event.at_ms)
        span = SpanRecord(own, parent, name, *times, attributes, failed, text)
        yield self._readable(callers[0], span)
        turns = ((turn.index, [*map(_call, turn.tool_calls)]) for turn in attempt.turns.values())
        for span in tool_spans(step, turns, (own, *times), content=self._content):
            yield self._readable(callers[0], span)

    def _thread(self, event: ThreadEnded, begun: StepStarted | None) -> ReadableSpan:
        callers = _callers(begun, event.thread)
        parent = span_id(callers[-2]) if len(callers) > 1 else None
        start = ThreadId(event.thread).created_ms
        if parent is not None and begun is not None:
            start = begun.at_ms
        attributes = workflow_attributes(event.thread, event.workflow_name)
        attributes |= {"uwf.workflow": event.workflow, "uwf.thread.status": event.status}
        name = f"invoke_workflow {event.workflow_name}"
        span = SpanRecord(span_id(callers[-1]), parent, name, start, event.at_ms, attributes)
        return self._readable(callers[0], span)

    def _readable(self, root: str, span: SpanRecord) -> ReadableSpan:
        attributes = {name: value for name, value in span.attributes.items() if value is not None}
        status = Status(StatusCode.UNSET)
        if span.error is not None:
            attributes["error.type"] = span.error
            status = Status(StatusCode.ERROR, span.message or None)
        trace = int(trace_id(root), 16)
        return ReadableSpan(
            name=span.name,
            context=_context(trace, span.id),
            parent=None if span.parent is None else _context(trace, span.parent),
            resource=self._resource,
            attributes=attributes,
            kind=SpanKind.INTERNAL,
            status=status,
            start_time=span.start_ms * 1_000_000,
            end_time=span.end_ms * 1_000_000,
            instrumentation_scope=self._scope,
        )


class _Attempt:
    """An attempt that runs, and its turns by their index."""

    def __init__(self, begun: StepStarted) -> None:
        self.begun = begun
        self.turns: dict[int, Turn] = {}


def _callers(begun: StepStarted | None, thread: str) -> tuple[str, ...]:
    """The root thread and the calls below it, down to this thread."""
    return (begun and begun.callers) or (thread,)


def _kind(event: StepFinished | StepFailed) -> tuple[str, Attributes]:
    if event.agent == "program":
        return f"execute_tool {event.role}", program_attributes(event.role)
    return f"invoke_agent {event.role}", agent_attributes(event.role, event.agent)


def _call(call: ToolCall) -> Mapping[str, Any]:
    """A use of a tool, as a recorded turn has it."""
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "result": call.result,
        "isError": call.is_error,
        "startedAtMs": call.started_ms,
        "endedAtMs": call.ended_ms,
    }


def _context(trace: int, span: str) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(trace, int(span, 16), is_remote=False, trace_flags=flags)
