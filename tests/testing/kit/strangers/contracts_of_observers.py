"""The contracts of every wrong observer; test_wrong_observers.py runs it. Every run of uwf notifies
the observers that are installed, and waits for them: no other file of contracts has them.
"""

import os

import pytest
from folders import tmp_path
from kit_others.names import OBSERVERS
from short_form import shortened

from uwf_testing.observer_contract import ObserverContract

__all__ = ["tmp_path"]


class Observers(ObserverContract):
    __test__ = False
    stop_seconds = seconds = 2.0

    @pytest.fixture(autouse=True)
    def here(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    @pytest.fixture
    def observer(self):
        return type(self).__name__.removeprefix("Test_")


part, parts = map(int, os.environ.get("KIT_PART", "0/1").split("/"))
for name, clause in list(OBSERVERS.items())[part::parts]:
    contract = type(f"Test_{name}", (Observers,), {"__test__": True})
    globals()[contract.__name__] = shortened(contract, (clause,) if clause else ())
