"""The connection to another machine is encrypted, and only to the server of the certificate."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import Server

from uwf_core.errors import StoreError
from uwf_store_postgres.backend import open_postgres

NAME = "db.example.org"
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def authority(folder: Path, name: str) -> None:
    """An authority: NAME.crt and NAME.key."""
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key",
            "-out", f"{name}.crt")  # fmt: skip


def certificate(folder: Path, host: str) -> None:
    """A certificate for a host, of the authority `ours`: HOST.crt and HOST.key."""
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", f"/CN={host}", "-keyout", f"{host}.key", "-out", "request")  # fmt: skip
    (folder / "names").write_text(f"subjectAltName=DNS:{host}\n")
    signed = "-CA", "ours.crt", "-CAkey", "ours.key", "-CAcreateserial", "-extfile", "names"
    openssl(folder, "x509", "-req", "-in", "request", *signed, "-days", "2", "-out", f"{host}.crt")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("ours", "theirs"):
        authority(folder, name)
    for host in (NAME, "other.example.org"):
        certificate(folder, host)
    return folder


class Encrypted:
    """The server with the certificate of a host, or with none."""

    def __init__(self, server: Server, url: str, folder: Path) -> None:
        self._server, self._url, self.folder = server, url, folder

    def use(self, host: str | None) -> None:
        for kind in ("crt", "key") if host else ():
            self._server.give(self.folder / f"{host}.{kind}", f"server.{kind}")
        for name, value in {
            "ssl_cert_file": "server.crt",
            "ssl_key_file": "server.key",
            "ssl": "on" if host else "off",
        }.items():
            self._server.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        self._server.execute("SELECT pg_reload_conf()")
        while self._server.execute("SHOW ssl") != [("on" if host else "off",)]:
            time.sleep(0.01)

    def url(self, **options: str) -> str:
        """The URL as on another machine: the name is not that of this one."""
        given = "".join(f"&{name}={value}" for name, value in options.items())
        return self._url.replace("127.0.0.1", NAME) + "&hostaddr=127.0.0.1" + given


@pytest.fixture
def encrypted(server, url, certificates, monkeypatch, tmp_path) -> Iterator[Encrypted]:
    monkeypatch.setenv("HOME", str(tmp_path))  # no authorities of the user
    for name in ("PGSSLMODE", "PGSSLROOTCERT"):
        monkeypatch.delenv(name, raising=False)
    made = Encrypted(server, url, certificates)
    yield made
    made.use(None)


def test_a_server_with_the_right_certificate_is_used_encrypted(encrypted):
    encrypted.use(NAME)
    backend = open_postgres(encrypted.url(sslrootcert=str(encrypted.folder / "ours.crt")), "")
    assert backend.facts()["tls"] is True
    backend.close()


@pytest.mark.parametrize(
    ("host", "trusted", "what", "cure"),
    [
        (NAME, "theirs.crt", "not signed by an authority that you trust", "sslrootcert=FILE"),
        (NAME, None, "not signed by an authority that you trust", "~/.postgresql/root.crt"),
        ("other.example.org", "ours.crt", "for another host", "as the certificate names it"),
        (None, "ours.crt", "offers no TLS", "sslmode=disable"),
        (NAME, "missing.crt", "is missing", "sslrootcert"),
    ],
)
def test_any_other_server_is_refused_with_the_cure(encrypted, host, trusted, what, cure):
    """By default, without any option: nothing is sent to a server that cannot be verified."""
    encrypted.use(host)
    options = {"sslrootcert": str(encrypted.folder / trusted)} if trusted else {}
    with pytest.raises(StoreError) as caught:
        open_postgres(encrypted.url(**options), "").variable("@uwf/a")
    assert what in caught.value.message
    assert cure in (caught.value.hint or "")


def test_a_user_can_choose_otherwise(encrypted):
    encrypted.use(None)
    backend = open_postgres(encrypted.url(sslmode="disable"), "")
    assert backend.facts()["tls"] is False
    backend.close()
