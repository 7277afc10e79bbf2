"""The promises of every store."""

from uwf_store_files.plugin import uwf_stores
from uwf_testing.store_contract import StoreContract


class TestContract(StoreContract):
    """Every clause of the contract."""

    spec = uwf_stores()[0]
    url = "files:store"
