"""Send what is due: one event after the other, at least once each, at most 20 a minute."""

import fcntl
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.engine.notices import DUE, FOLDER, SENT, SINCE, due_threads, store_mark
from uwf_core.errors import StoreError, UnknownIdError, UwfError
from uwf_core.ids import ThreadId
from uwf_core.notices.events import Notice, notice_document, notices_of, reminders_of
from uwf_core.process import crash_points
from uwf_core.process.own_python import own_python
from uwf_core.process.program import ProcessLimits, Program, run_program
from uwf_core.thread.lock import holder_of

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

TRIES = 3
TRY_SECONDS = 10.0
_PAUSES = (1.0, 3.0)
MOST_A_MINUTE = 20
_MINUTE_MS = 60_000
_LONGEST_VALUE = 8_000
"""Characters of a variable; stdin has the whole text."""
_SUMMARY_LINES = 20


class NotSent(Exception):
    """The command did not exit with 0; the events stay due."""


class Sender:
    """Sends the events of the threads of one store.

    Args:
        engine: of the user, outside of any project.
        now_ms, sleep: the clock, replaced in tests.
    """

    def __init__(
        self,
        engine: "Engine",
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._engine = engine
        self._now_ms = now_ms
        self._sleep = sleep
        self._folder = Path(engine.home, FOLDER)
        self._mark = store_mark(engine)

    def run(self) -> None:
        """Send until nothing is due. Another sender that works already does it instead.

        Raises:
            NotSent: the command failed three times.
        """
        while True:
            with self._lock() as is_ours:
                if not is_ours:
                    return
                self._send_all(self._due())
            # A run that ended while the lock was ours has started a sender that left it to us; one
            # that goes on starts its own at its end.
            if not any(map(self._rests, self._due())):
                return

    @contextmanager
    def _lock(self) -> Iterator[bool]:
        with (self._folder / "lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def _due(self) -> list[str]:
        return due_threads(self._engine.home, self._mark)

    def _rests(self, thread: str) -> bool:
        store = self._engine.store
        return not ThreadId.matches(thread) or holder_of(store, ThreadId(thread)) is None

    def _due_file(self, thread: str) -> Path:
        return self._folder / DUE / f"{thread}.{self._mark}"

    def _send_all(self, threads: Sequence[str]) -> None:
        """Send the events of threads, and forget those that rest and have no more."""
        resting = {
            each: self._due_file(each).stat().st_ino for each in threads if self._rests(each)
        }
        found = sorted(
            (notice for thread in threads for notice in self._new(thread)),
            key=lambda notice: (notice.at_ms, notice.id),
        )
        settings = self._engine.settings.notify
        wanted = [notice for notice in found if notice.event in settings.events]
        while wanted:
            if self._room() > 0:
                self._send(wanted[:1])
                wanted = wanted[1:]
            else:
                self._wait_for_room()
                self._send(wanted)
                wanted = []
        for notice in found:  # those that the user does not want
            self._mark_sent(notice)
        for thread, identity in resting.items():
            self._forget(thread, identity)

    def _new(self, thread: str) -> list[Notice]:
        """The events of a thread that were not sent; none of a removed or damaged one."""
        settings = self._engine.settings.notify
        if not (settings.command or settings.services) or not ThreadId.matches(thread):
            return []
        since = int((self._folder / SINCE).read_text() or 0)
        try:
            about = self._due_file(thread).read_text()
            reminders = reminders_of(self._engine, thread, about) if about else []
            return notices_of(self._engine, thread, self._sent(thread), since) + reminders
        except UnknownIdError:
            return []
        except StoreError as error:
            print(f"thread {thread}: {error}", file=sys.stderr)
            return []

    # -- one message -------------------------------------------------------------------------------

    def _send(self, notices: Sequence[Notice]) -> None:
        """Send an event, or a summary of several, and mark them.

        Raises:
            NotSent: the command failed three times.
        """
        url = self._engine.settings.web.url
        documents = [notice_document(self._engine, notice, url) for notice in notices]
        document = documents[0] if len(documents) == 1 else _summary(documents)
        problem = ""
        for attempt in range(TRIES):
            if attempt:
                self._sleep(_PAUSES[attempt - 1])
            self._count()
            problem = self._call(document)
            if not problem:
                break
        else:
            raise NotSent(problem)
        crash_points.reach("notice-sent")
        for notice in notices:
            self._mark_sent(notice)

    def _call(self, document: dict[str, Any]) -> str:
        """Run the command with a message; what is wrong, empty if nothing is."""
        settings = self._engine.settings
        command = settings.notify.command or own_python("uwf_core.notices.services")
        given = {**document, "services": settings.notify.services}
        program = Program(
            argv=tuple(command),
            cwd=self._engine.home,
            env={**self._engine.settings.environment, **_variables(document)},
            stdin=json.dumps(given, ensure_ascii=False).encode(),
        )
        limits = ProcessLimits(total_seconds=TRY_SECONDS, grace_seconds=1.0)
        try:
            result = run_program(program, limits)
        except UwfError as error:
            return error.message
        if result.exit_code == 0 and result.end.value == "exited":
            return ""
        words = result.stderr.decode(errors="replace").strip().splitlines()[-1:]
        how = "" if result.end.value == "exited" else f" ({result.end.value})"
        text = f"{command[0]} ended with exit code {result.exit_code}{how}: {' '.join(words)}"
        return self._engine.redactor.text(text)

    # -- marks -------------------------------------------------------------------------------------

    def _sent(self, thread: str) -> int:
        """The number of the newest event that was sent."""
        try:
            return int((self._folder / SENT / thread).read_text())
        except (FileNotFoundError, ValueError):
            return -1

    def _mark_sent(self, notice: Notice) -> None:
        if notice.seq > self._sent(notice.of):
            self._write(self._folder / SENT / notice.of, str(notice.seq))

    def _forget(self, thread: str, identity: int) -> None:
        """Remove the file that says that a thread is due, unless it has run since."""
        file = self._due_file(thread)
        with suppress(FileNotFoundError):
            if file.stat().st_ino == identity:
                file.unlink()

    def _write(self, file: Path, text: str) -> None:
        draft = self._folder / f".{file.name}.{os.getpid()}"
        draft.write_text(text)
        draft.chmod(0o600)
        draft.replace(file)

    # -- how many a minute -------------------------------------------------------------------------

    def _times(self) -> list[int]:
        """When messages were sent in the last minute."""
        try:
            times: list[int] = json.loads((self._folder / "times").read_text())
        except (FileNotFoundError, ValueError):
            return []
        now = self._now_ms()
        return [each for each in times if now - _MINUTE_MS < each <= now]

    def _count(self) -> None:
        self._write(self._folder / "times", json.dumps([*self._times(), self._now_ms()]))

    def _room(self) -> int:
        return MOST_A_MINUTE - len(self._times())

    def _wait_for_room(self) -> None:
        while self._room() <= 0:
            first = min(self._times())
            self._sleep(max(first + _MINUTE_MS - self._now_ms(), 100) / 1000)


def _summary(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One message for several events."""
    counts: dict[str, int] = {}
    for each in documents:
        counts[each["event"]] = counts.get(each["event"], 0) + 1
    words = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    lines = [f"{each['thread']} {each['title']}" for each in documents[:_SUMMARY_LINES]]
    more = len(documents) - len(lines)
    return {
        **documents[-1],
        "event": "summary",
        "title": f"{len(documents)} events: {words}",
        "message": "\n".join([*lines, *([f"and {more} more"] if more else [])]),
        "next": "uwf inbox",
        "events": list(documents),
    }


_VALUES = (
    *("id", "event", "thread", "workflow", "task"),
    *("role", "title", "message", "next", "url"),
)


def _variables(document: dict[str, Any]) -> dict[str, str]:
    """The values as environment variables: never a part of a command line or a shell's text."""
    names = {"id": "UWF_EVENT_ID", "event": "UWF_EVENT"}
    found = {}
    for key in _VALUES:
        text = str(document[key]).replace("\0", "")[:_LONGEST_VALUE]
        found[names.get(key, f"UWF_{key.upper()}")] = text.encode(errors="replace").decode()
    return found
