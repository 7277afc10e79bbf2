"""The server imports what its first page needs and no more; `uwf web` calls no server to print."""

import http.client
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from levels import LEVELS, WEB
from startup_kit import LAUNCHER, Place
from test_modules import unwanted

pytest.importorskip("uwf_web")


def test_a_server_imports_what_its_first_page_needs(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "modules"
    server = subprocess.Popen(
        [sys.executable, LAUNCHER, out, "web", "--port", "0"],
        cwd=place.project, env=place.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        text = "".join(iter(server.stdout.readline, "}\n")) + "}"
        link = urlsplit(json.loads(text)["url"])
        assert page(link.netloc, f"/?{link.query}").startswith("<!doctype html>")
    finally:
        server.terminate()
        server.communicate(timeout=30)
    modules = set(out.read_text().split())
    assert {"uvicorn", "httptools", "jinja2", "uwf_web.pages.threads"} <= modules
    assert unwanted(modules, WEB) == []


def page(host: str, path: str) -> str:
    """A page as a browser gets it that opens a link."""
    port = int(host.rpartition(":")[2])
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("GET", path, headers={"host": host})
        answer = connection.getresponse()
        answer.read()
        cookie = str(answer.headers["set-cookie"]).partition(";")[0]
        connection.request("GET", "/", headers={"host": host, "cookie": cookie})
        return connection.getresponse().read().decode()


def test_without_a_server_nothing_of_one_is_imported(place: Place, tmp_path: Path) -> None:
    code, modules, _ = place.modules_of(["web", "stop"], tmp_path / "modules")
    assert code == 2
    assert unwanted({each for each in modules if not each.startswith("uwf_web")}, LEVELS[2]) == []
