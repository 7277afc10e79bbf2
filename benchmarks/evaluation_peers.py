"""The same trivial trials in other tools: promptfoo with its echo provider (which keeps nothing
durable), Inspect AI with its mock model. `nox -s bench -- --peers` installs Inspect AI; promptfoo
comes by npm into a temporary folder.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

_SECONDS = 1800
# The mock's answers name their usage: else its tokens are counted with a table from the network.
_INSPECT = """\
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

def answer(*_):
    output = ModelOutput.from_content("mockllm", "hello")
    output.usage = ModelUsage(input_tokens=3, output_tokens=1, total_tokens=4)
    return output

count = int(sys.argv[1])
samples = [Sample(input="Say hello.", target="hello") for _ in range(count)]
task = Task(dataset=samples, solver=generate(), scorer=includes())
model = get_model("mockllm/model", custom_outputs=answer)
log = eval(task, model=model, max_samples=1, max_connections=1, display="none")[0]
sys.exit(0 if log.status == "success" and log.results.completed_samples == count else 1)
"""


def seconds_of_each(folder: Path, count: int, rounds: int) -> dict[str, float]:
    """Seconds of each further trial in each tool that can be had here, by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, command in (("promptfoo", _promptfoo), ("Inspect AI", _inspect)):
        print(f"bench: {name}", file=sys.stderr, flush=True)
        try:
            few, many = command(folder, 1), command(folder, count)
            short = min(_timed(few, folder) for _ in range(rounds))
            long = min(_timed(many, folder) for _ in range(rounds))
        except (OSError, subprocess.SubprocessError) as error:
            print(f"bench: {name} is left out: {_why(error)}", file=sys.stderr, flush=True)
            continue
        found[name] = (long - short) / (count - 1)
    return found


def _timed(words: list[str], folder: Path) -> float:
    started = time.perf_counter()
    _call(words, folder)
    return time.perf_counter() - started


def _call(words: list[str], folder: Path) -> None:
    """Run a program without network, in a new home."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PROMPTFOO_CONFIG_DIR": str(folder / ".promptfoo"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        "INSPECT_LOG_DIR": str(folder / "logs"),
    }
    subprocess.run(words, cwd=folder, env=env, check=True, capture_output=True, timeout=_SECONDS)


def _promptfoo(folder: Path, count: int) -> list[str]:
    """The words that run promptfoo with so many tests; it is installed where it is not there."""
    program = folder / "node_modules" / ".bin" / "promptfoo"
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError("there is no npm here")
        install = [npm, "install", "--no-fund", "--no-audit", "--prefix", ".", "promptfoo"]
        subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=_SECONDS)
    config = folder / f"promptfoo-{count}.json"
    assertion = [{"type": "contains", "value": "hello"}]
    tests = [{"vars": {"n": str(n)}, "assert": assertion} for n in range(count)]
    document = {"prompts": ["Say hello. {{n}}"], "providers": ["echo"], "tests": tests}
    config.write_text(json.dumps(document), encoding="utf-8")
    words = [str(program), "eval", "-c", str(config), "--no-cache", "--no-table", "-j", "1"]
    return [*words, "--no-progress-bar", "--no-share"]


def _inspect(folder: Path, count: int) -> list[str]:
    """The words that run Inspect AI with so many samples."""
    (folder / "tiny.py").write_text(_INSPECT, encoding="utf-8")
    return [sys.executable, "tiny.py", str(count)]


def _why(error: Exception) -> str:
    """The last line of what a program said, else the error."""
    said = getattr(error, "stderr", None) or b""
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else str(error)
