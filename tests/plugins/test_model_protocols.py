"""A model protocol from a wheel: what `uwf plugin new model` writes plays a role once installed."""

import json
import subprocess
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from installed import make_environment, program
from wheels import build_wheel

import uwf_agent_builtin
import uwf_llm
from uwf_core import __version__
from uwf_testing.new_plugin import filled_files

WORKFLOW = """\
version: 1
name: one
roles:
  worker:
    goal: work
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Begin.}
    resume: {role: worker, prompt: Again.}
  worker:
    done: {role: $END, prompt: Done.}
"""
LISTED = {"call": {"id": "1", "name": "list_files", "arguments": "{}"}}
DELIVERED = {"call": {"id": "2", "name": "resolve", "arguments": '{"$status": "done"}'}}
USED = {"usage": {"input": 7, "output": 3}}
STREAMS = ([{"text": "I look. "}, LISTED, USED, {"stop": "calls"}], [DELIVERED, {"stop": "calls"}])


class _Service(BaseHTTPRequestHandler):
    """Speaks the protocol of the template."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.path, self.headers["authorization"], body))
        events = STREAMS[len(self.server.seen) - 1]
        data = "".join(f"data: {json.dumps(each)}\n\n" for each in events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    server.seen = []
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def written(folder: Path) -> Path:
    """What `uwf plugin new model acme` writes, as a wheel."""
    files = dict(filled_files("model", "acme", __version__))
    entries = tomllib.loads(files["pyproject.toml"])["project"]["entry-points"]
    modules = {
        path.removeprefix("src/"): text for path, text in files.items() if path.startswith("src/")
    }
    return build_wheel(folder, "uwf-model-acme", entries, modules)


def builtin(folder: Path) -> Path:
    """The builtin agent of this checkout, with its model client, as a wheel."""
    sources = [Path(each.__file__).parent.parent for each in (uwf_agent_builtin, uwf_llm)]
    entries = {"uwf.agents": {"builtin": "uwf_agent_builtin.plugin"}}
    files = {"uwf_builtin_tests.pth": "".join(f"{source}\n" for source in sources)}
    return build_wheel(folder, "uwf-agent-builtin", entries, files)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A fresh environment with the builtin agent and the protocol, by the command of a user."""
    folder = tmp_path_factory.mktemp("acme")
    made = make_environment("uv", folder)
    wheels = [written(folder / "wheels"), builtin(folder / "wheels")]
    python = made.uwf_program.with_name("python")
    command = [program("uv"), "pip", "install", "--quiet", "--python", python, *wheels]
    subprocess.run(command, env=made.env, check=True, timeout=120)
    rows = made.uwf("plugin", "list").document["plugins"]
    assert ("acme", "ready") in [(each["name"], each["status"]) for each in rows]
    return made


def as_command(environment) -> str:
    """The builtin agent as a program, which loads the protocol itself."""
    python = environment.uwf_program.parent / "python"
    program = f"command: {python}, args: [-m, uwf_agent_builtin.command]"
    return f"{{{program}, capabilities: [continue, fork, ask, stream, tools, model]}}"


@pytest.mark.parametrize("how", ["as a plugin", "as a command"])
def test_a_step_runs_through_an_installed_protocol(environment, tmp_path, service, how):
    (tmp_path / "one.yaml").write_text(WORKFLOW)
    (tmp_path / "home").mkdir(mode=0o700)
    worker = "{use: builtin}" if how == "as a plugin" else as_command(environment)
    (tmp_path / "home/config.yaml").write_text(
        f"providers: {{here: {{baseUrl: 'http://127.0.0.1:{service.server_port}/v1', "
        "apiKeyEnv: ACME, protocol: acme}}\n"
        "models: {m: {provider: here, name: acme-1, extra: {effort: low}}}\n"
        f"defaultModel: m\ndefaultAgent: worker\nagents: {{worker: {worker}}}\n"
    )
    own = {"UWF_HOME": str(tmp_path / "home"), "ACME": "sk-of-acme-123"}
    done = environment.uwf("run", "./one.yaml", "-p", "Look.", cwd=tmp_path, **own)
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done
    assert done.document["steps"][0]["usage"]["inputTokens"] == 7
    [(path, key, first), (_, _, second)] = service.seen
    assert (path, key) == ("/v1/chat", "Bearer sk-of-acme-123")
    assert (first["model"], first["effort"], first["stream"]) == ("acme-1", "low", True)
    assert "resolve" in [tool["name"] for tool in first["tools"]]
    said, result = second["messages"][-2:]
    assert said["calls"] == [LISTED["call"]] and said["text"] == "I look. "
    assert result["answers"] == "1" and "one.yaml" in result["text"]
