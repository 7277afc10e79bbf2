"""The judges of this distribution as records. Importing this imports none of them, and no hooks."""

from collections.abc import Sequence

from uwf_core.api import JudgeSpec

_ROOM = "uwf_eval.judges.builtin"


def house_specs() -> Sequence[JudgeSpec]:
    """The judges of the house: those that count and compare, then those that ask a model."""
    return [
        _spec("frontmatter-compliance", "frontmatter:Compliance", "share of steps that were valid"),
        _spec("expected-route", "route:ExpectedRoute", "whether the roles ran that should have"),
        _spec("command", "command:CommandJudge", "a program's exit code, or a number it prints"),
        _spec("diff-size", "diff_size:DiffSize", "how many lines differ from the fixture"),
        _spec("cost", "amounts:Cost", "what the thread cost, in USD", "CostOptions"),
        _spec("duration", "amounts:Duration", "how long the steps took", "DurationOptions"),
        _spec("token-stats", "tokens:TokenStats", "tokens and turns, in all and by role", None),
        _spec("rubric", "rubric:Rubric", "a model judges by criteria of your own"),
        _spec("hallucination", "claims:Hallucination", "a model looks for claims without a source"),
        _spec(
            "upstream-consumption", "upstream:Upstream", "a model asks if each role used its input"
        ),
    ]


def _spec(name: str, place: str, summary: str, options: str | None = "Options") -> JudgeSpec:
    module = place.partition(":")[0]
    return JudgeSpec(
        name=name,
        summary=summary,
        factory=f"{_ROOM}.{place}",
        options=None if options is None else f"{_ROOM}.{module}:{options}",
    )
