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

    from uwf_core.cli.error_report import error_text
    from uwf_core.cli.render.colours import Screen
    from uwf_core.commands import main
    from uwf_improve.cli.main import command

    made = Desk(tmp_path)
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.folder)

    def call(*words: str):
        code = main(list(words), None, lambda: command)
        said = capsys.readouterr()
        done = made.result(code, said.out, said.err)
        if '"error"' in said.err:  # what a terminal shows of each failure has its reasons too
            text = error_text(done.error, Screen(80, True))
            reasons = [each["message"] for each in done.error.get("problems", ())]
            assert all(each in text for each in reasons or [done.error["message"]])
        return done

    made.call = call  # type: ignore[attr-defined]
    return made
