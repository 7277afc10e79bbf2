"""A desk per test, and its commands in this process."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from desk import Desk

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch, capsys) -> "Desk":
    from desk import Desk

    from uwf_core.cli.main import main
    from uwf_improve.cli.main import ImproveGroup

    made = Desk(tmp_path)
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.folder)

    def call(*words: str):
        code = main(list(words), None, ImproveGroup)
        said = capsys.readouterr()
        return made.result(code, said.out, said.err)

    made.call = call  # type: ignore[attr-defined]
    return made
