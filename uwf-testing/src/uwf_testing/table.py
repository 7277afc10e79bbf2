"""The result of a contract as Markdown: a table of capabilities and one of clauses. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from uwf_core.markdown import table
from uwf_testing.contract import Contract, clauses, needs_of

_WORST_FIRST = ("fails", "known bug", "fixed", "holds", "skipped")
_SHOWN = {
    "holds": "holds",
    "fails": "**fails**",
    "known bug": "known bug",
    "fixed": "holds (was marked as a known bug)",
    "skipped": "not tried",
}
NOT_RUN = "not run"


class Subject(NamedTuple):
    """The tested plugin: kind, name, origin, capabilities, and the versions of the test."""

    kind: str
    name: str
    origin: str
    declared: Collection[str]
    known: Collection[str]
    made_with: str


class Held(NamedTuple):
    """The result of one clause."""

    clause: str
    capability: str | None
    outcome: str
    reason: str

    def cell(self) -> str:
        """The outcome as a cell of a table."""
        shown = _SHOWN.get(self.outcome, self.outcome)
        return f"{shown}: {_plain(self.reason)}" if self.reason else shown


def held(contract: type[Contract], results: Sequence[Mapping[str, Any]]) -> list[Held]:
    """Every clause of the contract with its outcome: the worst of several runs, `not run` without
    any.
    """
    by_clause: dict[str, list[Mapping[str, Any]]] = {}
    for each in results:
        by_clause.setdefault(each["clause"], []).append(each)
    found = []
    for name in clauses(contract):
        runs = sorted(by_clause.get(name, ()), key=lambda each: _WORST_FIRST.index(each["outcome"]))
        capability = needs_of(contract, name).capability
        if runs:
            found.append(Held(name, capability, runs[0]["outcome"], runs[0]["reason"]))
        else:
            found.append(Held(name, capability, NOT_RUN, ""))
    return found


def markdown(subject: Subject, found: Sequence[Held]) -> str:
    """The whole text, ready for a README."""
    lines = [
        f"**{subject.kind} `{subject.name}`** ({subject.origin}) under the {subject.kind} "
        f"contract of {subject.made_with}: {_sum(found)}.",
        "",
    ]
    if subject.known:
        rows = []
        for capability in sorted(subject.known):
            own = [each for each in found if each.capability == capability]
            declared = "yes" if capability in subject.declared else "no"
            shown = _sum(own) if own and declared == "yes" else "–"
            rows.append((f"`{capability}`", declared, shown))
        lines += [table(("capability", "declared", "clauses"), rows), ""]
    lines.append(table(("clause", ""), ((_words(each.clause), each.cell()) for each in found)))
    return "\n".join(lines) + "\n"


def _sum(found: Sequence[Held]) -> str:
    """The counts of a column: `7 of 9 hold, 2 not tried`."""
    count = dict.fromkeys((*_WORST_FIRST, NOT_RUN), 0)
    for each in found:
        count[each.outcome] += 1
    holding = count["holds"] + count["fixed"]
    rest = [
        (count["skipped"], "not tried"),
        (count["known bug"], "known bugs"),
        (count["fails"], "**fail**"),
        (count[NOT_RUN], NOT_RUN),
    ]
    parts = [f"{holding} of {len(found)} hold", *(f"{many} {what}" for many, what in rest if many)]
    return ", ".join(parts)


def _words(clause: str) -> str:
    return clause.removeprefix("test_").replace("_", " ")


def _plain(text: str) -> str:
    """Escape a reason for a cell."""
    return " ".join(text.replace("|", "\\|").split())
