"""A table to try tasks on."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

_spec = importlib.util.spec_from_file_location(
    "trial_kit", Path(__file__).with_name("trial_kit.py")
)
assert _spec is not None and _spec.loader is not None
_kit = importlib.util.module_from_spec(_spec)
sys.modules["trial_kit"] = _kit
_spec.loader.exec_module(_kit)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return _kit.Table(tmp_path)
