"""The promises of every store."""

from uwf_core.testing.store_contract import StoreContract
from uwf_store_files.plugin import uwf_stores


class TestContract(StoreContract):
    """Every clause of the contract."""

    spec = uwf_stores()[0]
    url = "files:store"
