"""What an estimate and its range are."""

from uwf_core.api.record import record


@record
class Interval:
    """A range in which the true value lies at the level that was asked for, ends included."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether `value` lies within."""
        return self.low <= value <= self.high

    def inside(self, margin: float) -> bool:
        """Whether all of it lies within -margin … +margin."""
        return -margin <= self.low and self.high <= margin


@record
class Estimate:
    """A mean over groups (tasks), with its interval where the data allow one.

    Attributes:
        mean: of the groups' means, so that each group counts alike.
        interval: None where there is no way to know one (a single group, or an unbounded quantity
            that never varied).
        groups: how many there are. values: how many in all of them.
    """

    mean: float
    interval: Interval | None
    groups: int
    values: int
