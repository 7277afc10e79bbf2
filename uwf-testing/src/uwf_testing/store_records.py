"""Test data of the store contract: records, variables, holders. Without pytest, so that the
processes of the contract start quickly.
"""

import os
from importlib import import_module

from uwf_core.api.store import Holder, Record, StoreBackend, StoreSpec, Variable
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of, sha256_of, variable_checksum
from uwf_core.ids import number_of

TEXT = PRIMITIVES["string"]


def number(ref: str) -> int:
    """A reference as a number."""
    found = number_of(ref)
    assert found is not None
    return found


def record(text: str, *, links: tuple[str, ...] = (), at_ms: int = 1000) -> Record:
    """A node of the primitive type `string`, with `links` as if its payload referred to them."""
    data = encode(text)
    edges = tuple(sorted({number(each) for each in (TEXT, *links)}))
    return Record(ref_of(TEXT, data), TEXT, sha256_of(TEXT, data), data, edges, at_ms, at_ms)


def variable(name: str, value: str = META, at_ms: int = 1000, **tags: str) -> Variable:
    """A variable with the checksum that the core would give it."""
    checksum = variable_checksum(name, value, tags, at_ms, at_ms)
    return Variable(name, value, tags, at_ms, at_ms, checksum)


def holder(since_ms: int = 7) -> Holder:
    """This process, as the holder of a lock."""
    return Holder(os.getpid(), "start", "host", since_ms)


def opened(spec: StoreSpec, url: str, home: str) -> StoreBackend:
    """The backend, made by its factory."""
    module, _, attribute = spec.factory.partition(":")
    backend: StoreBackend = getattr(import_module(module), attribute)(url, home)
    return backend
