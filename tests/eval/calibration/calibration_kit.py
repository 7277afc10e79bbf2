"""A task whose only judge is a rubric with two criteria, and a model with the bias of a test."""

import json
import re
import signal
from pathlib import Path

from uwf_core.commands import Screen, main
from uwf_eval.calibration.text import calibrations_text
from uwf_eval.cli.main import root
from uwf_testing.model_server_script import ModelTurn

CRITERIA = [{"name": "clear", "description": "Clear."}, {"name": "true", "description": "True."}]


def fair(seen):
    """A model that sees what the labels say."""
    return [4, 4] if "right" in seen.result else [0, 0]


class Seen:
    """What the model was asked: the criteria in their order, and the result."""

    def __init__(self, request, number):
        rules, material = (message["content"] for message in request.body["messages"][:2])
        self.number = number
        self.criteria = [each[2:] for each in re.findall(r"^- \w+", rules, re.MULTILINE)]
        self.result = re.search(r"<<<\w+ result\n(.*?)\n\w+>>>", material, re.DOTALL)[1]
        self.item = int(re.search(r"item (\d+)", self.result)[1])

    @property
    def is_long(self):
        return self.result.count("item") > 1


class Desk:
    """Calls `uwf-eval` in this process; `points` are those of the model for the criteria."""

    def __init__(self, root, capsys):
        self.home, self.folder = root / "home", root / "work"
        self.home.mkdir()
        (self.folder / "task").mkdir(parents=True)
        self.points, self.asked = fair, 0
        self._capsys = capsys

    def configure(self, url, name="first"):
        config = {
            "providers": {"local": {"baseUrl": url}},
            "models": {"judge": {"provider": "local", "name": name}},
            "modelOverrides": {"judge": "judge"},
        }
        (self.home / "config.yaml").write_text(json.dumps(config))
        self.url = url

    def answer(self, request):
        seen = Seen(request, self.asked)
        self.asked += 1
        points = self.points(seen)
        judged = [
            {"criterion": name, "points": n, "quotes": [f"This is item {seen.item}"] * bool(n),
             "reason": "so"}
            for name, n in zip(seen.criteria, points, strict=True)
        ]  # fmt: skip
        return ModelTurn(text=json.dumps({"criteria": judged}))

    def task(self, items=16, bar=None, more=(), **judge):
        """Write a task; every second item is right by its label."""
        file = Path(self.folder, "task", "set.yaml")
        labelled = [
            {"name": f"i{n}", "prompt": "Count.", "gold": float(n % 2),
             "result": f"This is item {n}: {'right' if n % 2 else 'wrong'}."}
            for n in range(items)
        ]  # fmt: skip
        file.write_text(json.dumps({"items": labelled, **({"bar": bar} if bar else {})}))
        rubric = {
            "name": "quality", "builtin": "rubric", "weight": 2, "calibration": "set.yaml",
            "options": {"criteria": CRITERIA}, **judge,
        }  # fmt: skip
        task = {
            "version": 1, "name": "count", "workflow": "count.yaml", "prompt": "Count.",
            "agent": "sh agent.sh", "judges": [rubric, *more],
        }  # fmt: skip
        Path(self.folder, "task", "task.yaml").write_text(json.dumps(task))
        Path(self.folder, "task", "count.yaml").write_text(WORKFLOW)
        Path(self.folder, "task", "agent.sh").write_text(AGENT)

    def call(self, *words, code=0):
        """The document of a command, and what it printed to stderr."""
        handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
        found = main([*words], None, lambda: root("uwf-eval"))
        for number, handler in handlers.items():
            signal.signal(number, handler)
        said = self._capsys.readouterr()
        assert found == code, said
        return json.loads(said.out) if said.out.startswith("{") else said.out, said.err

    def calibrate(self, *words, code=0):
        """The document of the judge, its figures by name, and the text of it."""
        words = ("calibrate", "task/quality", "--runs", "2", *words)
        document, _ = self.call(*words, code=code)
        [found] = document["calibrations"]
        text = calibrations_text(document, Screen(80, colour=False))
        return found, {each["name"]: each for each in found["figures"]}, text


WORKFLOW = """
version: 1
name: count
roles:
  counter:
    goal: Count.
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
graph:
  $START:
    new: {role: counter, prompt: "Count."}
    resume: {role: counter, prompt: "Again."}
  counter:
    done: {role: $END, prompt: "Done."}
"""

REPLY = "---\n$status: done\n---\nThis is item 1: right.\n"
AGENT = f"cat <<'END'\n{json.dumps({'output': REPLY, 'sessionId': 's'})}\nEND\n"
