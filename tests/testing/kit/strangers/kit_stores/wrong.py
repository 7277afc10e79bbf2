"""The wrong stores: those in memory, and those that several processes share."""

# ruff: noqa: N801 (a class is called as its entry point is)

import contextlib
import json
import os
import pickle
import random
import time
from pathlib import Path

from uwf_core.api.store import Holder
from uwf_core.errors import StoreError
from uwf_core.stores.memory import MemoryBackend, _MemoryLock
from uwf_core.stores.sqlite import SqliteBackend


class Memory(MemoryBackend):
    def __init__(self, url, home):
        super().__init__()


class misannounced(Memory):
    """Its plugin announces another record than the one that was tried."""


class nowhere(Memory):
    def location(self):
        return ""


class cuts_payloads(Memory):
    def get(self, ref):
        record = super().get(ref)
        return record and record._replace(data=record.data[:65536])


class trips_over_other_words(Memory):
    def get(self, ref):
        if len(ref) != 13:
            raise StoreError(f"{ref!r} is no reference")
        return super().get(ref)


class forgets_the_first_put(Memory):
    def put(self, record):
        before = super().put(record)
        if before is not None and before.data == record.data:
            self._write_record(record.ref, record._replace(created_ms=record.touched_ms))
        return before


class overwrites(Memory):
    def put(self, record):
        before = super().put(record)
        if before is not None and before.data != record.data:
            self._write_record(record.ref, record)
        return before


class overwrites_many(Memory):
    def put_all(self, records):
        before = {ref: self._records[ref] for ref, *_ in records if ref in self._records}
        for record in records:
            self._write_record(record.ref, record)
        return before


class asks_for_few(Memory):
    def present(self, refs):
        return super().present(list(refs)[-1:] if len(refs) > 999 else refs)


class finds_all(Memory):
    def find(self, prefix, limit):
        return super().find(prefix, 10_000)


class mixes_types(Memory):
    def records(self, *arguments, **more):
        return super().records()


class graphs_the_first_put(Memory):
    def graph(self):
        created = sorted(each.created_ms for each in self._records.values())
        return ((ref, edges, created[0]) for ref, edges, _ in super().graph())


class deletes_what_was_touched(Memory):
    def delete(self, refs, untouched_since_ms):
        return super().delete(refs, untouched_since_ms + 1)


class rolls_back_half(Memory):
    def _write_variable(self, name, variable):
        undo, self._undo = self._undo, None
        super()._write_variable(name, variable)
        self._undo = undo


class nests(Memory):
    def transaction(self, durable=True):
        return super().transaction(durable) if self._undo is None else contextlib.nullcontext()


class makes_twice(Memory):
    def set_variable(self, variable, expected):
        if expected is None:
            before = self.variable(variable.name)
            expected = before.checksum if before else None
        return super().set_variable(variable, expected)


class deletes_anyway(Memory):
    def delete_variable(self, name, expected):
        before = self.variable(name)
        return before is not None and super().delete_variable(name, before.checksum)


class lists_from_the_start(Memory):
    def variables(self, prefix, *, after=None, **more):
        return super().variables(prefix, **more)


class drops_odd_tags(Memory):
    def set_variable(self, variable, expected):
        tags = {key: value for key, value in variable.tags.items() if key}
        return super().set_variable(variable._replace(tags=tags), expected)


class _Careless(_MemoryLock):
    def release(self):
        self._held.pop(self._name, None)


class releases_for_others(Memory):
    def lock(self, name, holder):
        handle = super().lock(name, holder)
        return handle and _Careless(self._held, name, holder)


class locks_by_looking(Memory):
    def holder(self, name):
        return self._held.setdefault(name, Holder(1, "somebody", "somewhere", 0))


# -- several processes -----------------------------------------------------------------------------


class Shared(SqliteBackend):
    def __init__(self, url, home):
        self.home = Path(home)
        super().__init__(str(self.home / "store.db"), may_make_folder=True)


class shows_what_is_under_way(Shared):
    """Openings in one process see each other's transactions."""

    under_way = {}  # noqa: RUF012

    def put(self, record):
        if self._in_transaction:
            self.under_way[record.ref] = (self, record)
        return super().put(record)

    def get(self, ref):
        writer, record = self.under_way.get(ref, (self, None))
        return super().get(ref) if writer is self else record

    @contextlib.contextmanager
    def transaction(self, durable=True):
        try:
            with super().transaction(durable):
                yield
        finally:
            self.under_way.clear()


class loses_quick_writes(Shared):
    """What was written without waiting for the disk is gone when the store is closed."""

    def __init__(self, url, home):
        super().__init__(url, home)
        self.quick, self.is_quick, self.steps = [], False, 0

    def put(self, record):
        if self.is_quick:
            self.quick.append(record.ref)
        return super().put(record)

    @contextlib.contextmanager
    def transaction(self, durable=True):
        self.is_quick = not durable
        self.steps += not durable
        try:
            with super().transaction(durable):
                yield
        finally:
            self.is_quick = False

    def close(self):
        if self.steps == 1:
            self.delete(self.quick, 10**15)
            self.quick = []
        super().close()


class FileLocks(Shared):
    """Locks are files with their holder in them; who has died is found by the process id."""

    exclusive = True
    trusts = False

    def __init__(self, url, home):
        super().__init__(url, home)
        self.mine = []

    def lock(self, name, holder):
        if self.holder(name) is not None:
            return None
        if not self.exclusive:
            _meet(self.home, name)
        file = self.file(name)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_text(json.dumps(holder))
        try:
            if self.exclusive:
                os.link(part, file)
            else:
                file.write_text(json.dumps(holder))
        except FileExistsError:
            return None
        finally:
            part.unlink()
        handle = FileLock(file)
        self.mine.append(handle)
        return handle

    def holder(self, name):
        return self.holder_in(self.file(name))

    def holder_in(self, file):
        try:
            holder = Holder(*json.loads(file.read_text()))
        except (FileNotFoundError, ValueError):
            return None
        if not self.trusts and not _lives(holder.pid):
            file.unlink(missing_ok=True)
            return None
        return holder

    def held(self):
        files = {file.name[5:].replace("!", "/"): file for file in self.home.glob("lock-*")}
        found = {name: self.holder_in(file) for name, file in files.items()}
        return {name: holder for name, holder in found.items() if holder is not None}

    def file(self, name):
        return self.home / f"lock-{name.replace('/', '!')}"

    def close(self):
        for handle in self.mine:
            handle.release()
        super().close()


class FileLock:
    def __init__(self, file):
        self.file = file

    def release(self):
        if self.file is not None:
            self.file.unlink(missing_ok=True)
            self.file = None


def _lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _meet(home, name):
    """Where processes race for a name, wait until another one is as far as this one; whether this
    one goes first.
    """
    if not name.startswith(("@uwf/race/", "@uwf/lock/")):
        return True
    mark = f"met-{name.replace('/', '!')}-"
    (home / f"{mark}{os.getpid()}").touch()
    while len(met := sorted(home.glob(f"{mark}*"))) < 2:
        time.sleep(0.001)
    return met[0].name == f"{mark}{os.getpid()}"


class keeps_locks_when_closed(FileLocks):
    def close(self):
        SqliteBackend.close(self)


class trusts_its_lock_files(FileLocks):
    trusts = True


class looks_and_then_locks(FileLocks):
    exclusive = False


class checks_and_then_sets(Shared):
    """Making a variable is no compare-and-set; moving one is."""

    def set_variable(self, variable, expected):
        if expected is None and self.variable(variable.name) is None:
            if not _meet(self.home, variable.name):
                while self.variable(variable.name) is None:
                    time.sleep(0.001)
            now = self.variable(variable.name)
            expected = now.checksum if now else None
        return super().set_variable(variable, expected)


class loses_updates(Shared):
    """Moving a variable is no compare-and-set; making one is."""

    def set_variable(self, variable, expected):
        before = self.variable(variable.name)
        if expected is not None and before is not None and before.checksum == expected:
            time.sleep(random.random() / 10)
            expected = self.variable(variable.name).checksum
        return super().set_variable(variable, expected)


class is_made_once_only(Shared):
    """Whoever opens it while another makes it fails."""

    def __init__(self, url, home):
        super().__init__(url, home)
        ready, making = self.home / "ready", self.home / "making"
        if ready.exists():
            return
        try:
            making.touch(exist_ok=False)
        except FileExistsError as error:
            raise StoreError("somebody is making this store") from error
        time.sleep(0.2)
        ready.touch()


class finishes_what_was_killed(Shared):
    """What a killed writer had not committed is written by the next one."""

    def __init__(self, url, home):
        super().__init__(url, home)
        self.left = self.home / "under-way"
        if self.left.exists():
            record = pickle.loads(self.left.read_bytes())
            self.left.unlink()
            self.put(record)

    def put(self, record):
        if self._in_transaction:
            self.left.write_bytes(pickle.dumps(record))
        return super().put(record)

    @contextlib.contextmanager
    def transaction(self, durable=True):
        try:
            with super().transaction(durable):
                yield
        finally:
            self.left.unlink(missing_ok=True)


class is_busy_while_others_write(Shared):
    """Reading fails while another process writes."""

    def get(self, ref):
        with contextlib.suppress(FileNotFoundError, ValueError):
            writer = int((self.home / "writer").read_text())
            if writer != os.getpid() and _lives(writer):
                raise StoreError("database is locked")
        return super().get(ref)

    @contextlib.contextmanager
    def transaction(self, durable=True):
        writer = self.home / "writer"
        with super().transaction(durable):
            writer.write_text(str(os.getpid()))
            yield
            time.sleep(0.005)  # so that a reader meets it on a quick disk as well
            writer.unlink()
