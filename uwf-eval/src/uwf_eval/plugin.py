"""The plugin of this distribution: its judges. Importing it imports none of them."""

from collections.abc import Sequence

from uwf_core.api import JudgeSpec, hookimpl
from uwf_eval.judges.builtin_judges import builtin_specs


@hookimpl
def uwf_judges() -> Sequence[JudgeSpec]:
    """The built-in judges."""
    return builtin_specs()
