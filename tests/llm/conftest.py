"""A client beside a scripted server, on real sockets; waits take no time, but are counted."""

import contextlib
import sys
from pathlib import Path

import httpx  # noqa: F401  (so that the first call does not wait for its import)
import pytest

from uwf_core.api.models import Model
from uwf_llm.chat import ChatRequest, ChatTool, Message
from uwf_llm.client import ChatClient
from uwf_llm.limits import Clock
from uwf_testing.model_server import ScriptedModel

sys.path.insert(0, str(Path(__file__).parent))

KEY = "sk-test-0123456789abcdef"


class Hasty(Clock):
    """Real time, save that waits are noted down and passed over; chance is at its highest."""

    def __init__(self):
        self.waits = []

    def wait(self, seconds, cancel):
        self.waits.append(seconds)

    def chance(self):
        return 1.0


@pytest.fixture
def hasty():
    return Hasty()


@pytest.fixture
def connect(hasty):
    """A client of the service at an address."""
    with contextlib.ExitStack() as stack:

        def make(url, *, key=KEY, **options):
            model = Model(alias="m", name="model-1", provider="p", base_url=url, api_key=key)
            client = ChatClient(model, **{"clock": hasty, **options})
            return stack.enter_context(client)

        yield make


@pytest.fixture
def serve(connect):
    """A scripted server and a client of it."""
    with contextlib.ExitStack() as stack:

        def start(*turns, **options):
            server = stack.enter_context(ScriptedModel(turns))
            return server, connect(server.openai_url, **options)

        yield start


@pytest.fixture
def question():
    return ChatRequest(messages=(Message(role="user", text="hello"),))


@pytest.fixture
def tool():
    return ChatTool(name="read_file", description="Reads.", parameters={"type": "object"})
