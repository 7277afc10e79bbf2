"""The fixtures of the store contract: those of the author, and the opened backends."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from uwf_core.api.store import CAPABILITIES, StoreBackend, StoreSpec
from uwf_core.plugins.scan import STORES
from uwf_core.stores.open import HOUSE
from uwf_testing.plugin_contract import PluginContract
from uwf_testing.store_processes import Place

Another = Callable[[], StoreBackend]


class StoreFixtures(PluginContract):
    """The fixtures of a store contract. An author sets `spec` and `url`."""

    kind = "store"
    group = STORES

    spec: ClassVar[StoreSpec]
    """The record of the backend under test."""

    url: ClassVar[str]
    """The URL to open; each test gives another home folder."""

    lease_seconds: ClassVar[float] = 30
    """When a lease expires that its holder does not renew, for a backend with leases."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        """The location of this test's store."""
        return Place(self.spec, self.url, str(tmp_path))

    @pytest.fixture
    def another(self, place: Place) -> Iterator[Another]:
        """Opens the store of this test once more."""
        made: list[StoreBackend] = []

        def open_it() -> StoreBackend:
            made.append(place.open())
            return made[-1]

        yield open_it
        for backend in made:
            backend.close()

    @pytest.fixture
    def backend(self, another: Callable[[], StoreBackend]) -> StoreBackend:
        """The store of this test."""
        return another()

    @pytest.fixture
    def plugin_name(self) -> str:
        """The name of the entry point, which is the scheme of the URL."""
        if any(spec.name == self.spec.name for spec in HOUSE):
            pytest.skip("a built-in store has no entry point")
        return self.spec.name

    def check_record(self, record: Any) -> None:
        """The registered record is `spec`, with known capabilities."""
        assert record == self.spec
        unknown = sorted(set(self.spec.capabilities) - CAPABILITIES)
        assert not unknown, f"unknown capabilities: {', '.join(unknown)}"

    def subject(self, request: pytest.FixtureRequest) -> str:
        """The store's scheme."""
        return self.spec.name

    def declared(self, request: pytest.FixtureRequest) -> frozenset[str]:
        """The backend's capabilities."""
        return self.spec.capabilities
