"""What this distribution announces to uwf: its judges. Importing it imports none of them."""

from collections.abc import Sequence

from uwf_core.api import JudgeSpec, hookimpl
from uwf_eval.judges.specs import house_specs


@hookimpl
def uwf_judges() -> Sequence[JudgeSpec]:
    """The judges of the house."""
    return house_specs()
