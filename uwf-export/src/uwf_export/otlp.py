"""A thread as OpenTelemetry spans in OTLP's JSON: workflow, agent and tool spans.

A pure function of stored nodes: the same thread gives the same ids and bytes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.api import RecordedCall, RecordedStep, RecordedThread
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
from uwf_export.timeline import attempts_of

_FIELDS = ("output", "detail")
_INTERNAL, _ERROR = 1, 2


class OtlpExporter:
    """The spans, without texts that people, agents and tools wrote."""

    content = False

    def export(self, thread: RecordedThread) -> Iterator[str]:
        """One document of the type `TracesData`."""
        walk = _Walk(content=self.content)
        spans = list(walk.thread(thread, None, None))
        trace = trace_id(thread.id)
        scope = {"name": "uwf", "version": walk.version}
        rendered = [_span(trace, each) for each in sorted(spans, key=_order)]
        service = _attributes({"service.name": "uwf", "service.version": walk.version})
        scoped = {"scope": scope, "spans": rendered, "schemaUrl": SCHEMA_URL}
        resource = {"attributes": service}
        document = {"resource": resource, "scopeSpans": [scoped], "schemaUrl": SCHEMA_URL}
        yield json.dumps({"resourceSpans": [document]}, ensure_ascii=False) + "\n"


class OtlpContentExporter(OtlpExporter):
    """The spans with the prompts, replies, and the arguments and results of tools."""

    content = True


class _Walk:
    """The spans of a thread and of those below it.

    Attributes:
        version: of the engine that ran the newest step.
    """

    def __init__(self, *, content: bool) -> None:
        self._content = content
        self._shown: dict[str, int] = {}  # of a called thread, whose calls come in order
        self.version = "unknown"

    def thread(
        self, thread: RecordedThread, parent: str | None, call: RecordedCall | None, **own: Any
    ) -> Iterator[SpanRecord]:
        """A run of a workflow: the whole of it, or the part that one call made; `own` are further
        attributes.
        """
        span = span_id(thread.id if call is None else call.event or f"{thread.id} {call.end}")
        below = list(self._below(thread, call, span))
        first = min((each.start_ms for each in below), default=thread.started_ms)
        last = max((each.end_ms for each in below), default=first)
        attributes = {**workflow_attributes(thread.id, thread.workflow.name), **own}
        attributes["uwf.workflow"] = thread.workflow.ref
        if call is None:
            first = min(first, thread.started_ms)
            attributes["uwf.thread.status"] = thread.status
        name = f"invoke_workflow {thread.workflow.name}"
        yield SpanRecord(span, parent, name, first, last, attributes)
        yield from below

    def _below(
        self, thread: RecordedThread, call: RecordedCall | None, span: str
    ) -> Iterator[SpanRecord]:
        for step in self._part(thread, call):
            if step.node["agent"] == "workflow":
                about = _about(step)
                for each in step.calls:
                    yield from self._called(thread, each, span, about)
            elif step.node["agent"] is not None:  # the failed attempts have their spans
                yield from self._attempt(step, span)
        if call is None or call.end is None:
            for each in thread.open_calls:
                yield from self._called(thread, each, span, {})

    def _part(self, thread: RecordedThread, call: RecordedCall | None) -> Iterator[RecordedStep]:
        """The attempts of one call of a thread, those that earlier calls made left out."""
        if call is None:
            yield from attempts_of(thread, *_FIELDS)
            return
        seen = self._shown.get(thread.id, 0)
        for count, step in enumerate(attempts_of(thread, *_FIELDS), 1):
            if count > seen:
                self._shown[thread.id] = count
                yield step
            if step.ref == call.end:
                return

    def _attempt(self, step: RecordedStep, parent: str) -> Iterator[SpanRecord]:
        """An attempt of an agent, a person or a program, with the uses of tools below it."""
        node, own = step.node, span_id(step.ref)
        self.version = node["engineVersion"]
        name, attributes = self._kind(step)
        if self._content:
            attributes |= _messages(step)
        attributes |= _about(step) | usage_attributes(node["usage"])
        failure = step.failure
        text = failure["message"] if failure and self._content else ""
        times = node["startedAtMs"], node["completedAtMs"]
        yield SpanRecord(own, parent, name, *times, attributes, failure and failure["kind"], text)
        turns = ((turn.index, turn.tool_calls) for turn in step.turns)
        yield from tool_spans(step.ref, turns, (own, *times), content=self._content)

    def _kind(self, step: RecordedStep) -> tuple[str, Attributes]:
        """The name of the span of an attempt, and what kind of operation it is."""
        node = step.node
        if node["agent"] == "program":
            attributes = program_attributes(step.prompt)
            return f"execute_tool {attributes['gen_ai.tool.name']}", attributes
        session = node["session"]
        attributes = agent_attributes(step.role, node["agent"] or "", session and session["id"])
        models = {"gen_ai.request.model": node["model"], "gen_ai.response.model": node["model"]}
        attributes |= {**models, "gen_ai.agent.version": node["agentVersion"]}
        return f"invoke_agent {step.role}", attributes

    def _called(
        self, thread: RecordedThread, call: RecordedCall, parent: str, about: Attributes
    ) -> Iterator[SpanRecord]:
        below = thread.called_thread(call)
        if below is not None:
            named = {"uwf.role": call.role, "uwf.branch": call.key}
            yield from self.thread(below, parent, call, **{**about, **named})


def _about(step: RecordedStep) -> Attributes:
    node = step.node
    return {
        "uwf.step": step.ref,
        "uwf.step.number": step.number,
        "uwf.role": step.role,
        "uwf.purpose": node["attempt"]["purpose"],
        "uwf.output.status": step.status,
        "uwf.corrections": len(step.corrections) or None,
    }


def _messages(step: RecordedStep) -> Attributes:
    """What an agent got and replied, in the JSON of the conventions."""
    reply = [] if step.raw is None else [_message("assistant", step.raw)]
    if step.node["agent"] == "program":
        return {
            "gen_ai.tool.call.arguments": step.prompt,
            "gen_ai.tool.call.result": step.raw or "",
        }
    return {
        "gen_ai.input.messages": json.dumps([_message("user", step.prompt)], ensure_ascii=False),
        "gen_ai.output.messages": json.dumps(reply, ensure_ascii=False),
    }


def _message(role: str, text: str) -> Mapping[str, Any]:
    end = {"finish_reason": "stop"} if role == "assistant" else {}
    return {"role": role, "parts": [{"type": "text", "content": text}], **end}


def _order(span: SpanRecord) -> tuple[int, str]:
    return span.start_ms, span.id


def _span(trace: str, span: SpanRecord) -> dict[str, Any]:
    attributes = dict(span.attributes)
    status: dict[str, Any] = {}
    if span.error is not None:
        attributes["error.type"] = span.error
        status = {"code": _ERROR, **({"message": span.message} if span.message else {})}
    return {
        "traceId": trace,
        "spanId": span.id,
        **({} if span.parent is None else {"parentSpanId": span.parent}),
        "name": span.name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(span.start_ms * 1_000_000),
        "endTimeUnixNano": str(span.end_ms * 1_000_000),
        "attributes": _attributes(attributes),
        "status": status,
    }


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attributes as `KeyValue`s; those without a value are left out."""
    return [
        {"key": key, "value": _value(value)} for key, value in values.items() if value is not None
    ]


def _value(value: str | int | float | Sequence[str]) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"arrayValue": {"values": [_value(each) for each in value]}}
