"""The judge `rubric`: a model judges by the criteria of the task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest, read_regular
from uwf_eval.judges.builtin.ask_model import (
    MANIPULATION,
    Examiner,
    ModelOptions,
    Question,
    in_order,
    quote_problem,
)
from uwf_eval.judges.builtin.material import whole
from uwf_eval.judges.failed import JudgeFailed

_TASK = """\
`task` is what was asked for; `result` is what was delivered{files}. Judge the result by each of \
these criteria, and by nothing else:
{criteria}
For each give `criterion` (its name), `points` from 0 (not met at all) to {most} (met wholly), \
`quotes` (from `result`{or_files}) that show it, at least one unless the points are 0, and \
`reason` in one sentence. A long answer is not a better one."""


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """One criterion: `name`, `description` in a sentence, `weight` in the score."""

    name: str
    description: str = ""
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise ValueError(f"weight is {self.weight:g}; must be more than 0")


_DOES_THE_TASK = Criterion(
    name="task", description="The result does what the task asks for, all of it, and correctly."
)


@dataclass(frozen=True, kw_only=True)
class RubricOptions(ModelOptions):
    """The criteria, and the common options of judges that ask a model.

    Attributes:
        criteria: each with a unique `name`, a `description` and a `weight`.
        points: the most for one criterion.
        files: globs of files in the trial's folder that the model also gets; `*` also matches
            `/`.
    """

    criteria: Sequence[Criterion] = (_DOES_THE_TASK,)
    points: int = 4
    files: Sequence[str] = ()

    def __post_init__(self) -> None:
        ModelOptions.__post_init__(self)
        names = [criterion.name for criterion in self.criteria]
        if not names or len(set(names)) < len(names):
            raise ValueError("criteria need at least one entry, and unique names")
        if self.points < 1:
            raise ValueError(f"points is {self.points}; must be 1 or more")


class Rubric:
    """The weighted mean of the points for each criterion."""

    def __init__(self, options: RubricOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The weighted mean; the data have points, quotes and reasons."""
        options = self._options
        result = whole(request.record)
        files = _files(Path(request.cwd), options.files)
        if not result and not files:
            raise JudgeFailed("the trial delivered nothing")
        sections = {"task": str(request.record.get("prompt") or ""), "result": result}
        if files:
            sections["files"] = files
        question = Question(
            task=_words(options, with_files=bool(files)),
            sections=sections,
            properties=_properties(options),
            problems=lambda answer, shown: _problems(options, answer, shown),
        )
        examined = Examiner(request, options).ask(question)
        points = {each["criterion"]: each["points"] for each in examined.answer["criteria"]}
        total = sum(criterion.weight for criterion in options.criteria)
        reached = sum(each.weight * points[each.name] for each in options.criteria)
        data = {
            "criteria": list(examined.answer["criteria"]),
            MANIPULATION: list(examined.answer.get(MANIPULATION, ())),
        }
        return JudgeReply(score=reached / (total * options.points), data=data, usage=examined.usage)


def _files(folder: Path, globs: Sequence[str]) -> str:
    parts = []
    for path in sorted(folder.rglob("*")) if globs else ():
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file():
            continue
        if any(fnmatchcase(name, glob) for glob in globs):
            text = read_regular(name, within=str(folder)).decode("utf-8", "replace")
            parts.append(f"{name}:\n{text}")
    return "\n\n".join(parts)


def _words(options: RubricOptions, *, with_files: bool) -> str:
    criteria = in_order(options.criteria, options)
    listed = [f"- {each.name}: {each.description or each.name}" for each in criteria]
    return _TASK.format(
        criteria="\n".join(listed),
        most=options.points,
        files=", `files` are files that were made or changed" if with_files else "",
        or_files=" or `files`" if with_files else "",
    )


def _properties(options: RubricOptions) -> dict[str, Any]:
    names = [criterion.name for criterion in options.criteria]
    item = {
        "type": "object",
        "properties": {
            "criterion": {"type": "string", "enum": names},
            "points": {"type": "integer", "minimum": 0, "maximum": options.points},
            "quotes": {"type": "array", "items": {"type": "string"}},
            "reason": {"type": "string"},
        },
        "required": ["criterion", "points", "quotes", "reason"],
        "additionalProperties": False,
    }
    return {"criteria": {"type": "array", "items": item}}


def _problems(
    options: RubricOptions, answer: Mapping[str, Any], shown: Mapping[str, str]
) -> list[str]:
    judged = [each["criterion"] for each in answer["criteria"]]
    problems: list[str | None] = [
        f"the criterion {criterion.name!r} is judged {judged.count(criterion.name)} times, not once"
        for criterion in options.criteria
        if judged.count(criterion.name) != 1
    ]
    text = f"{shown['result']}\n{shown.get('files', '')}"
    for each in answer["criteria"]:
        if each["points"] and not each["quotes"]:
            problems.append(f"the criterion {each['criterion']!r} has points and no quote")
        problems += [quote_problem(quote, text, "`result`") for quote in each["quotes"]]
    return [problem for problem in problems if problem]
