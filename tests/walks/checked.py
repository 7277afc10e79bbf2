"""Check random files, and read from the problems of the check what it has warned of."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.walks.files import random_files
from tests.walks.walk import Doubts

from uwf_core.workflow.callees import Callees
from uwf_core.workflow.check import Checked, check_file
from uwf_core.workflow.load import load_file
from uwf_core.workflow.parsed import ParsedWorkflow, parse_workflow
from uwf_core.workflow.template import parse
from uwf_core.yaml.nodes import YamlMapping, YamlScalar, YamlSequence
from uwf_core.yaml.problem import Problem

_BLANK = ("may-be-blank", "template-optional-field", "template-at-start")
_EMPTY = ("template-optional-field", "template-at-start")


class RandomWorkflow(NamedTuple):
    """A checked workflow, and the doubts of the check by the names of the workflows."""

    checked: Checked
    doubts: Mapping[str, Doubts]


def random_workflow(folder: Path, rng: Random) -> RandomWorkflow:
    """Write a random workflow into a folder, with what it calls, and check it."""
    files = random_files(rng)
    if rng.random() < 0.3:
        _damage(rng.choice([*files.values()]), rng)
    for name, document in files.items():
        (folder / f"{name}.yaml").write_text(json.dumps(document, indent=0), encoding="utf-8")
    checked = check_file(str(folder / "w.yaml"), Callees(_unused, _unused))
    if not checked.valid:
        return RandomWorkflow(checked, {})
    doubts = {}
    for name in files:
        path = str(folder / f"{name}.yaml")
        problems = checked.problems if name == "w" else _problems(path)
        doubts[name] = _doubts(path, problems)
    return RandomWorkflow(checked, doubts)


def _problems(path: str) -> tuple[Problem, ...]:
    """Those of a called file; the check of its caller reports only the errors."""
    return check_file(path, Callees(_unused, _unused)).problems


def _unused(*_: Any) -> Any:
    raise AssertionError("only files are called here")


def _damage(document: Any, rng: Random) -> None:
    """A near-miss: one thing is left out or changed, of which the check may find nothing wrong."""
    places = [*_places(document)]
    holder, key = rng.choice(places)
    value = holder[key]
    if key in ("required", "minItems", "type", "additionalProperties", "human"):
        del holder[key]
    elif isinstance(value, str) and key == "prompt":
        holder[key] = value.replace("Go. ", "").replace("Do: ", "") or "x"
    elif isinstance(value, str) and key == "type":
        holder[key] = [value, "null"]
    elif isinstance(holder, dict) and rng.random() < 0.3:
        holder[rng.choice(["a", "note"])] = holder.pop(key)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(each, (dict, list)):
            yield from _places(each)
        if isinstance(value, dict):
            yield value, key


class _Text(NamedTuple):
    place: str
    scalar: YamlScalar


def _doubts(path: str, problems: tuple[Problem, ...]) -> Doubts:
    loaded = load_file(path)
    assert isinstance(loaded.node, YamlMapping)
    parsed = parse_workflow(loaded.node, loaded.sources)
    texts = {each.scalar.place.line: each for each in _texts(parsed)}
    prompts, inputs, tags = set[str](), set[str](), set[tuple[str, str, int, int]]()
    for problem in problems:
        if problem.file != path:
            continue
        text = texts.get(problem.line)
        if problem.code == "input-mismatch":
            inputs |= _leading(parsed, problem)
        elif text is None:
            continue
        if text is not None and problem.code in _BLANK:
            prompts.add(text.place)
        if text is not None and problem.code in _EMPTY:
            tags.update(_tags_at(text, problem))
    return Doubts(frozenset(prompts), frozenset(inputs), frozenset(tags))


def _tags_at(text: _Text, problem: Problem) -> Iterator[tuple[str, str, int, int]]:
    """The tags of a template with a problem; a JSON text on one line begins after its quote."""
    for name in parse(text.scalar.text).names():
        if problem.column == text.scalar.place.column + name.column:
            yield (text.place, text.scalar.text, name.line, name.column)


def _texts(parsed: ParsedWorkflow) -> Iterator[_Text]:
    for edge in parsed.edges():
        place = f"graph.{edge.source}.{edge.status}"
        yield from _of_target(place, edge.prompt, edge.location)
    for fan_out in parsed.fan_outs.values():
        for branch in fan_out.branches:
            named = f".parallel.{branch.branch}" if branch.branch else ""
            yield from _of_target(fan_out.place + named, branch.prompt, branch.location)
    for name, role in parsed.roles.items():
        program = None if role.node is None else role.node.values.get("program")
        argv = program.values.get("argv") if isinstance(program, YamlMapping) else None
        for index, each in enumerate(argv.items if isinstance(argv, YamlSequence) else ()):
            if isinstance(each, YamlScalar):
                yield _Text(f"roles.{name}.program.argv[{index}]", each)


def _of_target(
    place: str, prompt: YamlScalar | None, location: YamlScalar | None
) -> Iterator[_Text]:
    if prompt is not None:
        yield _Text(f"{place}.prompt", prompt)
    if location is not None:
        yield _Text(f"{place}.location", location)


def _leading(parsed: ParsedWorkflow, problem: Problem) -> set[str]:
    """The edge or branch whose role has the problem."""
    found = {
        f"graph.{edge.source}.{edge.status}"
        for edge in parsed.edges()
        if edge.role is not None and edge.role.place == problem.place
    }
    for fan_out in parsed.fan_outs.values():
        for branch in fan_out.branches:
            if branch.role is not None and branch.role.place == problem.place:
                named = f".parallel.{branch.branch}" if branch.branch else ""
                found.add(fan_out.place + named)
    return found
