"""`uwf-builtin chat`: try a model and its tools by hand in a folder."""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from uwf_agent_builtin.agent import BuiltinAgent
from uwf_agent_builtin.options import BuiltinOptions
from uwf_core.api import (
    AgentContext,
    AgentFailure,
    AgentRequest,
    Cancel,
    Model,
    Turn,
    Usage,
    UwfError,
)
from uwf_core.serving import configured_model, installed_tools, with_protocol

_SHOWN = 300
_EXAMPLE = """\
examples:
  uwf-builtin chat
  uwf-builtin chat --model fast -p "What is in this folder?"
  uwf-builtin chat --base-url http://localhost:11434/v1 --model qwen3
  uwf-builtin chat --base-url https://api.anthropic.com/v1 --protocol anthropic \\
    --api-key-env ANTHROPIC_API_KEY --model claude-sonnet-4-5
"""


class _Screen:
    """Shows turns as they arrive: text on stdout, the rest on stderr."""

    def __init__(self) -> None:
        self._shown = 0
        self._index = -1
        self._results: set[str] = set()
        self.last_session: str | None = None

    def turn(self, turn: Turn) -> None:
        """Show the new part of it."""
        if turn.index != self._index:
            self._index, self._shown = turn.index, 0
        if turn.role == "note":
            print(f"· {turn.text}", file=sys.stderr)
            return
        print(turn.text[self._shown :], end="", flush=True)
        self._shown = max(self._shown, len(turn.text))
        for call in turn.tool_calls:
            if call.result is not None and call.id not in self._results:
                self._results.add(call.id)
                mark = "✗" if call.is_error else "→"
                arguments, result = _short(call.arguments), _short(call.result)
                print(f"\n{mark} {call.name} {arguments}\n  {result}", file=sys.stderr)

    def session(self, session: str) -> None:
        """Remember it."""
        self.last_session = session

    def usage(self, usage: Usage) -> None:
        """Nothing to show."""


class _Place(NamedTuple):
    agent: BuiltinAgent
    model: Model
    folder: str


def chat(arguments: Sequence[str]) -> int:
    """Chat with a model that has the tools; return the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.base_url is not None and given.model is None:
        parser.error("--base-url needs --model, the name of a model at that service")
    try:
        model = _model(given)
    except UwfError as fault:
        hint = f"\n{fault.hint}" if fault.hint else ""
        print(f"{fault.message}{hint}", file=sys.stderr)
        return fault.exit_code
    options = BuiltinOptions(allow_shell=given.allow_shell or False)
    with tempfile.TemporaryDirectory(prefix="uwf-builtin-") as state:
        context = AgentContext(name="chat", state_dir=state, tools=installed_tools)
        agent = BuiltinAgent(options, context)
        try:
            return _talk(_Place(agent, model, str(Path(given.dir).resolve())), given.prompt)
        finally:
            agent.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="uwf-builtin chat",
        description="Talk with a model that can read and change the files of a folder.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--model",
        help="a model of your configuration (its default model); with --base-url its name there",
    )
    parser.add_argument("--base-url", help="a service that is not in your configuration")
    parser.add_argument(
        "--protocol",
        default=Model.protocol,
        help="with --base-url: the protocol of the service (%(default)s)",
    )
    parser.add_argument(
        "--api-key-env",
        default="OPENAI_API_KEY",
        help="with --base-url: the variable with the key (%(default)s)",
    )
    parser.add_argument("--dir", default=".", help="the folder to work in (%(default)s)")
    parser.add_argument(
        "--allow-shell",
        choices=("workspace", "sandbox"),
        help="run commands: in the workspace, or in a sandbox (bubblewrap)",
    )
    parser.add_argument(
        "-p", "--prompt", help="send this prompt and exit; without it, read prompts line by line"
    )
    return parser


def _model(given: argparse.Namespace) -> Model:
    """The model of the configuration, or that of the service at the address.

    Raises:
        UwfError: it is not there, or its protocol cannot be loaded.
    """
    if given.base_url is None:
        return configured_model(given.model)
    model = Model(
        alias="chat",
        name=given.model,
        provider="chat",
        base_url=given.base_url,
        api_key=os.environ.get(given.api_key_env),
        protocol=given.protocol,
    )
    return with_protocol(model)


def _talk(place: _Place, prompt: str | None) -> int:
    screen = _Screen()
    if prompt is not None:
        return _say(place, screen, prompt, None)
    print("type a prompt, or an empty line to end", file=sys.stderr)
    session, code = None, 0
    while (line := _line()) != "":
        code = _say(place, screen, line, session)
        session = screen.last_session
    return code


def _line() -> str:
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return ""


def _say(place: _Place, screen: _Screen, text: str, session: str | None) -> int:
    """One call of the agent; Ctrl-C ends it, but not the chat."""
    cancel = Cancel()
    before = signal.signal(signal.SIGINT, lambda *_: cancel.set("Ctrl-C"))
    try:
        place.agent.run(
            AgentRequest(
                thread="chat",
                role="chat",
                step_number=1,
                cwd=place.folder,
                prompt=text,
                session=session,
                model=place.model,
                env=dict(os.environ),
                cancel=cancel,
            ),
            screen,
        )
    except AgentFailure as failure:
        hint = f"\n{failure.hint}" if failure.hint else ""
        print(f"\n{failure.kind.word}: {failure.message}{hint}", file=sys.stderr)
        return failure.exit_code
    finally:
        signal.signal(signal.SIGINT, before)
    print()
    return 0


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
