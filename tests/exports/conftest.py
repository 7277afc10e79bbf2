"""Recorded threads, and the tools of others, which `nox -s exports` installs."""

import importlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.exports.recorded import ALL

from uwf_core.api import RecordedThread
from uwf_core.client import Client


@pytest.fixture(scope="session", params=sorted(ALL))
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Client, Mapping[str, RecordedThread]]]:
    """The threads of a kind by name, with the client of their store."""
    with ALL[request.param](tmp_path_factory.mktemp(request.param)) as (uwf, threads):
        yield uwf, {name: uwf.thread(thread) for name, thread in threads.items()}


@pytest.fixture(scope="session")
def tool() -> Any:
    """Imports a module of another tool; skips where `nox -s exports` has not installed it."""

    def load(name: str) -> Any:
        if not os.environ.get("UWF_EXPORTS"):
            pytest.skip(f"{name} is installed by `nox -s exports`")
        return importlib.import_module(name)

    return load
