"""The backends of the house under the contract that every backend is under."""

from uwf_core.stores.open import HOUSE
from uwf_testing.store_contract import StoreContract

SPECS = {spec.name: spec for spec in HOUSE}


class TestSqlite(StoreContract):
    spec = SPECS["sqlite"]
    url = "sqlite:store.db"


class TestMemory(StoreContract):
    spec = SPECS["memory"]
    url = "memory:"
