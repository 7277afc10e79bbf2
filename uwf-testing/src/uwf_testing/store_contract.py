"""The promises of every storage backend, as tests: subclass `StoreContract` and set your record.

```python
from uwf_testing.store_contract import StoreContract

class TestFiles(StoreContract):
    spec = StoreSpec(name="files", summary="…", factory="uwf_store_files.backend:open_files")
    url = "files:nodes"
```

Clauses that need a capability which `spec.capabilities` does not declare are skipped with the
reason.
"""

from uwf_testing.contract import KIT_VERSION, Contract  # first: it registers the rewriting

# isort: split
from uwf_testing.store_commits import CommitClauses, LeaseClauses, SnapshotClauses
from uwf_testing.store_concurrency import ConcurrencyClauses
from uwf_testing.store_nodes import NodeClauses, TransactionClauses
from uwf_testing.store_places import PlaceClauses
from uwf_testing.store_variables import LockClauses, VariableClauses

__all__ = ["KIT_VERSION", "Contract", "StoreContract"]


class StoreContract(
    NodeClauses,
    TransactionClauses,
    CommitClauses,
    SnapshotClauses,
    VariableClauses,
    LockClauses,
    LeaseClauses,
    PlaceClauses,
    ConcurrencyClauses,
):
    """The promises of `StoreBackend`."""
