"""The wrong stores that outlive their process, most of them shared by several."""

# ruff: noqa: N801 (a class is called as its entry point is)

import contextlib
import fcntl
import hashlib
import json
import os
import pickle
import random
import time
from pathlib import Path

from uwf_core.api.store import Holder
from uwf_core.errors import StoreError
from uwf_core.stores.database import Database
from uwf_core.stores.sqlite import SqliteBackend
from uwf_testing.store_processes import COUNTER


class Shared(SqliteBackend):
    def __init__(self, url, home):
        self.home = Path(home)
        file = url.partition(":")[2] or "store"
        super().__init__(Database(str(self.home / f"{file}.db"), may_make_folder=True))


class ignores_its_url(Shared):
    def __init__(self, url, home):
        super().__init__("any:store", home)


class lets_everybody_read(Shared):
    def put(self, record):
        before = super().put(record)
        Path(self.location()).chmod(0o644)
        return before


class passes_system_errors_on(Shared):
    def __init__(self, url, home):
        list(Path(home).iterdir())
        super().__init__(url, home)


class gives_no_hint(Shared):
    def __init__(self, url, home):
        if not Path(home).is_dir():
            raise StoreError("it failed")
        super().__init__(url, home)


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

    trusts = False

    def __init__(self, url, home):
        super().__init__(url, home)
        self.mine = []

    def lock(self, name, holder):
        if self.holder(name) is not None:
            return None
        if not self.is_exclusive(name):
            _meet(self.home, name)
        file = self.file(name)
        part = file.with_name(f"part-{file.name}.{os.getpid()}")
        part.touch(mode=0o600)
        part.write_text(json.dumps([name, *holder]))
        try:
            if self.is_exclusive(name):
                os.link(part, file)
            else:
                part.replace(file)
        except FileExistsError:
            return None
        finally:
            part.unlink(missing_ok=True)
        handle = FileLock(file)
        self.mine.append(handle)
        return handle

    def is_exclusive(self, name):
        return True

    def holder(self, name):
        return self.held_in(self.file(name)).get(name)

    def held_in(self, file):
        try:
            name, *rest = json.loads(file.read_text())
        except (FileNotFoundError, ValueError):
            return {}
        holder = Holder(*rest)
        if not self.trusts and not _lives(holder.pid):
            file.unlink(missing_ok=True)
            return {}
        return {name: holder}

    def held(self):
        found = [self.held_in(file) for file in sorted(self.home.glob("lock-*"))]
        return {name: holder for each in found for name, holder in each.items()}

    def file(self, name):
        return self.home / f"lock-{hashlib.sha256(name.encode()).hexdigest()}"

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
    def is_exclusive(self, name):
        return not name.startswith("@uwf/lock/")


class takes_a_lock_to_look_at_it(Shared):
    def holder(self, name):
        handle = self.lock(name, Holder(1, "somebody", "somewhere", 0))
        if handle is None:
            return super().holder(name)
        time.sleep(0.001)
        handle.release()
        return None


class passes_locks_on_to_programs(Shared):
    def lock(self, name, holder):
        handle = super().lock(name, holder)
        os.set_inheritable(self._database.locks._file, True)
        return handle


class unlinks_locks_in_use(Shared):
    """The lock of the counter is a file that is unlinked when it is released: a process that
    opened it before locks what is no longer there.
    """

    def lock(self, name, holder):
        if name != COUNTER:
            return super().lock(name, holder)
        path = self.home / "counter.lock"
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        is_slow = not _meet(self.home, "@uwf/lock/counter")  # one of the two that race
        for _ in range(100 * is_slow):
            if _is_at(path, file):
                time.sleep(0.001)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        return UnlinkedLock(path, file)


class UnlinkedLock:
    def __init__(self, path, file):
        self.path, self.file = path, file

    def release(self):
        self.path.unlink(missing_ok=True)
        os.close(self.file)


def _is_at(path, file):
    try:
        return path.stat().st_ino == os.fstat(file).st_ino
    except FileNotFoundError:
        return False


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
        if ready.exists() or not self.home.is_dir():
            return
        try:
            making.touch(mode=0o600, exist_ok=False)
        except FileExistsError as error:
            raise StoreError("somebody is making this store") from error
        time.sleep(0.2)
        ready.touch(mode=0o600)


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
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                self.left.unlink()


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


class reads_on_within_a_snapshot(Shared):
    def snapshot(self):
        return contextlib.nullcontext()
