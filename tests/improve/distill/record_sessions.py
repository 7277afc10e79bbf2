"""`python tests/improve/distill/record_sessions.py OLDER NEWER HERMES`: of real programs.

Writes `sessions/`: each program runs its own tools on a small folder, and its model is scripted.
Folders are replaced; what no reader uses (attachments, system prompts) is left out.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from uwf_testing.model_server import ScriptedModel

OUT = Path(__file__).parent / "sessions"
SESSION = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "ANTHROPIC_API_KEY": "sk-test",
    "IS_SANDBOX": "1",
}
CONFIG = """
model: {default: scripted, provider: custom, base_url: "%s", api_key: sk-of-the-tests,
  context_length: 200000}
security: {tirith_enabled: false}
display: {inline_diffs: false}
agent: {api_max_retries: 1}
"""
WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
TEST = "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
CHECK = "python3 -c 'from calc import add; assert add(1, 2) == 3'"
Turns = list[Any]


def use(text: str, *tools: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"text": text, "toolCalls": [{"name": n, "arguments": given} for n, given in tools]}


class Tools:
    """The names and arguments that a program gives its tools."""

    def __init__(self, program: str, work: Path) -> None:
        self._claude, self._builtin, self._work = program == "claude", program == "builtin", work

    def read(self, name: str) -> tuple[str, dict[str, Any]]:
        if self._claude:
            return "Read", {"file_path": str(self._work / name)}
        return "read_file", {"path": name}

    def write(self, name: str, text: str) -> tuple[str, dict[str, Any]]:
        if self._claude:
            return "Write", {"file_path": str(self._work / name), "content": text}
        return "write_file", {"path": name, "content": text}

    def run(self, command: str) -> tuple[str, dict[str, Any]]:
        if self._claude:
            return "Bash", {"command": command, "description": "Run it"}
        return ("run_command" if self._builtin else "terminal"), {"command": command}


def fix(t: Tools, end: str = "It subtracted; it adds now, and the check passes.") -> Turns:
    return [
        use("I look at the code.", t.read("calc.py")),
        use("It subtracts.", t.write("calc.py", RIGHT)),
        use("I check it.", t.run(CHECK)),
        end,
    ]


def fix_again(t: Tools) -> Turns:
    return [
        use("", t.read("calc.py")),
        use("First try.", t.write("calc.py", RIGHT.replace("+", "*"))),
        use("", t.run(CHECK)),
        use("Still wrong.", t.write("calc.py", RIGHT)),
        use("", t.run(CHECK)),
        "Fixed on the second try.",
    ]


def add_a_test(t: Tools) -> Turns:
    return [use("I add one.", t.write("test_calc.py", TEST)), "There is a test now."]


def explore(t: Tools) -> Turns:
    return [use("", t.run("ls -la"), t.read("calc.py")), "There is one module, calc.py."]


def answer(_t: Tools) -> Turns:
    return ["A monad is a monoid in the category of endofunctors."]


Said = list[tuple[str, Any]]
CLAUDE: dict[str, Said] = {
    "fix": [("Fix add() in calc.py", fix)],
    "fix-again": [("Fix add() in calc.py, and run a check", fix_again)],
    "answer": [("What is a monad?", answer)],
    "sent-back": [
        ("Fix add() in calc.py", fix),
        ("Add a test as well, {{please}}", add_a_test),
        ("Thanks. What is in this folder now?", explore),
    ],
}
HERMES: dict[str, Said] = {
    "fix": [("Fix add() in calc.py", fix)],
    "sent-back": [("Fix add() in calc.py", fix_again), ("Add a test as well", add_a_test)],
}


def scratch(root: Path) -> Path:
    for name in ("home", "work", "tmp"):
        (root / name).mkdir()
    (root / "work" / "calc.py").write_text(WRONG)
    return root / "work"


def record_claude_code(program: str, name: str, said: Said) -> None:
    with tempfile.TemporaryDirectory(prefix="record-") as folder:
        root = Path(folder).resolve()
        work = scratch(root)
        turns = [each for _, make in said for each in make(Tools("claude", work))]
        with ScriptedModel(turns, side_text="A title") as model:
            env = {"PATH": os.defpath, "HOME": str(root / "home"), "TMPDIR": str(root / "tmp"),
                   "ANTHROPIC_BASE_URL": model.anthropic_url, **QUIET}  # fmt: skip
            for number, (prompt, _) in enumerate(said):
                which = "--resume" if number else "--session-id"
                words = [program, "-p", "--dangerously-skip-permissions", which, SESSION]
                subprocess.run(words, cwd=work, env=env, input=prompt, text=True, check=True)
        (file,) = (root / "home" / ".claude" / "projects").glob(f"*/{SESSION}.jsonl")
        lines = [json.loads(each) for each in file.read_text().splitlines()]
        write(name, [without_bulk(each) for each in lines if each.get("uuid")], root)


def without_bulk(line: dict[str, Any]) -> dict[str, Any]:
    """What a reader uses of a line."""
    kept = ("type", "uuid", "parentUuid", "isSidechain", "isMeta", "sessionId", "version")
    own = {key: line[key] for key in kept if key in line}
    return {**own, "message": line["message"]} if "message" in line else own


def record_hermes(program: str, name: str, said: Said) -> None:
    with tempfile.TemporaryDirectory(prefix="record-") as folder:
        root = Path(folder).resolve()
        work = scratch(root)
        turns = [each for _, make in said for each in make(Tools("hermes", work))]
        with ScriptedModel(turns, side_text="A title") as model:
            (root / "home" / "config.yaml").write_text(CONFIG % model.openai_url)
            env = {"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8",
                   "HERMES_HOME": str(root / "home"), "TMPDIR": str(root / "tmp")}  # fmt: skip

            def hermes(*words: str) -> subprocess.CompletedProcess[str]:
                return subprocess.run([program, *words], cwd=work, env=env, text=True,
                                      capture_output=True, check=True)  # fmt: skip

            session: list[str] = []
            for prompt, _ in said:
                resume = ["--resume", session[-1]] if session else []
                done = hermes("chat", f"--query={prompt}", "--quiet", "--yolo", *resume)
                session += [each.split()[1] for each in done.stderr.splitlines()
                            if each.startswith("session_id:")]  # fmt: skip
            exported = hermes("sessions", "export", "-", "--session-id", session[-1]).stdout
        document = json.loads(exported)
        write(name, [{**document, "system_prompt": "", "model_config": None}], root)


def record_builtin(name: str, said: Said, *, atif: bool = False) -> None:
    """A thread of one role; its session, or the thread as a trajectory."""
    from uwf_core.client import Client

    with tempfile.TemporaryDirectory(prefix="record-") as folder:
        root = Path(folder).resolve()
        work = scratch(root)
        end = "---\n$status: done\n---\n"
        turns = [
            end + each if isinstance(each, str) else each
            for _, make in said
            for each in make(Tools("builtin", work))
        ]
        (root / "w.yaml").write_text(
            "version: 1\nname: w\nroles:\n  worker:\n    goal: Do it.\n    frontmatter:\n"
            "      properties: {$status: {const: done}}\n      required: [$status]\n"
            "graph:\n  $START: {new: {role: worker, prompt: Begin.}, "
            "resume: {role: worker, prompt: Go on.}}\n"
            "  worker: {done: {role: $END, prompt: Done.}}\n"
        )
        with ScriptedModel(turns) as model:
            home = root / "home"
            (home / "config.yaml").write_text(
                f"providers: {{s: {{baseUrl: {model.openai_url}}}}}\n"
                "models: {scripted: {provider: s, name: scripted}}\ndefaultModel: scripted\n"
                "agents: {b: {use: builtin, options: {allowShell: workspace}}}\n"
            )
            env = {"PATH": os.environ["PATH"], "HOME": str(root), "UWF_HOME": str(home)}
            with Client.open(env=env, cwd=work, default_agent="b") as client:
                thread = client.start(str(root / "w.yaml"), said[0][0])["thread"]
                outcome = client.exec(thread, until_done=True)
                for prompt, _ in said[1:]:
                    outcome = client.resume(thread, prompt, until_done=True)
                assert outcome.document["status"] == "completed", outcome.document
                exported = b"".join(client.export(thread, "atif"))
        if atif:
            write(name, [json.loads(exported)], root)
            return
        files = [each for each in home.rglob("*.jsonl") if '"type": "session"' in each.read_text()]
        lines = [json.loads(each) for each in files[0].read_text().splitlines()]
        write(name, [each for each in lines if each.get("role") != "system"], root)


def write(name: str, lines: list[Any], root: Path) -> None:
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines)
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.jsonl").write_text(text.replace(str(root), "/scratch"), encoding="utf-8")
    print(name, len(lines), len(text), flush=True)


def main(words: list[str]) -> None:
    for program, version in zip(words[:2], ("older", "newer"), strict=True):
        for name, said in CLAUDE.items() if version == "newer" else list(CLAUDE.items())[:1]:
            record_claude_code(program, f"claude-code-{version}-{name}", said)
    for name, said in HERMES.items():
        record_hermes(words[2], f"hermes-{name}", said)
    record_builtin("builtin-fix", HERMES["fix"])
    record_builtin("builtin-sent-back", HERMES["sent-back"])
    record_builtin("atif-fix", HERMES["sent-back"], atif=True)


if __name__ == "__main__":
    main(sys.argv[1:])
