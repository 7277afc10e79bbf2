"""The contract of every wrong store; test_wrong_stores.py runs it in processes of their own."""

import os

from folders import tmp_path
from kit_stores.names import ALSO_BREAKS, BREAKS
from kit_stores.plugin import spec_of
from short_form import shortened

from uwf_testing.store_contract import StoreContract

__all__ = ["tmp_path"]

part, parts = map(int, os.environ.get("KIT_PART", "0/1").split("/"))
for name in [*reversed(BREAKS)][part::parts]:
    members = {"spec": spec_of(name), "url": f"{name}:", "racers": 2, "rounds": 8}
    contract = type(f"Test_{name}", (StoreContract,), members)
    globals()[contract.__name__] = shortened(contract, (BREAKS[name], *ALSO_BREAKS.get(name, ())))
