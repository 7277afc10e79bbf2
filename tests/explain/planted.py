"""Two runs of one task that differ in one known place: a generator for the tests of `thread diff`.

A line of roles, so that each edge and each role belongs to one step: what changes there first shows
at a known step.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from uwf_core.client import Client
from uwf_core.testing.project import Project

LENGTH = 6
Move = Callable[[Client, str], Any]


class Change(NamedTuple):
    """A way to make the second run different.

    `workflow`, `plays` and `moves` change copies of what the first run used (`both`: what both
    runs use), at step `k`. `aspect`, `part` and `number` are what `thread diff` must name;
    `number` counts from `k`, None is before the first step.
    """

    kind: str
    aspect: str
    part: str | None = None
    number: int | None = 0
    both: Callable[["Scene", int], None] = lambda _scene, _k: None
    second: Callable[["Scene", int], None] = lambda _scene, _k: None
    first_step: int = 1
    last_step: int = LENGTH


class Scene:
    """What a run is made of, and may be changed."""

    def __init__(self) -> None:
        self.task = "Do the work.\nTake care."
        self.name = "line"
        self.roles: dict[str, dict[str, Any]] = {f"r{k}": role(k) for k in range(1, LENGTH + 1)}
        self.graph: dict[str, dict[str, Any]] = {
            "$START": {kind: {"role": "r1", "prompt": f"Begin ({kind})."} for kind in ENTRIES},
            **{f"r{k}": edges(k) for k in range(1, LENGTH + 1)},
        }
        self.description = "A line of roles."
        self.plays: list[dict[str, Any]] = [play(k) for k in range(1, LENGTH + 1)]
        self.moves: list[Move] = [until_done]

    def text(self) -> str:
        """The workflow file (JSON is YAML)."""
        return json.dumps(
            {
                "version": 1,
                "name": self.name,
                "description": self.description,
                "roles": self.roles,
                "graph": self.graph,
            }
        )


ENTRIES = ("new", "resume")


def role(k: int) -> dict[str, Any]:
    note = {"type": "string", "description": f"A note about {k}."}
    items = {"type": "array", "items": {"type": "object", "properties": {"name": note}}}
    fields = {"note": note, "items": items}
    variants = [
        {"properties": {"$status": {"const": status}, **fields}, "required": ["$status", "note"]}
        for status in ("next", "again")
    ]
    return {"goal": f"Do part {k}.\nDo it well.", "frontmatter": {"oneOf": variants}}


def edges(k: int) -> dict[str, Any]:
    following = f"r{k + 1}" if k < LENGTH else "$END"
    return {
        "next": {"role": following, "prompt": f"Continue after {k}: {{{{{{note}}}}}}"},
        "again": {"role": f"r{k}", "prompt": "Once more."},
    }


def play(k: int, **changed: Any) -> dict[str, Any]:
    items = [{"name": "one"}, {"name": "two"}]
    output = {"$status": "next", "note": f"note {k}", "items": items, **changed}
    return {"role": f"r{k}", "output": output, "body": f"Text {k}.\nMore of it."}


def until_done(uwf: Client, thread: str) -> None:
    uwf.exec(thread, until_done=True)


def count(number: int) -> Move:
    return lambda uwf, thread: uwf.exec(thread, count=number)


# -- the changes -----------------------------------------------------------------------------------


def instruction(scene: Scene, k: int) -> None:
    source, status = ("$START", "new") if k == 1 else (f"r{k - 1}", "next")
    scene.graph[source][status]["prompt"] += " Quickly."


def role_text(scene: Scene, k: int) -> None:
    scene.roles[f"r{k}"]["goal"] += "\nDo it fast."


def form(scene: Scene, k: int) -> None:
    for variant in scene.roles[f"r{k}"]["frontmatter"]["oneOf"]:
        variant["properties"]["note"] = {"type": "string", "description": "Something else."}


def field(scene: Scene, k: int) -> None:
    scene.plays[k - 1]["output"]["note"] = "another note"


def nested(scene: Scene, k: int) -> None:
    scene.plays[k - 1]["output"]["items"][1]["name"] = "three"


def missing(scene: Scene, k: int) -> None:
    del scene.plays[k - 1]["output"]["items"]


def body(scene: Scene, k: int) -> None:
    scene.plays[k - 1]["body"] = f"Text {k}.\nLess of it."


def status(scene: Scene, k: int) -> None:
    """One more visit; the rest of the line follows."""
    scene.plays.insert(k - 1, play(k, **{"$status": "again"}))


def route(scene: Scene, k: int) -> None:
    """The same status leads two roles further."""
    scene.graph[f"r{k}"]["next"]["role"] = f"r{k + 2}" if k + 2 <= LENGTH else "$END"
    # The skipped role stays in reach, as the check demands.
    scene.graph[f"r{k}"]["again"]["role"] = f"r{min(k + 1, LENGTH)}"
    del scene.plays[k]


def failing(kind: str) -> Callable[[Scene, int], None]:
    def plant(scene: Scene, k: int) -> None:
        good = play(k)
        again = {key: good[key] for key in ("output", "body")}
        scene.plays[k - 1] = {"role": f"r{k}", "outputs": [{"fail": {"kind": kind}}, again]}
        scene.moves = [until_done, until_done]

    return plant


def corrected(scene: Scene, k: int) -> None:
    good = scene.plays[k - 1]
    again = {key: good[key] for key in ("output", "body")}
    scene.plays[k - 1] = {"role": f"r{k}", "outputs": [{"$status": "nonsense"}, again]}


def poked(scene: Scene, k: int) -> None:
    scene.moves = [count(k), lambda uwf, thread: uwf.poke(thread, "Check it."), until_done]


def asks(scene: Scene, k: int) -> None:
    """The role suspends, and runs again with the words of a person as the next step."""
    scene.plays.insert(k - 1, {"role": f"r{k}", "suspend": {"reason": "Which one?"}})
    resumed("The red one.")(scene, k)


def resumed(text: str) -> Callable[[Scene, int], None]:
    def plant(scene: Scene, _k: int) -> None:
        scene.moves = [until_done, lambda uwf, thread: uwf.resume(thread, text, until_done=True)]

    return plant


def questions(scene: Scene, k: int) -> None:
    form = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    scene.plays[k - 1]["question"] = {"message": "Which colour?", "form": form}
    answered("red")(scene, k)


def answered(colour: str) -> Callable[[Scene, int], None]:
    def plant(scene: Scene, _k: int) -> None:
        answer = json.dumps({"colour": colour})
        resume: Move = lambda uwf, thread: uwf.resume(thread, answer=answer, until_done=True)  # noqa: E731
        scene.moves = [until_done, resume]

    return plant


def stops(scene: Scene, k: int) -> None:
    scene.moves = [count(k)]


def one_more(scene: Scene, k: int) -> None:
    scene.moves = [count(k + 1)]


def cancelled(scene: Scene, k: int) -> None:
    scene.moves = [count(k), lambda uwf, thread: uwf.cancel(thread)]


def still_failing(scene: Scene, k: int) -> None:
    scene.plays[k] = {"role": f"r{k + 1}", "fail": {"kind": "rate_limited"}}
    scene.moves = [until_done]


def elsewhere(scene: Scene, k: int) -> None:
    here: Move = lambda uwf, thread: uwf.exec(thread, cwd="elsewhere")  # noqa: E731
    scene.moves = [*([count(k - 1)] if k > 1 else []), here, until_done]


def other_task(scene: Scene, _k: int) -> None:
    scene.task = "Do the work.\nTake no care."


def description(scene: Scene, _k: int) -> None:
    scene.description = "For people alone."


CHANGES: Sequence[Change] = (
    Change("edge prompt", "prompt", "instruction", second=instruction),
    Change("role text", "prompt", "role", second=role_text),
    Change("form of the reply", "prompt", "form", second=form),
    Change("field", "output", "note", second=field),
    Change("field within a list", "output", "items.1.name", second=nested),
    Change("missing field", "output", "items", second=missing),
    Change("text", "text", second=body),
    Change("status", "output", "$status", second=status),
    Change("route", "route", second=route, last_step=LENGTH - 1),
    Change("failed attempt", "attempts", second=failing("unavailable")),
    Change("kind of failure", "attempts", both=failing("rate_limited"), second=failing("timeout")),
    Change("correction", "corrections", second=corrected),
    Change("poke", "prompt", "person", second=poked),
    Change("resume text", "prompt", "person", 1, both=asks, second=resumed("The blue one.")),
    Change("answer", "prompt", "person", both=questions, second=answered("blue")),
    Change("extra step", "end", None, 1, both=stops, second=one_more, last_step=LENGTH - 1),
    Change("cancelled", "end", None, 1, both=stops, second=cancelled, last_step=LENGTH - 1),
    Change("pending failure", "end", None, 1, both=stops, second=still_failing, last_step=5),
    Change("folder", "folder", second=elsewhere),
    Change("task", "task", None, None, second=other_task),
    Change("version alone", "workflow", None, None, second=description),
)


class Case(NamedTuple):
    """One planted divergence; `swapped`: the changed run is A."""

    seed: int
    change: Change
    step: int
    swapped: bool

    @property
    def name(self) -> str:
        """For the id of a test."""
        return f"{self.seed}-{self.change.kind}-at-{self.step}".replace(" ", "-")


def case(seed: int) -> Case:
    """The case of a seed: each kind in turn, at a random step."""
    random, change = Random(seed), CHANGES[seed % len(CHANGES)]
    step = random.randint(change.first_step, change.last_step)
    return Case(seed, change, step, random.random() < 0.5)


def run(project: Project, uwf: Client, scene: Scene, folder: str) -> str:
    """Run a scene in its own folder; the thread."""
    place = project.folder / folder
    for each in (place, project.folder / "elsewhere"):
        each.mkdir(exist_ok=True)
    file = place / f"{scene.name}.yaml"
    file.write_text(scene.text(), encoding="utf-8")
    project.script(scene.plays)
    thread = uwf.start(str(file), scene.task, cwd=place)["thread"]
    for move in scene.moves:
        move(uwf, thread)
    return thread


def run_case(project: Project, uwf: Client, planted: Case) -> Mapping[str, str]:
    """Both runs of a case: their threads by the name of the side."""
    threads = []
    for index in range(2):
        scene = Scene()
        planted.change.both(scene, planted.step)
        if index:
            planted.change.second(scene, planted.step)
        threads.append(run(project, uwf, scene, f"folder{index}"))
    if planted.swapped:
        threads.reverse()
    return {"a": threads[0], "b": threads[1]}
