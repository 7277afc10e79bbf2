"""A calibration set as it is written, and what was measured with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from uwf_core.api import Usage
from uwf_core.fields.mismatch import NOT_BLANK, between
from uwf_eval.records import JudgeIdentity

_Share = between(0, 1)


@dataclass(frozen=True, kw_only=True)
class CalibrationItem:
    """One result with its gold label."""

    name: Annotated[str, "Unique within the set.", NOT_BLANK]
    prompt: Annotated[str, "The task that the result is for."] = ""
    handed: Annotated[str, "What the role before had delivered."] = ""
    result: Annotated[str, "What was delivered."] = ""
    files: Annotated[Mapping[str, str], "Files of the trial's folder: text by path."] = field(
        default_factory=dict
    )
    gold: Annotated[float, "The score that a person gives it, from 0 to 1.", _Share]


@dataclass(frozen=True, kw_only=True)
class JudgeBar:
    """What a judge must reach to count: with the bad end of each 95 % interval."""

    agreement: Annotated[float, "Agreement with itself, at least.", _Share] = 0.8
    kappa: Annotated[float, "Cohen's kappa against the gold labels, at least.", _Share] = 0.4
    position: Annotated[float, "Change of the score by another order, at most.", _Share] = 0.2
    length: Annotated[float, "Change of the score by a longer text, at most.", _Share] = 0.2


@dataclass(frozen=True, kw_only=True)
class CalibrationFile:
    """A calibration set."""

    version: Annotated[int, "The format of this file: 1.", between(1, 1)] = 1
    pass_: Annotated[float, "From which score on an item passes.", _Share] = 0.5
    bar: Annotated[JudgeBar, "What the judge must reach."] = JudgeBar()
    items: Annotated[tuple[CalibrationItem, ...], "Results with their gold labels."]


FigureName = Literal["agreement", "kappa", "position", "length"]
FigureVerdict = Literal["reached", "below", "cannot_tell", "not_measured"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One property of a judge.

    Attributes:
        value: None if it was not measured. low, high: its 95 % interval.
        bar: of `JudgeBar`.
        verdict: `reached` or `below` if the whole interval is on that side of the bar.
        items: on which it was measured.
    """

    name: FigureName
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bar: float
    verdict: FigureVerdict = "not_measured"
    items: int = 0


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What was measured of one judge.

    Attributes:
        set_digest: SHA-256 over the set's file, in hexadecimal.
        items: their number. passing: with a gold label that passes; judged_passing: with a mean
            score that passes. same: on which both agree. chance: the share of items on which both
            would agree by chance.
        runs: how often each item was judged as it is. asked: all judgements. failed: those
            without a score.
        needed: the fewest items with which a perfect judge could reach this bar.
        verdict: `reached` if all measured figures reach their bars.
        usage: of all judgements.
    """

    identity: JudgeIdentity
    set_digest: str
    items: int
    passing: int
    judged_passing: int
    same: int
    chance: float
    runs: int
    asked: int
    failed: int
    needed: int
    figures: Sequence[Figure]
    verdict: Literal["reached", "below", "cannot_tell"]
    usage: Usage
