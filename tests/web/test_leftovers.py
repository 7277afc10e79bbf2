"""What the server does while nobody looks: it sends notices and continues threads."""

import os
import signal
import threading
import time

import pytest
from web_site import SCRIPT, WebSite

from uwf_web.serve import do_what_is_due, open_client


def test_notices_that_could_not_be_sent_are_sent_once_that_is_possible(web: WebSite) -> None:
    log, ready = web.project.home / "log", web.project.home / "ready"
    words = f"test -e {ready} || exit 1; echo $UWF_EVENT $UWF_THREAD >> {log}"
    web.project.config(f"notify: {{command: [sh, -c, {words!r}]}}\n")
    thread, stop = web.waiting(), threading.Event()
    due = web.project.home / "notices" / "due"
    assert list(due.iterdir())
    sending = threading.Thread(target=do_what_is_due, args=(web.open, stop, False, 0.2, 0.0))
    sending.start()
    try:
        time.sleep(0.3)
        ready.touch()
        end = time.monotonic() + 30
        while list(due.iterdir()):
            assert time.monotonic() < end, (web.project.home / "notices" / "errors").read_text()
            time.sleep(0.1)
    finally:
        stop.set()
        sending.join(10)
    assert log.read_text() == f"suspended {thread}\n"


def test_what_a_person_does_in_the_browser_is_recorded_so(
    web: WebSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = web.waiting()
    for name, value in web.project.env.items():
        monkeypatch.setenv(name, value)
    with open_client(web.settings) as client:
        client.resume(thread, answer='{"$status": "approved"}', until_done=True)
        answered = list(client.steps(thread))[-1]["step"]
        assert client.step(answered)["attempt"]["by"]["via"] == "web"


@pytest.mark.parametrize("ticks", [True, False])
def test_the_server_continues_what_nobody_watches(web: WebSite, ticks: bool) -> None:
    """But not one that only reads."""
    stop = threading.Event()
    with web.project.client() as uwf:
        web.project.script([{**SCRIPT, "delayMs": 60_000}])
        thread = uwf.start("letter", "Write to Ada.")["thread"]
        uwf.exec(thread, until_done=True, background=True)
        running = uwf.show(thread)["running"]
        assert running is not None
        os.kill(running["pid"], signal.SIGKILL)
        web.project.script([SCRIPT])
        server = threading.Thread(target=do_what_is_due, args=(web.open, stop, ticks, 0.2, 0.0))
        server.start()
        try:
            end = time.monotonic() + (30 if ticks else 1.5)
            while time.monotonic() < end and uwf.show(thread)["suspendReason"] != "role":
                time.sleep(0.1)
        finally:
            stop.set()
            server.join(10)
        assert (uwf.show(thread)["suspendReason"] == "role") is ticks
