"""The observer sends a run's spans to a real receiver, and never delays or fails a run."""

import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from tests.core import calling
from tests.exports.recorded import LETTER, PERSON

from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_export.otlp import OtlpExporter


class Receiver:
    """A service that takes OTLP over HTTP; `spans` by their ids."""

    def __init__(self, trace: Any, delay: float = 0.0) -> None:
        self.spans: dict[str, Any] = {}
        self.paths = set[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:  # noqa: N805
                body = handler.rfile.read(int(handler.headers["Content-Length"]))
                if handler.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                threading.Event().wait(delay)
                for resource in trace.TracesData.FromString(body).resource_spans:
                    for scope in resource.scope_spans:
                        self.spans |= {each.span_id.hex(): each for each in scope.spans}
                self.paths.add(handler.path)
                handler.send_response(200)
                handler.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver(tool: Any) -> Iterator[Receiver]:
    found = Receiver(tool("opentelemetry.proto.trace.v1.trace_pb2"))
    yield found
    found.close()


@pytest.fixture
def slow(tool: Any) -> Iterator[Receiver]:
    found = Receiver(tool("opentelemetry.proto.trace.v1.trace_pb2"), delay=30)
    yield found
    found.close()


def _exported(uwf: Client, thread: str) -> dict[str, Any]:
    [resource] = json.loads("".join(OtlpExporter().export(uwf.thread(thread))))["resourceSpans"]
    return {each["spanId"]: each for each in resource["scopeSpans"][0]["spans"]}


def test_the_spans_of_a_run_are_those_of_its_export(tmp_path: Path, receiver: Receiver) -> None:
    project = calling.calling_project(tmp_path)
    project.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.address
    done = project.uwf("run", "outer", "-p", "Make a poem.")
    assert done.exit_code == 0, done
    assert receiver.paths == {"/v1/traces"}
    with project.client() as uwf:
        exported = _exported(uwf, done.document["thread"])
    assert receiver.spans.keys() == exported.keys()
    for key, span in receiver.spans.items():
        assert span.name == exported[key]["name"]
        assert span.trace_id.hex() == exported[key]["traceId"]
        assert span.parent_span_id.hex() == exported[key].get("parentSpanId", "")


def test_a_failed_attempt_and_tools_have_spans(tmp_path: Path, receiver: Receiver) -> None:
    project = Project(tmp_path)
    project.workflow("letter", PERSON)
    project.script(LETTER[1:3], by_role=True)
    project.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.address
    allow = ("--allow-programs",)
    assert project.uwf("workflow", "add", ".workflow/letter.yaml", *allow).exit_code == 0
    project.uwf("run", "letter", "-p", "A letter.")
    names = [span.name for span in receiver.spans.values()]
    assert names.count("execute_tool read") == 2
    assert "invoke_agent writer" in names
    texts = str(receiver.spans)
    assert "forged" not in texts and "no json" not in texts


def test_without_an_endpoint_nothing_is_imported_or_sent(tmp_path: Path, tool: Any) -> None:
    tool("opentelemetry.sdk")
    project = calling.calling_project(tmp_path)
    script = (
        "import atexit, runpy, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "runpy.run_module('uwf_core', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "outer", "-p", "x"],
        cwd=project.folder,
        env=project.env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "uwf_export.otel" in done.stderr
    assert "opentelemetry" not in done.stderr


@pytest.mark.parametrize("service", ["absent", "slow"])
def test_a_service_that_fails_neither_delays_nor_fails_a_run(
    tmp_path: Path, slow: Receiver, service: str
) -> None:
    address = slow.address if service == "slow" else "http://127.0.0.1:9"
    project = calling.calling_project(tmp_path)
    started = monotonic()
    assert project.uwf("run", "outer", "-p", "x").exit_code == 0
    plain = monotonic() - started
    project.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = address
    started = monotonic()
    done = project.uwf("run", "outer", "-p", "x")
    took = monotonic() - started
    assert (done.exit_code, done.document["status"]) == (0, "completed")
    assert "OpenTelemetry" in done.stderr
    assert took < 3 * plain + 8, (took, plain)


def test_an_sdk_that_cannot_be_imported_is_reported_once(tmp_path: Path, tool: Any) -> None:
    tool("opentelemetry.sdk")
    project = calling.calling_project(tmp_path)
    broken = tmp_path / "broken" / "opentelemetry"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('half of an upgrade')")
    project.env["PYTHONPATH"] = str(broken.parent)
    project.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:9"
    done = project.uwf("run", "outer", "-p", "x")
    assert (done.exit_code, done.document["status"]) == (0, "completed")
    assert done.stderr.count("half of an upgrade") == 1
