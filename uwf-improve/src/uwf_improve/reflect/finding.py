"""A finding, and when something is seen often enough to be one."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from uwf_eval.statistics.intervals import wilson_interval

Carrier = Literal["procedure", "memory", "workflow", "agent"]
"""What carries the lesson: the goal, procedure or skill of a role; files of memory; a simpler
workflow; the agent, its model or its rights.
"""

Kind = Literal[
    "never-rejects", "never-reached", "sent-back", "corrected", "failed", "asked", "poked",
    "costly", "slow", "same-lookup", "denied", "limit", "abandoned",
]  # fmt: skip

CARRIER_OF: Final[Mapping[Kind, Carrier]] = {
    "never-rejects": "workflow", "never-reached": "workflow", "sent-back": "procedure",
    "corrected": "procedure", "failed": "agent", "asked": "memory", "poked": "procedure",
    "costly": "agent", "slow": "agent", "same-lookup": "memory", "denied": "agent",
    "limit": "procedure", "abandoned": "procedure",
}  # fmt: skip

LEAST_THREADS: Final = 5
"""Fewer threads show nothing that could be called a habit."""
LEAST_VISITS: Final = 10
"""After so many visits, an outcome that was never seen is below 26 % (95 % confidence)."""
LEVEL: Final = 0.9
"""Rates are compared by the lower end of their interval, so that few cases prove nothing."""
SHOWN: Final = 5


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that happened again and again.

    Attributes:
        number: in the order of the list, from 1.
        place: the role, or `role.status`.
        text: one sentence. phrase: what the texts of these steps share.
        count, of: how often, of how many visits or threads.
        carrier: what could change it.
        steps: that show it, newest first, at most `SHOWN`; `threads`: of all of them, how many.
    """

    number: int = 0
    kind: Kind
    place: str
    text: str
    count: int
    of: int
    carrier: Carrier
    phrase: str | None = None
    steps: Sequence[str] = ()
    threads: int = 0

    @property
    def share(self) -> float:
        """How often it happened, from 0 to 1."""
        return self.count / self.of if self.of else 0.0


def is_habit(count: int, of: int, least: float) -> bool:
    """Whether `count` of `of` shows a rate above `least`, and not only by chance."""
    return count >= 3 and wilson_interval(count, of, LEVEL).low > least


def shared_phrase(texts: Sequence[Sequence[str]], words: int = 3) -> str | None:
    """The words in a row that most of the texts contain, as long as possible; None if there are
    none in at least 60 % of them.

    Args:
        texts: of each step its texts. words: the least number in a row.
    """
    least = max(3, -(-len(texts) * 6 // 10))
    tokens = [[re.findall(r"[\w'-]+", text.casefold()) for text in each] for each in texts]
    best: str | None = None
    for size in range(words, 9):
        counts: Counter[str] = Counter()
        for step in tokens:
            counts.update(
                {" ".join(t[i : i + size]) for t in step for i in range(len(t) - size + 1)}
            )
        phrase, count = max(counts.items(), key=lambda each: (each[1], each[0]), default=("", 0))
        if count < least:
            break
        best = phrase
    return best
