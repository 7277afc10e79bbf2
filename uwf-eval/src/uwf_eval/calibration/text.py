"""The text of `uwf eval calibrate`."""

from collections.abc import Mapping
from typing import Any, Final

from uwf_core.api import Usage
from uwf_core.commands import Screen, clean, fields
from uwf_core.fields.records import read_record
from uwf_eval.calibration.records import Calibration, Figure
from uwf_eval.report.numbers import NONE, cost_of, percent, score, tokens_of
from uwf_eval.report.tables import Columns, Heading, table_of, table_text

_WORDS: Final = {
    "reached": "reached",
    "below": "below the bar",
    "cannot_tell": "cannot tell",
    "not_measured": "not measured",
}
_OWN: Final = ("task", "name", "set", "weight", "ref")


def calibrations_text(document: Mapping[str, Any], screen: Screen) -> str:
    """Render the calibrations of a command."""
    return "\n\n".join(_one(each, screen) for each in document["calibrations"])


def _one(document: Mapping[str, Any], screen: Screen) -> str:
    name = f"{document['name']} of {document['task']}"
    if document["verdict"] is None:
        planned = f"{document['items']} items, {document['asked']} judgements"
        return fields([("judge", clean(name)), ("would ask", planned)], screen)
    found = read_record(
        Calibration, {key: value for key, value in document.items() if key not in _OWN}
    )
    parts = [
        fields(
            [
                ("judge", clean(f"{name} ({found.identity.judge})")),
                ("model", clean(found.identity.model) or None),
                ("set", f"{found.items} items; {_share(found.passing, found)} pass by their label"),
                ("passes", _share(found.judged_passing, found) + _constant(found)),
                ("agrees", f"on {_share(found.same, found)}; {percent(found.chance)} by chance"),
                ("failed", f"{found.failed} of {found.asked} judgements" if found.failed else None),
                ("used", _used(found.usage)),
            ],
            screen,
        ),
        table_text(table_of("Figures", _FIGURES, found.figures), screen),
        _verdict(found, document["weight"], screen),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _share(number: int, found: Calibration) -> str:
    return f"{number} ({percent(number / found.items)})"


def _constant(found: Calibration) -> str:
    same = found.judged_passing in (0, found.items)
    return "; it gives every item the same verdict" if same else ""


def _used(usage: Usage) -> str | None:
    return None if usage.tokens is None else f"{tokens_of(usage)} tokens, {cost_of(usage)}"


def _interval(each: Figure) -> str:
    low, high = each.low, each.high
    return NONE if low is None or high is None else f"{low:.2f} … {high:.2f}"


def _bar(each: Figure) -> str:
    return f"{'≥' if each.name in ('agreement', 'kappa') else '≤'} {each.bar:g}"


_FIGURES: Final[Columns] = (
    (Heading("Figure", least=10), lambda each: each.name),
    (Heading("Value", "number"), lambda each: score(each.value)),
    (Heading("95%", "number", rank=1), _interval),
    (Heading("Bar", "number", rank=2), _bar),
    (Heading("Items", "number", rank=3), lambda each: str(each.items) if each.items else NONE),
    (Heading("Verdict", least=8), lambda each: _WORDS[each.verdict]),
)


def _verdict(found: Calibration, weight: float, screen: Screen) -> str:
    if found.verdict == "reached":
        return screen.paint(f"The judge reaches its bar and counts with weight {weight:g}.", "ok")
    short = found.needed > found.items or found.verdict == "cannot_tell"
    why = "is below its bar" if found.verdict == "below" else "may or may not reach its bar"
    line = f"The judge {why}: it has weight 0 in every run."
    if not short:
        return screen.paint(line, "error")
    if not found.needed:
        return f"{line} No number of items can show that a judge reaches this bar."
    more = f"a perfect judge needs at least {found.needed} items like these"
    return f"{line} Label more items: {more}."
