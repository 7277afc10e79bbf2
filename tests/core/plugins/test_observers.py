"""Observers are told what happens; none of them can stop the work."""

from .conftest import Site

OBSERVER = """
import sys
from uwf_core.api import hookimpl

@hookimpl
def uwf_thread_ended(event):
    print(f"told of {{event.thread}} {{event.status}}\\n", end="")
    {more}
"""
NOTIFY = """
from uwf_core.api import ThreadEnded
faults = []
observers = Plugins().observers(faults.append, 60)
event = ThreadEnded(thread="T", workflow="W", workflow_name="w", status="completed", at_ms=1)
for _ in range(2):
    observers.notify(event)
observers.close()
print(json.dumps(faults))
"""


def observer(site: Site, name: str, more: str = "pass", code: str | None = None) -> None:
    module = f"watch_{name}"
    text = OBSERVER.format(more=more) if code is None else code
    site.add(f"watch-{name}", {"uwf.observers": {name: module}}, modules={module: text})


def test_every_observer_is_told_and_writes_to_stderr(site: Site) -> None:
    observer(site, "a")
    observer(site, "b")
    done = site.run(NOTIFY)
    assert done.stderr.count("told of T completed") == 4
    assert done.stdout == "[]\n"


def test_the_thread_of_an_observer_ends_with_its_run(site: Site) -> None:
    observer(site, "a")
    done = site.run(f"""
import threading, time
{NOTIFY}
end = time.monotonic() + 30
while threading.active_count() > 1 and time.monotonic() < end:
    time.sleep(0.01)
print(threading.active_count())
""")
    assert done.stdout.splitlines() == ["[]", "1"]


def test_an_observer_that_raises_is_reported_once_and_the_others_are_told(site: Site) -> None:
    observer(site, "a", "raise ValueError('no')")
    observer(site, "b")
    done = site.run(NOTIFY)
    assert done.stderr.count("told of T completed") == 4
    assert done.stdout.count("ValueError: no") == 1
    assert "a of watch-a 1.0: uwf_thread_ended failed" in done.stdout


def test_an_observer_that_exits_is_reported_and_stops_nothing(site: Site) -> None:
    observer(site, "a", "sys.exit(3)")
    observer(site, "b")
    done = site.run(NOTIFY)
    assert done.stderr.count("told of T completed") == 4
    assert "called exit(3)" in done.stdout


def test_an_observer_that_cannot_be_loaded_is_reported_and_stops_nothing(site: Site) -> None:
    observer(site, "a", code="import nowhere_at_all")
    observer(site, "b")
    site.add("watch-c", {"uwf.observers": {"c": "watch_b"}}, requires=["uwf-core>=99"])
    done = site.run(NOTIFY)
    assert done.stderr.count("told of T completed") == 2
    assert "nowhere_at_all" in done.stdout
    assert "c of watch-c 1.0 is incompatible" in done.stdout


def test_a_hook_that_the_observer_does_not_have_is_no_fault(site: Site) -> None:
    observer(site, "a")
    code = NOTIFY.replace("ThreadEnded", "ThreadStarted").replace('status="completed"', 'cwd="/"')
    assert site.run(code).stdout == "[]\n"


def test_a_blocked_observer_is_never_imported_nor_mentioned(site: Site) -> None:
    observer(site, "a", code="raise SystemExit(3)")
    assert site.run(NOTIFY.replace("Plugins()", "Plugins(['a'])")).stdout == "[]\n"
