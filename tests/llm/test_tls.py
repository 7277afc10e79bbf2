"""The same over TLS, with a certificate that nobody has signed."""

import shutil
import ssl
import subprocess
import threading

import pytest

from uwf_core.client import Cancel
from uwf_core.errors import AgentInterrupted, Unavailable
from uwf_testing.model_server import ScriptedModel

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", folder / "key.pem"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", folder / "cert.pem"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return folder


@pytest.fixture
def serve_tls(certificate, connect):
    """A scripted server behind TLS, and how to make clients of it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    servers = []

    def start(*turns):
        server = ScriptedModel(turns)
        listener = server._server
        # The handshake is the connection's own, so that one that fails stops no other.
        listener.socket = context.wrap_socket(
            listener.socket, server_side=True, do_handshake_on_connect=False
        )
        servers.append(server.start())
        return connect(server.openai_url.replace("http:", "https:"))

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def trusted(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))


def test_a_certificate_that_nobody_trusts_is_said_to_be_one(serve_tls, question, hasty):
    with pytest.raises(Unavailable, match="not trusted: self-signed") as failed:
        serve_tls("hi").chat(question)
    assert "SSL_CERT_FILE" in failed.value.hint
    assert hasty.waits == []


def test_a_certificate_of_the_users_own_can_be_trusted(serve_tls, question, trusted):
    client = serve_tls("one", "two")
    assert client.chat(question).text == "one"
    assert client.chat(question, on_delta=lambda _: None).text == "two"


@pytest.mark.parametrize("place", ["start", "middle"])
def test_a_cancelled_call_ends_over_tls_as_well(serve_tls, question, trusted, place):
    client = serve_tls("first", {"text": "x" * 400, "hang": place}, "last")
    client.chat(question)
    cancel = Cancel()
    timer = threading.Timer(0.2, cancel.set, ["the user went"])
    timer.start()
    with pytest.raises(AgentInterrupted):
        client.chat(question, cancel=cancel, on_delta=lambda _: None)
    timer.join()
    assert client.chat(question).text == "last"
    for thread in threading.enumerate():
        if thread.name == "uwf-llm":
            thread.join()
