"""A new user: the version, the state of the installation, the first configuration, the demo."""

import json
import subprocess
from importlib.metadata import version

from tests.walkthrough.checking import Uwf, check

_DOCUMENTS = ("bootstrap", "usage", "workflow-authoring", "adapter-developing")
_CLIENT = {"name": "walkthrough", "version": "1"}
_KEY = "sk-walkthrough-0123456789"


@check("doctor")
def the_installation_is_healthy(uwf: Uwf) -> None:
    uwf("--version", says=[f"uwf {version('uwf-core')}\n"])
    uwf("--help", says=["thread", "workflow", "Exit codes", "uwf demo"])
    found = uwf("doctor", has={"healthy": True})
    names = {each["name"]: each["state"] for each in found["checks"]}
    uwf.same("the state of the store", names.get("store"), "ok")
    uwf("doctor --format text", says=["✓ home:", "✓ default agent: mock: ready"])


@check("setup")
def setup_keeps_the_key_out_of_the_configuration(uwf: Uwf) -> None:
    uwf("setup", code=2, fails="--provider is missing")
    service = ("--provider", "mine", "--base-url", "http://127.0.0.1:9/v1", "--model", "large")
    uwf("setup --no-trial --api-key -", *service, code=2, fails="--api-key is blank")
    uwf("setup --no-trial --agent mock --api-key -", *service, stdin=_KEY, has={"model": "large"})
    settings = (uwf.site.home / "config.yaml").read_text()
    uwf.expect("baseUrl: http://127.0.0.1:9/v1" in settings, f"config.yaml is {settings!r}")
    uwf.expect(_KEY not in settings, "the key is in config.yaml")
    secrets = uwf.site.home / ".env"
    uwf.expect(_KEY in secrets.read_text(), "the key is not in .env")
    uwf.same("the mode of .env", oct(secrets.stat().st_mode & 0o777), "0o600")


@check("prompt list", *(f"prompt {each}" for each in _DOCUMENTS))
def an_agent_finds_its_documents(uwf: Uwf) -> None:
    listed = uwf("prompt list")["documents"]
    uwf.same("the documents", sorted(each["document"] for each in listed), sorted(_DOCUMENTS))
    for each in _DOCUMENTS:
        text = uwf(f"prompt {each}", says=[f"name: uwf-{each}\n"])
        uwf.expect(len(text) > 1000 and "uwf " in text, "the document is too short to teach")


@check("mcp")
def another_agent_gets_tools(uwf: Uwf) -> None:
    uwf("mcp --allow everything", code=2, fails="'everything' is not one of")
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    text = json.dumps(hello) + "\n"
    uwf("mcp", stdin=text, has={"result.serverInfo.name": "uwf"}, says=["uwf enforces"])


@check("completion")
def the_completion_script_completes_commands(uwf: Uwf) -> None:
    (uwf.folder / "complete").write_text(uwf("completion bash"))
    program = (
        f'PATH="{uwf.site.folder}:$PATH"; . ./complete; COMP_WORDS=(uwf thread ex); COMP_CWORD=2; '
        "_uwf; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(
        ["bash", "-c", program], cwd=uwf.folder, capture_output=True, text=True, check=False
    )
    uwf.same("the completion of `uwf thread ex`", sorted(done.stdout.split()), ["exec", "export"])
    for shell in ("zsh", "fish"):
        uwf(f"completion {shell}", says=["uwf"])


@check("demo")
def the_demo_fixes_a_failing_test(uwf: Uwf) -> None:
    shown = uwf("demo --dir demo", has={
        "status": "completed", "testsBefore.green": False, "testsAfter.green": True, "steps.#": 8,
    })  # fmt: skip
    code = (uwf.folder / "demo" / "project" / "invoice.py").read_text()
    uwf.expect("+ 50) // 100" in code, f"invoice.py is not fixed: {code}")
    uwf.expect("## Step 3: reviewer, rejected" in shown["text"], "no review rejected the first fix")
