"""Findings about the replies of a role: what was invalid, what failed, what was denied."""

from collections.abc import Callable, Iterable, Iterator

from uwf_improve.history.visits import Histories, Visit
from uwf_improve.reflect.finding import SHOWN, Carrier, Finding, Kind, is_habit, shown_steps

_OFTEN = 0.1


def corrected(seen: Histories) -> Iterator[Finding]:
    """A field that a role gets wrong again and again."""
    for role, field, found, of in _grouped(seen, lambda each: each.fields):
        name = f"the field {field}" if field else "the form of the reply"
        yield _finding(
            "corrected", role, f"{role} had to correct {name} in {len(found)} of {of} visits",
            found, of, "procedure",
        )  # fmt: skip


def denied(seen: Histories) -> Iterator[Finding]:
    """A tool that a role asks for and does not get."""
    for role, tool, found, of in _grouped(seen, lambda each: each.denials):
        yield _finding(
            "denied", role, f"{role} was denied {_cut(tool)!r} in {len(found)} of {of} visits",
            found, of, "agent",
        )  # fmt: skip


def failed(seen: Histories) -> Iterator[Finding]:
    """A kind of failure that a role has again and again, also where no attempt succeeded."""
    for role in seen.outline.roles:
        visits = seen.of_role(role.name)
        tried = [(each.thread, each.number, a) for each in visits for a in each.attempts]
        tried += [
            (thread.thread, 0, attempt)  # 0: the step that never succeeded
            for thread in seen.threads
            for name, attempt in thread.pending
            if name == role.name
        ]
        of = len(visits) + len({thread for thread, number, _ in tried if not number})
        for kind in sorted({attempt.kind for _, _, attempt in tried}):
            found = [each for each in tried if each[2].kind == kind]
            count = len({(thread, number) for thread, number, _ in found})
            if is_habit(count, of, _OFTEN):
                yield Finding(
                    kind="failed",
                    place=role.name,
                    text=f"{role.name} failed ({kind}) in {count} of {of} visits",
                    count=count,
                    of=of,
                    carrier="agent",
                    steps=[attempt.ref for _, _, attempt in found[::-1][:SHOWN]],
                    threads=len({thread for thread, _, _ in found}),
                )


def _grouped(
    seen: Histories, keys: Callable[[Visit], Iterable[str]]
) -> Iterator[tuple[str, str, list[Visit], int]]:
    """Role, key, the visits that have it, and all visits: where it is a habit."""
    for role in seen.outline.roles:
        visits = seen.of_role(role.name)
        groups: dict[str, list[Visit]] = {}
        for each in visits:
            for key in dict.fromkeys(keys(each)):
                groups.setdefault(key, []).append(each)
        for key, found in groups.items():
            if is_habit(len(found), len(visits), _OFTEN):
                yield role.name, key, found, len(visits)


def _finding(
    kind: Kind, role: str, text: str, found: list[Visit], of: int, carrier: Carrier
) -> Finding:
    steps, threads = shown_steps(found)
    return Finding(
        kind=kind, place=role, text=text, count=len(found), of=of, carrier=carrier,
        steps=steps, threads=threads,
    )  # fmt: skip


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"
