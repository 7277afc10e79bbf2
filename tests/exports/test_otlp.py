"""The official protobuf schema accepts the spans; they form one tree, and say no text unasked."""

import json
from base64 import b64encode
from typing import Any

from uwf_export.otlp import OtlpContentExporter, OtlpExporter

_IDS = ("traceId", "spanId", "parentSpanId")


def _document(thread: Any, exporter: Any = OtlpExporter) -> Any:
    return json.loads("".join(exporter().export(thread)))


def _spans(document: Any) -> list[dict[str, Any]]:
    [resource] = document["resourceSpans"]
    [scope] = resource["scopeSpans"]
    found: list[dict[str, Any]] = scope["spans"]
    return found


def _attributes(span: Any) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def _named(spans: Any, operation: str) -> list[Any]:
    return [each for each in spans if _attributes(each)["gen_ai.operation.name"] == operation]


def test_the_official_schema_accepts_every_thread(tool: Any, recorded: Any) -> None:
    trace = tool("opentelemetry.proto.trace.v1.trace_pb2")
    parser = tool("google.protobuf.json_format")
    for thread in recorded[1].values():
        for exporter in (OtlpExporter, OtlpContentExporter):
            document = _document(thread, exporter)
            for span in _spans(document):  # OTLP writes ids as hex, where protobuf has base64
                for name in set(_IDS) & span.keys():
                    span[name] = b64encode(bytes.fromhex(span[name])).decode()
            read = parser.ParseDict(document, trace.TracesData())
            [scope] = read.resource_spans[0].scope_spans
            assert len(scope.spans) == len(_spans(document))
            assert {len(span.trace_id) for span in scope.spans} == {16}
            assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in scope.spans)


def test_the_names_are_those_of_the_conventions(tool: Any, recorded: Any) -> None:
    names = tool("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {value for name, value in vars(names).items() if name.startswith("GEN_AI_")}
    operations = {each.value for each in names.GenAiOperationNameValues}
    schemas = tool("opentelemetry.semconv.schemas").Schemas
    for thread in recorded[1].values():
        document = _document(thread, OtlpContentExporter)
        assert document["resourceSpans"][0]["schemaUrl"] in {each.value for each in schemas}
        for span in _spans(document):
            found = _attributes(span)
            assert {name for name in found if name.startswith("gen_ai.")} <= known
            assert found["gen_ai.operation.name"] in operations


def test_the_spans_form_one_tree_with_ids_that_stay(recorded: Any) -> None:
    uwf, threads = recorded
    for thread in threads.values():
        spans = _spans(_document(thread))
        ids = [span["spanId"] for span in spans]
        assert len(set(ids)) == len(ids)
        assert len({span["traceId"] for span in spans}) == 1
        roots = [span for span in spans if "parentSpanId" not in span]
        assert [_attributes(each)["uwf.thread"] for each in roots] == [thread.id]
        assert {span["parentSpanId"] for span in spans if span not in roots} <= set(ids)
        assert _spans(_document(uwf.thread(thread.id))) == spans


def test_each_attempt_of_an_agent_is_a_span_with_its_usage(recorded: Any) -> None:
    for thread in recorded[1].values():
        spans = {_attributes(each).get("uwf.step"): each for each in _spans(_document(thread))}
        for step in thread.steps():
            for attempt in (*step.attempts, step):
                if attempt.node["agent"] != "workflow":
                    found = _attributes(spans[attempt.ref])
                    assert found.get("error.type") == (attempt.failure and attempt.failure["kind"])
                    used = attempt.node["usage"]["outputTokens"]
                    assert found.get("gen_ai.usage.output_tokens") == (
                        None if used is None else str(used)
                    )


def test_tools_and_called_threads_are_spans(recorded: Any) -> None:
    _uwf, threads = recorded
    for name, thread in threads.items():
        spans = _spans(_document(thread))
        count = len(_named(spans, "invoke_workflow"))
        assert count == {"twice": 3, "half": 2, "tasks": 4, "panel": 7}.get(name, 1)
        if name == "letter":
            tools = [_attributes(each) for each in _named(spans, "execute_tool")]
            assert [each["gen_ai.tool.name"] for each in tools].count("read") == 2
            assert [each.get("error.type") for each in tools].count("tool_error") == 1


def test_texts_are_in_the_spans_only_with_the_format_that_says_so(recorded: Any) -> None:
    for thread in recorded[1].values():
        plain = json.dumps(_document(thread), ensure_ascii=False)
        full = json.dumps(_document(thread, OtlpContentExporter), ensure_ascii=False)
        for step in thread.steps():
            texts = [step.edge_prompt, step.raw, *(turn.text for turn in step.turns)]
            for text in filter(None, texts):
                assert json.dumps(text, ensure_ascii=False)[1:-1] not in plain
            if step.node["agent"] not in ("workflow", "program"):
                quoted = json.dumps(json.dumps(step.prompt, ensure_ascii=False), ensure_ascii=False)
                assert quoted[3:-3] in full


def test_a_span_lasts_as_long_as_what_it_is_of_and_encloses_what_is_below(recorded: Any) -> None:
    """In nanoseconds; a workflow that is over ends with the last of its attempts."""
    for thread in recorded[1].values():
        spans = {each["spanId"]: each for each in _spans(_document(thread))}
        times = {
            name: (int(each["startTimeUnixNano"]), int(each["endTimeUnixNano"]))
            for name, each in spans.items()
        }
        steps = {_attributes(each).get("uwf.step"): name for name, each in spans.items()}
        for step in thread.steps():
            if step.node["agent"] != "workflow":
                node = step.node
                exact = node["startedAtMs"] * 1_000_000, node["completedAtMs"] * 1_000_000
                assert times[steps[step.ref]] == exact
        for name, (begins, ends) in times.items():
            below = [
                times[each["spanId"]] for each in spans.values() if each.get("parentSpanId") == name
            ]
            assert all(begins <= first <= last <= ends for first, last in below)
            if below and _attributes(spans[name])["gen_ai.operation.name"] == "invoke_workflow":
                assert ends == max(last for _, last in below)
