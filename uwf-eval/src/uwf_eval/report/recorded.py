"""The trials of recorded steps: what equals the record, and what the trials got."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from uwf_eval.records import StepTrial, Trial
from uwf_eval.report.configurations import Configurations
from uwf_eval.report.estimates import Rate, rate_of
from uwf_eval.report.groups import COUNTED
from uwf_eval.report.tables import Columns, Heading, Table, rate_value, table_of


@dataclass(frozen=True, kw_only=True)
class FieldShare:
    """A field of the recorded outputs: in how many trials it is equal."""

    name: str
    equal: Rate


@dataclass(frozen=True, kw_only=True)
class RecordedShare:
    """The trials of recorded steps in one configuration, of those that count.

    Rates have one cluster for each recorded thread.

    Attributes:
        valid: with valid output. status: with the recorded `$status`; invalid output has none.
        fields: by field, of the trials whose record has it.
        corrections: rejected replies.
        sessions: the number of trials by `StepTrial.session`; without those that did not begin.
        same_prompts: trials with the recorded prompt, of `prompts`: all but fresh sessions.
        files: the number of trials by `StepTrial.files`.
    """

    configuration: str
    trials: int
    valid: Rate
    status: Rate
    fields: Sequence[FieldShare]
    corrections: int
    sessions: Mapping[str, int]
    same_prompts: int
    prompts: int
    files: Mapping[str, int]


def recorded_of(trials: Sequence[Trial]) -> Sequence[RecordedShare]:
    """The shares of each configuration; none without trials of recorded steps."""
    counted = [each for each in trials if each.state in COUNTED and each.recorded is not None]
    known = Configurations(each.cell for each in trials)
    shares = []
    for key, configuration in known.all().items():
        own = [each for each in counted if known.key(each.cell) == key]
        if own:
            shares.append(_share(configuration.label, own))
    return shares


def _share(label: str, trials: Sequence[Trial]) -> RecordedShare:
    found = [each.recorded for each in trials if each.recorded is not None]
    names = dict.fromkeys(name for each in found for name in each.fields)
    compared = [each for each in found if each.session in ("new", "forked")]
    return RecordedShare(
        configuration=label,
        trials=len(found),
        valid=_rate(found, lambda each: each.got is not None),
        status=_rate(found, lambda each: each.same_status),
        fields=[
            FieldShare(name=name, equal=_rate([x for x in found if name in x.fields], _has(name)))
            for name in names
        ],
        corrections=sum(each.corrections for each in found),
        sessions=Counter(each.session for each in found if each.session is not None),
        same_prompts=sum(each.prompt is True for each in compared),
        prompts=len(compared),
        files=Counter(each.files for each in found),
    )


def _has(name: str) -> Callable[[StepTrial], bool]:
    return lambda each: each.fields[name]


def _rate(found: Iterable[StepTrial], holds: Callable[[StepTrial], bool]) -> Rate:
    threads: dict[str, list[float]] = {}
    for each in found:
        threads.setdefault(each.thread, []).append(float(holds(each)))
    return rate_of(list(threads.values()))


def recorded_tables(shares: Sequence[RecordedShare]) -> list[Table]:
    """What equals the record, by field; and what the trials got. None for other runs."""
    if not shares:
        return []
    return [_results(shares), _fields(shares), _inputs(shares)]


def _results(shares: Sequence[RecordedShare]) -> Table:
    columns: Columns = (
        (Heading("Recorded steps", least=16), lambda each: each.configuration),
        (Heading("Trials", "number"), lambda each: f"{each.trials:,}"),
        (Heading("Valid output", "number", beside="95%"), lambda each: rate_value(each.valid)),
        (
            Heading("Same status", "number", beside="95%", drawn="Share with the recorded status"),
            lambda each: rate_value(each.status, shares.index(each)),
        ),
        (Heading("Corrections", "number", rank=1), lambda each: f"{each.corrections:,}"),
    )
    note = (
        "Each trial makes one recorded step again. The record is what happened, which can be "
        "wrong: a role that does better differs from it, too."
    )
    return table_of("Recorded steps", columns, shares, note=note)


def _fields(shares: Sequence[RecordedShare]) -> Table:
    several = len(shares) > 1
    columns: Columns = (
        (Heading("Field", least=10), lambda each: each[2].name),
        (
            Heading("Configuration", least=14, rank=1),
            lambda each: each[1].configuration if several else "",
        ),
        (Heading("Trials", "number"), lambda each: f"{each[2].equal.trials:,}"),
        (
            Heading("Equal", "number", beside="95%", drawn="Share equal to the record"),
            lambda each: rate_value(each[2].equal, each[0]),
        ),
    )
    note = "A field that the output lacks is not equal. Free text is rarely equal in two replies."
    fields = [(n, each, field) for n, each in enumerate(shares) for field in each.fields]
    return table_of("Fields", columns, fields, note=note)


def _inputs(shares: Sequence[RecordedShare]) -> Table:
    columns: Columns = (
        (Heading("Inputs", least=16), lambda each: each.configuration),
        (Heading("Prompt", "words", least=12), _prompts),
        (Heading("Session", "words", least=12), lambda each: _counts(each.sessions)),
        (Heading("Files", "words", least=12), lambda each: _counts(each.files)),
    )
    note = (
        "Prompt: as recorded, but for the id and folder of the thread. Session: new as in the "
        "record; forked as it was before the recorded step; or fresh, with the prompt of a new "
        "session, where the recorded one could not be forked."
    )
    return table_of("Inputs", columns, shares, note=note)


def _prompts(each: RecordedShare) -> str:
    changed = each.prompts - each.same_prompts
    fresh = each.trials - each.prompts
    parts = ((each.same_prompts, "as recorded"), (changed, "changed"), (fresh, "not compared"))
    return ", ".join(f"{number:,} {word}" for number, word in parts if number)


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {word}" for word, number in sorted(numbers.items()))
