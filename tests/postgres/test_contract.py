"""The store of PostgreSQL keeps every promise of the store contract."""

import pytest

from uwf_store_postgres.plugin import uwf_stores
from uwf_testing.store_contract import StoreContract


class TestPostgres(StoreContract):
    spec = uwf_stores()[0]
    lease_seconds = 4

    @pytest.fixture(autouse=True)
    def _own_store(self, another_url) -> None:
        """`touch=0`: times of puts are exact, as the clauses expect them."""
        self.url = another_url(lease="4", touch="0")
        self.other_url = another_url(lease="4", touch="0")
