"""The stored calibrations: each under the identity of its judge and the digest of its set, so that
none is found for another prompt, model, options or labels.
"""

import hashlib
from typing import Final

from uwf_core.client import Client
from uwf_core.fields.records import payload_schema, read_payload, write_record
from uwf_core.ids import Ref
from uwf_eval.calibration.records import Calibration
from uwf_eval.records import JudgeIdentity

_NAMES: Final = "@uwf/eval/calibration/"
_FORMAT: Final = "1"


def save_calibration(client: Client, found: Calibration) -> str:
    """Store a calibration, and return its reference. It replaces an earlier one of the same judge
    and set.
    """
    nodes = client.nodes
    with nodes.transaction():
        kind = nodes.put_type(payload_schema(Calibration, "uwf eval calibration"), trusted=True)
        ref = nodes.put(kind, write_record(found), trusted=True)
        name = _name(found.identity, found.set_digest)
        before = nodes.name(name)
        if before is None or before.ref != ref:
            nodes.set_name(name, ref, {"format": _FORMAT}, before)
    return str(ref)


def find_calibration(client: Client, identity: JudgeIdentity, digest: str) -> Calibration | None:
    """The calibration of exactly this judge with exactly this set."""
    found = client.nodes.name(_name(identity, digest))
    if found is None or found.tags.get("format") != _FORMAT:
        return None
    return read_payload(Calibration, client.nodes.get(found.ref))


def copy_calibrations(source: Client, target: Client) -> None:
    """Copy all calibrations into another store, so that judges count in its runs too."""
    names = source.nodes.names(_NAMES)
    source.nodes.copy([each.ref for each in names], target.nodes)
    for each in names:
        before = target.nodes.name(each.name)
        if before is None or before.ref != each.ref:
            target.nodes.set_name(each.name, Ref(each.ref), each.tags, before)


def _name(identity: JudgeIdentity, digest: str) -> str:
    parts = (identity.judge, identity.prompt, identity.model, identity.options, digest)
    return _NAMES + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
