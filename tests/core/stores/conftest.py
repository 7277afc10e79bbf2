import time

import pytest

from uwf_core.cas.store import Store
from uwf_core.stores.open import open_backend


@pytest.fixture
def open_store(tmp_path):
    """Opens the SQLite store of this test, as often as wanted."""
    opened = []

    def open_it(url="sqlite:store.db", home=tmp_path):
        opened.append(Store(open_backend(url, str(home)), lambda: int(time.time() * 1000)))
        return opened[-1]

    yield open_it
    for store in opened:
        store.close()
