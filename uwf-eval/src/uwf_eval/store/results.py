"""The stored runs and trials, and how they are found by id, name or `@last`.

Names, all below `@uwf/eval/`:

    run/<RUN>             the run; its tags: name, format
    plan/<RUN>            its trials before any was run
    trial/<RUN>/<NUMBER>  a started trial; its tags: state
    page/<RUN>/<BLOCK>    up to 256 finished trials in one node (pages.py)

Several processes may write at the same time: names change by compare-and-set.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from uwf_core.client import Client, Name
from uwf_core.errors import (
    AmbiguousIdError,
    StoreVersionError,
    UnknownIdError,
    UsageError,
    UwfError,
)
from uwf_core.fields.records import payload_schema, read_payload, write_record
from uwf_eval.records import Run, Trial
from uwf_eval.store import pages

FORMAT: Final = "1"
"""The version of the stored format."""

LAST: Final = "@last"
SEALED: Final = "sealed:"
"""The name of a run of sealed trials begins with it; no user can type such a name."""
_SHORTEST_PREFIX = 4
_RUN, _PLAN, _TRIAL, _PAGE = (f"@uwf/eval/{area}/" for area in ("run", "plan", "trial", "page"))
_PLAN_SCHEMA: Final = pages.schema("uwf eval plan", run=pages.TEXT, trials=pages.TEXT)


class Results:
    """The runs and trials in a client's store. Sealed runs do not exist for those who do not ask
    for them with `sealed`: a figure of sealed trials helps the next edit to fit them.
    """

    def __init__(self, client: Client, *, sealed: bool = False) -> None:
        self._nodes = client.nodes
        self._sealed = sealed
        self._types: dict[str, Any] = {}
        self._unpaged: dict[str, Mapping[str, Any]] = {}

    # -- writing ---------------------------------------------------------------------------------

    def save_run(self, run: Run, planned: Sequence[Trial] = ()) -> None:
        """Store the current state of a run.

        Args:
            run: the run.
            planned: its trials before any was run; given once, at the start.
        """
        tags = {"name": run.name, "format": FORMAT, "trials": str(run.trials)}
        with self._nodes.transaction():
            run_type = self._type(Run, "uwf eval run")
            ref = self._nodes.put(run_type, write_record(run), trusted=True)
            self._move(_RUN + run.run, ref, tags)
            if planned:
                text = pages.to_text(planned)
                plan_type = self._schema_type("plan", _PLAN_SCHEMA)
                plan = self._nodes.put(plan_type, {"run": run.run, "trials": text}, trusted=True)
                self._move(_PLAN + run.run, plan, {"format": FORMAT})

    def save_trial(self, trial: Trial) -> None:
        """Store the current state of a trial; durable on return."""
        with self._nodes.transaction():
            ref, payload = self._put_trial(trial)
        self._unpaged[ref] = payload

    def save_trials(self, trials: Iterable[Trial]) -> None:
        """Store many trials in one transaction, and write their pages."""
        with self._nodes.transaction():
            known: dict[str, dict[str, Mapping[str, Any]]] = {}
            for trial in trials:
                ref, payload = self._put_trial(trial)
                known.setdefault(trial.run, {})[ref] = payload
            for run, payloads in known.items():
                self._gather(run, payloads)

    def write_pages(self, run: str) -> None:
        """Write the pages of a run's trials."""
        with self._nodes.transaction():
            self._gather(run, self._unpaged)
        self._unpaged.clear()

    def _put_trial(self, trial: Trial) -> tuple[str, Mapping[str, Any]]:
        payload = write_record(trial)
        ref = self._nodes.put(self._type(Trial, "uwf eval trial"), payload)
        self._move(_trial_name(trial.run, trial.number), ref, {"state": trial.state})
        return ref, payload

    def _gather(self, run: str, known: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the pages that do not contain the current nodes of the trials."""
        refs = {_number(each): each.ref for each in self._nodes.names(f"{_TRIAL}{run}/")}
        paged = self._paged(run, set(refs.values()))
        for block, numbers in groupby(sorted(refs), pages.block_of):
            there = [refs[number] for number in numbers]
            if all(ref in paged for ref in there):
                continue
            payloads = [
                (ref, paged.get(ref) or known.get(ref) or self._nodes.get(ref)) for ref in there
            ]
            page_type = self._schema_type("page", pages.SCHEMA)
            page = self._nodes.put(page_type, pages.page_of(run, payloads), trusted=True)
            self._move(f"{_PAGE}{run}/{block:06}", page, {"format": FORMAT})

    def _move(self, name: str, ref: Any, tags: Mapping[str, str]) -> None:
        before = self._nodes.name(name)
        if before is None or (before.ref, dict(before.tags)) != (ref, dict(tags)):
            self._nodes.set_name(name, ref, tags, before)

    def _type(self, cls: type, title: str) -> Any:
        if title not in self._types:
            self._types[title] = self._nodes.put_type(payload_schema(cls, title), trusted=True)
        return self._types[title]

    def _schema_type(self, key: str, schema: Mapping[str, Any]) -> Any:
        if key not in self._types:
            self._types[key] = self._nodes.put_type(schema, trusted=True)
        return self._types[key]

    # -- runs ------------------------------------------------------------------------------------

    def run(self, word: str) -> Run:
        """Find a run by its id, a unique prefix of at least 4 characters, `@last`, or its name
        (the newest of that name).

        Raises:
            UnknownIdError: unknown run. AmbiguousIdError: the prefix matches several.
            StoreVersionError: a newer uwf-eval wrote it.
        """
        return self._read_run(self._find(word))

    def runs(self) -> Sequence[Run]:
        """All runs, newest first.

        Raises:
            StoreVersionError: a newer uwf-eval wrote one of them.
        """
        return [self._read_run(each) for each in self._run_names()]

    def _run_names(self) -> list[Name]:
        """The names of all runs, newest first: an id begins with its time."""
        return [each for each in self._nodes.names(_RUN)[::-1] if self._is_shown(each)]

    def _is_shown(self, name: Name) -> bool:
        return self._sealed or not name.tags.get("name", "").startswith(SEALED)

    def _find(self, word: str) -> Name:
        exact = self._nodes.name(_RUN + word.upper()) if word.isalnum() else None
        if exact is not None and self._is_shown(exact):
            return exact
        names = self._run_names()
        if word == LAST:
            found = names[:1]
        else:
            found = [each for each in names if each.tags.get("name") == word][:1]
            found = found or self._by_prefix(word, names)
        if not found:
            raise UnknownIdError(
                "there are no runs" if word == LAST else f"unknown run {word!r}",
                hint="start one with `uwf eval run TASK`"
                if not names
                else "`uwf eval list` shows all runs",
            )
        return found[0]

    @staticmethod
    def _by_prefix(word: str, names: Sequence[Name]) -> list[Name]:
        if len(word) < _SHORTEST_PREFIX:
            return []
        found = [each for each in names if _id_of(each).startswith(word.upper())]
        if len(found) > 1:
            raise AmbiguousIdError(
                f"{word!r} matches {len(found)} runs: {', '.join(map(_id_of, found[:4]))}",
                hint="type more characters of the id",
            )
        return found

    def _read_run(self, name: Name) -> Run:
        payload = self._nodes.get(name.ref)
        if name.tags.get("format") != FORMAT:
            raise _other_version(f"run {_id_of(name)}", payload.get("evalVersion"))
        try:
            return read_payload(Run, payload)
        except KeyError as error:
            raise _other_version(f"run {_id_of(name)}", payload.get("evalVersion")) from error

    # -- trials ----------------------------------------------------------------------------------

    def trials(self, run: str) -> Sequence[Trial]:
        """All trials of the run with this id, in order.

        Raises:
            StoreVersionError: a newer uwf-eval wrote them.
        """
        names = {_number(each): each for each in self._nodes.names(f"{_TRIAL}{run}/")}
        known = self._nodes.name(_RUN + run)
        complete = known is not None and known.tags.get("trials") == str(len(names))
        planned = () if complete else self._planned(run)
        payloads = {each["number"]: each for each in planned}
        wanted = {each.ref for each in names.values()}
        paged = self._paged(run, wanted) if len(names) > 1 else {}
        for number, name in names.items():
            payloads[number] = paged.get(name.ref) or self._nodes.get(name.ref)
        try:
            return [read_payload(Trial, payloads[number]) for number in sorted(payloads)]
        except KeyError as error:
            raise _other_version(f"a trial of run {run}", None) from error

    def trial(self, word: str) -> Trial:
        """Find a trial by `RUN/NUMBER`, such as `@last/3`.

        Raises:
            UsageError: the argument has another form. Also the errors of `run`.
        """
        head, slash, tail = word.rpartition("/")
        if not slash or not tail.isdecimal() or len(tail) > 9:
            raise UsageError(f"{word!r} is not a trial", hint="write RUN/NUMBER, such as @last/3")
        run, number = _id_of(self._find(head)), int(tail)
        name = self._nodes.name(_trial_name(run, number))
        if name is not None:
            return read_payload(Trial, self._nodes.get(name.ref))
        planned = {each["number"]: each for each in self._planned(run)}
        if number not in planned:
            raise UnknownIdError(
                f"unknown trial {number} of run {run}",
                hint=f"the run has trials 1 to {max(planned)}"
                if planned
                else "`uwf eval report` shows them",
            )
        return read_payload(Trial, planned[number])

    def counts(self, run: str) -> Mapping[str, int]:
        """The number of started trials in each state, from the tags alone."""
        found: dict[str, int] = {}
        for name in self._nodes.names(f"{_TRIAL}{run}/"):
            state = name.tags.get("state", "")
            found[state] = found.get(state, 0) + 1
        return found

    def _planned(self, run: str) -> Sequence[Mapping[str, Any]]:
        name = self._nodes.name(_PLAN + run)
        return () if name is None else pages.from_text(self._nodes.get(name.ref)["trials"])

    def _paged(self, run: str, wanted: set[str]) -> dict[str, Mapping[str, Any]]:
        """The wanted payloads that pages contain, by reference."""
        return {
            ref: payload
            for name in self._nodes.names(f"{_PAGE}{run}/")
            for ref, payload in self._page(name)
            if ref in wanted
        }

    def _page(self, name: Name) -> Iterator[tuple[str, Mapping[str, Any]]]:
        try:
            page = self._nodes.get(name.ref)
        except UwfError:  # the trials' own nodes have the same content
            return iter(())
        return pages.entries(page)


def _trial_name(run: str, number: int) -> str:
    return f"{_TRIAL}{run}/{number:06}"


def _number(name: Name) -> int:
    return int(name.name.rpartition("/")[2])


def _id_of(name: Name) -> str:
    return name.name.removeprefix(_RUN)


def _other_version(what: str, version: str | None) -> StoreVersionError:
    by = f"uwf-eval {version}" if version else "another uwf-eval"
    return StoreVersionError(
        f"{what} was written by {by}, in an unknown format",
        hint="use that version, or update uwf-eval",
    )
