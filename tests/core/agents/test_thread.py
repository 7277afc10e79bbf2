"""An agent is called in one thread, that is gone when the agent is."""

import gc
import threading
import time

from uwf_core.agents.open import AgentThread

PATIENCE = 60.0


def _runs(name: str) -> bool:
    return any(each.name == name for each in threading.enumerate())


def _gone(name: str) -> bool:
    until = time.monotonic() + PATIENCE
    while _runs(name) and time.monotonic() < until:
        time.sleep(0.01)
    return not _runs(name)


def test_all_calls_of_an_agent_are_made_in_the_same_thread_in_order() -> None:
    thread, seen = AgentThread("same"), list[threading.Thread]()
    for number in range(5):
        assert thread.call(lambda: seen.append(threading.current_thread())).wait(PATIENCE)
        assert len(seen) == number + 1
    assert len(set(seen)) == 1
    assert seen[0] is not threading.current_thread()


def test_an_agent_that_does_not_come_back_does_not_hold_up_its_next_call() -> None:
    thread, go = AgentThread("stuck"), threading.Event()
    stuck = thread.call(lambda: go.wait(PATIENCE) and None)
    assert thread.call(lambda: None).wait(PATIENCE)
    assert not stuck.is_set()
    go.set()
    assert stuck.wait(PATIENCE)


def test_the_thread_of_an_agent_that_is_let_go_of_ends() -> None:
    thread = AgentThread("let-go")
    assert thread.call(lambda: None).wait(PATIENCE)
    assert _runs("agent let-go")
    del thread
    gc.collect()
    assert _gone("agent let-go")


def test_the_thread_of_an_agent_that_is_closed_ends_though_somebody_holds_it() -> None:
    thread = AgentThread("closed")
    assert thread.call(lambda: None).wait(PATIENCE)
    thread.end()
    assert _gone("agent closed")
    thread.end()


def test_the_thread_of_a_stuck_agent_ends_when_it_comes_back() -> None:
    thread, go = AgentThread("late"), threading.Event()
    stuck = thread.call(lambda: go.wait(PATIENCE) and None)
    del thread
    go.set()
    assert stuck.wait(PATIENCE)
    assert _gone("agent late")
