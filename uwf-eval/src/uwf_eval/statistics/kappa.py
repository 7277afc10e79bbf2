"""Agreement of a judge with labels, less what chance gives: Cohen's kappa with its interval."""

from dataclasses import dataclass

from uwf_eval.statistics.intervals import Interval, wilson_interval

_CERTAIN = 1e-9


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How two raters label the same items as passed or failed.

    Attributes:
        items: their number. same: on how many both agree.
        one, other: the share that each passes.
    """

    items: int
    same: int
    one: float
    other: float

    @property
    def chance(self) -> float:
        """The share on which raters with these shares agree by chance."""
        return self.one * self.other + (1 - self.one) * (1 - self.other)

    @property
    def kappa(self) -> float:
        """(o - e) / (1 - e), o the share of equal labels, e that by chance; 0 if a rater gives
        all items the same label.

        J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
        Measurement 20 (1960) 37-46.
        """
        return self._less_chance(self.same / self.items)

    def interval(self, level: float = 0.95) -> Interval:
        """The interval of kappa: that of Wilson for the share of equal labels, less chance.

        The usual interval, kappa ± z standard errors, has no width where both agree on all items.
        The share by chance is taken as known. A simulation in the tests shows that the interval
        holds the true kappa in at least 90 of 100 sets, and that its low end is too high in at
        most 3 of them.
        """
        if self._is_certain:
            return Interval(low=-1.0, high=1.0)
        seen = wilson_interval(self.same, self.items, level)
        low, high = self._less_chance(seen.low), self._less_chance(seen.high)
        return Interval(low=max(low, -1.0), high=min(high, 1.0))

    @property
    def _is_certain(self) -> bool:
        return self.chance >= 1 - _CERTAIN

    def _less_chance(self, share: float) -> float:
        return 0.0 if self._is_certain else (share - self.chance) / (1 - self.chance)
