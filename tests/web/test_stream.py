"""The stream of changes: one poller serves all browsers, and ends with the last of them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from uwf_core.errors import StoreError
from uwf_web.stream import MOST_STREAMS, Changes


class Store:
    """Counts who reads it, and how often; `version` None: it is away."""

    def __init__(self) -> None:
        self.version: int | None = 1
        self.opened = self.closed = self.reads = 0

    def open(self) -> "Store":
        self.opened += 1
        return self

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_error: object) -> None:
        self.closed += 1

    def changes(self) -> int:
        self.reads += 1
        if self.version is None:
            raise StoreError("it is away")
        return self.version


class Browser:
    """Listens until it goes."""

    def __init__(self, changes: Changes) -> None:
        self.text, self._gone = "", asyncio.Event()
        stream = changes.stream(None)
        assert stream is not None
        scope: Any = {"type": "http", "asgi": {"spec_version": "2.0"}}
        self._listening = asyncio.ensure_future(stream(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.text += message.get("body", b"").decode()

    async def go(self) -> None:
        self._gone.set()
        await self._listening

    @property
    def heard(self) -> int:
        return self.text.count("event: changed")


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.01)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uwf_web.stream.POLL_SECONDS", 0.01)
    monkeypatch.setattr("uwf_web.stream.BLIND_SECONDS", 0.01)


def test_one_poller_serves_all_browsers_and_ends_with_the_last_of_them() -> None:
    async def scene() -> None:
        store = Store()
        changes = Changes(store.open)  # type: ignore[arg-type]
        first, second = Browser(changes), Browser(changes)
        await until(lambda: store.reads > 1 and (first.heard, second.heard) == (1, 1))
        store.version = 2
        await until(lambda: (first.heard, second.heard) == (2, 2))
        await first.go()
        seen = store.reads
        await until(lambda: store.reads > seen + 1)
        assert (store.opened, store.closed) == (1, 0)
        await second.go()
        await until(lambda: store.closed == 1)
        third = Browser(changes)
        await until(lambda: store.opened == 2 and third.heard == 1)
        await third.go()
        await until(lambda: store.closed == 2)

    asyncio.run(scene())


def test_a_store_that_is_away_is_read_again_and_pages_show_that() -> None:
    async def scene() -> None:
        store = Store()
        store.version = None
        browser = Browser(Changes(store.open))  # type: ignore[arg-type]
        await until(lambda: browser.heard > 2)
        store.version = 1
        await until(lambda: store.reads > 5)
        await asyncio.sleep(0.1)
        heard = browser.heard
        await asyncio.sleep(0.1)
        assert browser.heard == heard
        await browser.go()
        await until(lambda: store.closed == 1)

    asyncio.run(scene())


def test_a_browser_that_has_gone_makes_room_for_another() -> None:
    async def scene() -> None:
        changes = Changes(Store().open)  # type: ignore[arg-type]
        browsers = [Browser(changes) for _ in range(MOST_STREAMS)]
        assert changes.stream(None) is None
        await browsers.pop().go()
        browsers.append(Browser(changes))
        assert changes.stream(None) is None
        changes.close()
        await asyncio.gather(*(each.go() for each in browsers))

    asyncio.run(scene())
