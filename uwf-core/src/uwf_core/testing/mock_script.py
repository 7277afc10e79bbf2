"""The script of the mock agent.

    steps:
      - role: developer                 # another role is an error that names both
        output: {$status: done}         # frontmatter fields; a text is the raw output
        body: I did it.                 # the text after the frontmatter
        usage: {inputTokens: 10}        # a missing key is unknown; without `usage` all is 0
        turns: [Reading, {text: Editing, toolCalls: [{id: a, name: edit}]}]
        delayMs: 100
        untilFile: reviewed             # plays when this file exists, from the working folder
      - role: reviewer
        outputs:                        # one for each call of this step: corrections, retries,
          - {$status: nonsense}         # pokes; the last one repeats
          - {fail: {kind: rate_limited, message: slow down, untilMs: 1700000000000}}
          - {output: {$status: approved}, usage: {costUsd: 0.1}}

The first step of a thread plays the first step of the list, and so on. With `repeat: true` at the
top the list repeats. With `byRole: true` the first step of a role in a thread plays the first item
of that role, and so on, and its last item repeats: for threads that call others. Instead of
`output` a step (or an item of `outputs`) has one of `structured: {…}` (a typed object, no text),
`fail: {kind, message, untilMs}`, `hang: true` (until it is cancelled), `garbage: true`,
`suspend: {reason, form}`. Also:
`question: {message, form}` (asks a person first, then plays the step), `answer: TEXT` (to
`uwf step ask`), `denials: [TEXT]`, `model: NAME`.

An item of `outputs` that has `$status`, or any key that is not of the above, is an `output`.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from uwf_core.api.agent import Turn, Usage
from uwf_core.api.extract import NO_USAGE
from uwf_core.errors import BadRequest, DefinitionError, FailureKind
from uwf_core.fields.mismatch import FieldFault
from uwf_core.fields.records import camel, read_record
from uwf_core.process.path_walk import ANYWHERE, read_regular
from uwf_core.yaml.text import quoted

GARBAGE = "]]} \x1b[31m%%% not what was asked for \ufffd\ufffd {{{ --- \t"
"""The output of `garbage: true`: no frontmatter, no JSON, with a terminal escape."""


class Fail(NamedTuple):
    """A failure to play; `kind` is a word of the closed table."""

    kind: str
    message: str = "a failure of the script"
    until_ms: int | None = None

    def conflict(self) -> None:
        """Reject another word."""
        FailureKind.of(self.kind)


class ScriptedSuspend(NamedTuple):
    """A suspension by the role."""

    reason: str
    form: dict[str, Any] | None = None


class Question(NamedTuple):
    """A question to a person."""

    message: str
    form: dict[str, Any]


class Play(NamedTuple):
    """A step of the script, or the behaviour of one call of it; see the module for the fields."""

    role: str
    outputs: tuple[Any, ...] | None = None
    output: str | dict[str, Any] | None = None
    body: str = ""
    structured: dict[str, Any] | None = None
    fail: Fail | None = None
    hang: bool = False
    garbage: bool = False
    suspend: ScriptedSuspend | None = None
    question: Question | None = None
    usage: dict[str, Any] | None = None
    turns: tuple[str | dict[str, Any], ...] | None = None
    delay_ms: int = 0
    until_file: str | None = None
    denials: tuple[str, ...] = ()
    model: str | None = None
    answer: str | None = None

    def conflict(self) -> None:
        """Reject turns and usage that cannot be read."""
        self.all_turns()
        self.all_usage()

    def text(self) -> str:
        """The raw text to deliver, "" if there is none."""
        if self.garbage:
            return GARBAGE
        if isinstance(self.output, Mapping):
            return frontmatter(self.output, self.body)
        return self.output or ""

    def all_turns(self) -> list[Turn]:
        """The turns to report; without `turns` one with the output."""
        if self.turns is None:
            text = self.text()
            return [Turn(index=0, role="assistant", text=text)] if text else []
        return [_turn(index, item) for index, item in enumerate(self.turns)]

    def all_usage(self) -> Usage:
        """The usage to report."""
        if self.usage is None:
            return Usage(**{**NO_USAGE.__dict__, "turns": len(self.all_turns())})
        return read_record(Usage, self.usage, path=("usage",))

    def acts(self) -> int:
        """The number of its outputs; only one is valid."""
        said = (self.output, self.structured, self.fail, self.suspend)
        return sum(item is not None for item in said) + self.hang + self.garbage

    def plays(self) -> list["Play"]:
        """One play for each call; the last one repeats."""
        if self.outputs is None:
            return [self]
        return [self._item(index, item) for index, item in enumerate(self.outputs)]

    def _item(self, index: int, item: Any) -> "Play":
        """An item of `outputs`, with what the step says for all of them."""
        keys = {camel(name) for name in self._fields[2:]}
        if not (isinstance(item, Mapping) and item and keys.issuperset(item)):
            item = {"output": item}
        play = read_record(Play, {"role": self.role, **item}, path=("outputs", index))
        own = {*map(camel, _ACTS), *item}
        shared = {name: value for name, value in self._asdict().items() if camel(name) not in own}
        return play._replace(**shared)


_ACTS = frozenset(("output", "structured", "fail", "hang", "garbage", "suspend"))


class Script(NamedTuple):
    """A whole script; `file` names it in messages."""

    steps: tuple[Play, ...]
    repeat: bool = False
    by_role: bool = False

    def step(self, index: int) -> Play | None:
        """The step that is played after `index` others; None beyond the end."""
        if self.repeat and self.steps:
            return self.steps[index % len(self.steps)]
        return self.steps[index] if index < len(self.steps) else None

    def count_of(self, role: str) -> int:
        """How many steps a role has."""
        return sum(step.role == role for step in self.steps)

    def step_of(self, role: str, visit: int) -> Play | None:
        """The step that a role plays after `visit` others; None if it has none."""
        own = [step for step in self.steps if step.role == role]
        return own[min(visit, len(own) - 1)] if own else None


def read_script(file: str) -> Script:
    """The script in `file` (YAML; JSON where the name ends in .json), checked as a whole.

    Raises:
        BadRequest: it cannot be read, or something in it is wrong.
    """
    try:
        text = read_regular(file, within=ANYWHERE).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadRequest(f"the mock's script {file} cannot be read: {fault}") from fault
    return _script(text, file)


@lru_cache(maxsize=4)
def _script(text: str, file: str) -> Script:
    """Kept, since every step of every thread of a process reads the whole script."""
    try:
        script = read_record(Script, _parsed(text, file))
        for index, step in enumerate(script.steps):
            _check_step(step, ("steps", index))
    except DefinitionError as fault:
        raise BadRequest(f"the mock's script is not YAML: {fault}", hint=fault.hint) from fault
    except FieldFault as fault:
        place = f"{fault.place()} " if fault.path else ""
        raise BadRequest(
            f"the mock's script {file}: {place}{fault.message}",
            hint=fault.hint or "uwf_core.testing.mock_script has the format",
        ) from fault
    return script


def frontmatter(output: Mapping[str, Any], body: str = "") -> str:
    """`output` as frontmatter that reads back as the same values, then `body`."""
    lines = [f"{quoted(key)}: {quoted(value)}" for key, value in output.items()]
    return "\n".join(("---", *lines, "---", body)) + ("\n" if body else "")


def _parsed(text: str, file: str) -> Any:
    if file.endswith(".json"):
        try:
            return json.loads(text)
        except ValueError as fault:
            raise FieldFault((), f"is not JSON: {fault}") from fault
    from uwf_core.yaml.source import parse_yaml

    return parse_yaml(text, file=file)


def _check_step(step: Play, path: tuple[str | int, ...]) -> None:
    try:
        plays = step.plays()
    except FieldFault as fault:
        raise FieldFault((*path, *fault.path), fault.message, fault.hint) from fault
    if step.outputs is not None and step.acts():
        raise FieldFault(path, "has both `outputs` and something else to deliver")
    if not plays:
        raise FieldFault((*path, "outputs"), "is empty")
    for play in plays:
        if play.acts() != 1:
            raise FieldFault(
                path,
                f"delivers {play.acts()} things; wanted one of {', '.join(sorted(_ACTS))}",
            )


def _turn(index: int, item: str | dict[str, Any]) -> Turn:
    if isinstance(item, str):
        return Turn(index=index, role="assistant", text=item)
    whole = {"index": index, "role": "assistant", **item}
    return read_record(Turn, whole, path=("turns", index))
