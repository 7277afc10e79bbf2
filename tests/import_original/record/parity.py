"""Play the examples of the original in both systems with the same replies; adds a table to the page
of `corpus.py`. Run by hand, after that:

    python tests/import_original/record/parity.py CHECKOUT
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from corpus import PAGE
from record import build, run

from uwf_core.definitions import parse_yaml
from uwf_core.testing.project import Project
from uwf_core.workflow.check import check_file
from uwf_core.workflow.variants import variants

MOST_STEPS = 12
FILTER = re.compile(r"{{\s*([\w.]+)\s*\|[^}]*}}")
"""A filter of Liquid. The hint says to leave it out, so it is left out where uwf plays the file."""
FIELDS = ("role", "prompt", "folder", "output", "status")
HEAD = """
## Played in both

`tests/import_original/record/parity.py` plays each example and each workflow of the tests of
version 0.8.0 in both systems, with the same replies, and compares of every step the role, the
prompt of its edge, its folder, its typed output, and the status of the thread after it. (a): 0.8.0
renders `{{ _body }}` empty. (b): a list renders as JSON; the filter `join` was left out for uwf.

| file | steps | identical but for |
|---|---|---|
"""


def main(checkout: Path) -> None:
    """Append the table."""
    patterns = ("examples/*.yaml", "packages/cli/src/__tests__/fixtures/*.workflow.yaml")
    rows = []
    with TemporaryDirectory() as name:
        place = Path(name)
        built = build(checkout, place, "driver.ts")
        for number, file in enumerate(each for p in patterns for each in sorted(checkout.glob(p))):
            copy = place / str(number) / f"{parse_yaml(file.read_text(), file='x')['name']}.yaml"
            copy.parent.mkdir()
            copy.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
            rows.append((file.relative_to(checkout), *_compared(copy, place, built)))
    text = PAGE.read_text(encoding="utf-8").partition(HEAD[:20])[0] + HEAD
    text += "".join(f"| `{path}` | {count} | {found} |\n" for path, count, found in rows)
    PAGE.write_text(text, encoding="utf-8")
    print(*rows, sep="\n")


def _compared(file: Path, place: Path, built: tuple[Path, Path]) -> tuple[int, str]:
    plain = file.parent / "plain" / file.name
    plain.parent.mkdir()
    plain.write_text(FILTER.sub(r"{{ \1 }}", file.read_text(encoding="utf-8")), encoding="utf-8")
    workflow = check_file(str(plain)).workflow
    if workflow is None:
        return 0, "not played: uwf refuses the file"
    work = file.parent / "work"
    (work / "tree").mkdir(parents=True)
    replies = list(_replies(workflow, work))
    theirs = _played_there(file, work, replies, place, built)
    ours = _played_here(plain, work, replies)
    differ = {
        f"{field} of step {number}{_why(field, a, b)}"
        for number, (a, b) in enumerate(zip(theirs, ours, strict=False), 1)
        for field in FIELDS
        if a[field] != b[field]
    }
    if len(theirs) != len(ours):
        differ.add(f"the number of steps ({len(theirs)} there, {len(ours)} here)")
    return len(ours), ", ".join(sorted(differ)) or "–"


def _why(field: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """The documented difference, if that is all."""
    if field != "prompt":
        return ""
    here, there = ours["prompt"], theirs["prompt"]
    bodies = re.sub(r"Step \d+\.", "", here)
    if bodies.split() == there.split():
        return " (a)"
    return " (b)" if here.replace('["a","b"]', "a, b").replace('["a","b"]', "ab") == there else ""


def _replies(workflow: Mapping[str, Any], work: Path) -> Iterator[tuple[str, str]]:
    """Role and reply of each step: every role takes its statuses in turn."""
    graph, taken = workflow["graph"], Counter[tuple[str, str]]()
    folders = [edge["location"] for edges in graph.values() for edge in edges.values()]
    role = graph["$START"]["new"]["role"]
    for number in range(MOST_STEPS):
        ways = variants(workflow["roles"][role]["frontmatter"])
        way = min(ways, key=lambda each: taken[role, each.status])
        taken[role, way.status] += 1
        values = {"$status": way.status}
        for name, schema in way.properties.items():
            is_folder = any(name in (each or "") for each in folders)
            if name != "$status":
                values[name] = str(work / "tree") if is_folder else _value(name, schema, number)
        lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in values.items())
        yield role, f"---\n{lines}---\nStep {number}.\n"
        role = graph[role][way.status]["role"]
        if role.startswith("$"):
            return


def _value(name: str, schema: Mapping[str, Any], number: int) -> Any:
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [""])[0])
    samples = {"string": f"{name} {number}", "array": ["a", "b"], "object": {}, "boolean": True}
    return samples.get(str(schema.get("type")), number + 1)


def _played_there(
    file: Path, work: Path, replies: list[tuple[str, str]], place: Path, built: tuple[Path, Path]
) -> list[dict[str, Any]]:
    start = {"op": "start", "workflow": file.stem, "prompt": "The task.", "as": "t"}
    scenario: list[dict[str, Any]] = [{"op": "add", "file": file.name}, start | {"cwd": str(work)}]
    scenario += [{"op": "exec", "thread": "t", "replies": [text]} for _, text in replies]
    scenario.append({"op": "steps", "thread": "t"})
    (file.parent / "scenario.json").write_text(json.dumps(scenario))
    out, home = file.parent / "out.json", file.parent / "home"
    run(place, *built, home, work, file.parent / "scenario.json", out)
    played = json.loads(out.read_text())["out"]
    statuses = [each["result"][0]["status"] for each in played if each["op"] == "exec"]
    from uwf_import_original.home import OriginalHome

    nodes, found = OriginalHome(str(home)), []
    for step, status in zip(played[-1]["result"]["steps"][1:], statuses, strict=False):
        node: Any = nodes.node(step["hash"]).payload
        found.append(
            {
                "role": step["role"],
                "prompt": node["edgePrompt"],
                "folder": node["cwd"],
                "output": step["output"],
                "status": "completed" if status == "end" else status,
            }
        )
    return found


def _played_here(file: Path, work: Path, replies: list[tuple[str, str]]) -> list[dict[str, Any]]:
    project = Project(file.parent / "ours")
    project.script([{"role": role, "output": text} for role, text in replies])
    found = []
    with project.client() as uwf:
        uwf.add_workflow(file)
        thread = uwf.start(file.stem, "The task.", cwd=str(work))["thread"]
        for _ in replies:
            result = uwf.exec(thread).document["steps"][0]
            step = uwf.step(result["step"])
            found.append(
                {
                    "role": step["role"],
                    "prompt": step["attempt"]["edgePrompt"],
                    "folder": step["attempt"]["cwd"],
                    "output": step["output"],
                    "status": result["status"],
                }
            )
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
