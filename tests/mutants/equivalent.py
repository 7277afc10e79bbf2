"""Edits at random places after which the program behaves the same: no test can notice them."""

from collections.abc import Mapping
from types import MappingProxyType

_DISTRIBUTIONS = "uwf-eval/src/uwf_eval/statistics/distributions.py"

EQUIVALENT: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (_DISTRIBUTIONS, "break -> continue"): "further terms of the fraction change nothing",
        (
            "uwf-eval/src/uwf_eval/statistics/intervals.py",
            "1e-15 -> 2e-15",
        ): "both are far above the rounding of a variance and below that of any two scores",
        (
            "uwf-core/src/uwf_core/config/edit.py",
            "raise _CannotEdit -> pass",
        ): "the text is compared with what was asked, and refused as well",
        (
            "uwf-core/src/uwf_core/config/trust.py",
            "raise _unreadable(file) from error -> pass",
        ): "the same error follows, without its cause",
    }
)
"""Why, by the file below the checkout and the change as a run prints it."""
