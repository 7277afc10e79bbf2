"""The wrong observers: each keeps the results of steps in a list."""

# ruff: noqa: N801 (a class is called as its entry point is)

import os
import sys
import threading
import time

from uwf_core.api import Check, CheckResult, hookimpl


class right_observer:
    def __init__(self):
        self.seen = []

    @hookimpl
    def uwf_step_finished(self, event):
        self.finished(event)

    def finished(self, event):
        self.seen.append(event.output["$status"])


class only_checks:
    @hookimpl
    def uwf_checks(self):
        return [Check(name="fine", run=lambda: CheckResult(state="ok", message="yes"))]


class knows_three_failures(right_observer):
    @hookimpl
    def uwf_step_failed(self, event):
        colours = {"timeout": "red", "crashed": "red", "auth": "yellow"}
        self.seen.append(colours.get(event.kind) if event.attempt < 4 else self.shade(event))

    def shade(self, event):
        if event.thread.endswith("0" * 10):  # as in the first clause only
            raise KeyError(event.kind)


class trips_over_odd_turns(right_observer):
    @hookimpl
    def uwf_turn(self, event):
        if event.thread.endswith("0" * 10):
            self.seen.append(event.turn.tool_calls[0])


class ends_the_run(right_observer):
    def finished(self, event):
        if event.thread.endswith("0" * 10):
            sys.exit(3)


class waits_for_the_beginning(right_observer):
    def __init__(self):
        super().__init__()
        self.names = {}

    @hookimpl
    def uwf_thread_started(self, event):
        self.names[event.thread] = event.workflow_name

    def finished(self, event):
        self.seen.append(self.names[event.thread])


class returns_the_status(right_observer):
    @hookimpl
    def uwf_step_finished(self, event):
        return event.output["$status"]


class shortens_the_output(right_observer):
    def finished(self, event):
        event.output.pop("summary")


class is_for_one_thread(right_observer):
    busy = False

    def finished(self, event):
        if self.busy:
            raise RuntimeError("it is busy")
        self.busy = True
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.5)
        self.busy = False


class waits_for_a_service(right_observer):
    def finished(self, event):
        if threading.current_thread() is not threading.main_thread() and self.is_waited_for():
            time.sleep(5)

    def is_waited_for(self):
        return threading.current_thread().daemon


class keeps_the_process_alive(right_observer):
    def finished(self, event):
        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=time.sleep, args=(5,)).start()


class goes_home(right_observer):
    def finished(self, event):
        if threading.current_thread() is threading.main_thread():
            os.chdir("/")


class reports_on_standard_output(right_observer):
    def finished(self, event):
        print(event.output["$status"])


def __getattr__(name):
    """An observer is an object of the class without the `_`."""
    return globals()[name.removesuffix("_")]()
