"""A judge that failed: no score, and never a low one."""

from uwf_core.errors import UwfError


class JudgeFailed(UwfError):
    """The judge cannot say how good the trial is."""

    code = "judge-failed"
