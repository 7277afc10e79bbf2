"""A judge that gave no score."""

from uwf_core.errors import UwfError


class JudgeFailed(UwfError):
    """The judge itself says that it cannot judge, or was not asked: the trial counts as nothing."""

    code = "judge-failed"


class JudgeAborted(JudgeFailed):
    """The judge ended without a verdict in a way that what the agent made can bring about, as it
    ran below the judge: the trial counts as 0.
    """

    code = "judge-aborted"
