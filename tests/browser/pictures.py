"""`python tests/browser/pictures.py FOLDER`: the pictures of the documentation, made of the real
pages: a server, threads of two example workflows on scripted agents, and an evaluation.

`nox -s browser -- --pictures` runs it. Look at each picture before you commit it.
"""

import base64
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from chromium import Browser
from web_server import WebServer

WINDOW = {"width": 1000, "height": 760}
QUALITY = 82

DRAFT = {"$status": "written", "file": "NEWS.md", "summary": "The release in five lines."}
CHANGED = {**DRAFT, "summary": "The new flag comes first, and an example shows it."}
RETURNED = {"$status": "returned", "comments": "The new flag is in the last line. Begin with it."}
LETTER = [
    {"role": "writer", "output": DRAFT},
    {"role": "editor", "output": RETURNED},
    {"role": "writer", "output": CHANGED},
    {"role": "editor", "output": {"$status": "ready", "file": "NEWS.md"}},
]
PLAN = {
    "$status": "planned",
    "file": "invoice.py",
    "plan": "Round the tax half up, in whole cents.",
}
DONE = {"$status": "done", "summary": "The tax is rounded half up.", "files": ["invoice.py"]}
REJECTED = {"$status": "rejected", "comments": "A negative total is still rounded the wrong way."}
FIX = [
    {"role": "planner", "output": PLAN},
    {"role": "developer", "output": DONE},
    {"role": "reviewer", "output": REJECTED},
    {"role": "developer", "output": DONE},
    {"role": "reviewer", "output": {"$status": "approved"}},
    {"role": "tester", "output": {"$status": "passed", "tests": 41}},
]
SHORT = [FIX[0], FIX[1], FIX[4], FIX[5]]


class Stage:
    """A server with threads to show."""

    def __init__(self, root: Path) -> None:
        self.server = WebServer(root)
        project = self.server.project
        (project.folder / ".workflow" / "letter.yaml").unlink()
        with project.client() as uwf:
            for name in ("fix-bug", "write-document"):
                project.workflow(name, uwf.new_workflow(name, name)[name])
            text = project.folder / ".workflow" / "fix-bug.yaml"
            text.write_text(text.read_text("utf-8").replace("Repair this", "Fix this"), "utf-8")
            self.old = uwf.find_workflow("fix-bug")
            project.workflow("fix-bug", uwf.new_workflow("fix-bug", "fix-bug")["fix-bug"])
        self.first = self._run("fix-bug", FIX, "The total of an invoice is off by one cent.")
        self.second = self._run("fix-bug", SHORT, "A discount of 100 % gives a negative total.")
        self.letter = self._run("write-document", LETTER, "Write the news of version 2.4.")
        words = [sys.executable, "-m", "uwf_eval"]
        for more in (["new", "spelling"], ["run", "spelling", "--repeat", "5"]):
            subprocess.run([*words, *more], cwd=project.folder, env=project.env, check=True)
        self.wrong = text.read_text("utf-8").replace("role: tester", "role: testr", 1)

    def _run(self, workflow: str, script: list[dict[str, Any]], task: str) -> str:
        self.server.project.script(script)
        with self.server.project.client() as uwf:
            thread = uwf.start(workflow, task)["thread"]
            uwf.exec(thread, until_done=True)
            return str(thread)


def main(folder: Path) -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as root:
        stage = Stage(Path(root))
        browser = Browser(os.environ["UWF_BROWSER"])
        try:
            take(browser, stage, folder)
        finally:
            browser.close()
            stage.server.stop()


def take(browser: Browser, stage: Stage, folder: Path) -> None:
    """Visit the pages and keep a picture of each."""
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    session = context.new_cdp_session(page)
    page.goto(stage.server.link)

    def keep(name: str, path: str) -> None:
        if path:
            page.goto(stage.server.origin + path)
        page.wait_for_timeout(300)
        taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
        (folder / f"{name}.webp").write_bytes(base64.b64decode(taken["data"]))

    thread = f"/threads/{stage.letter}"
    step = f"/threads/{stage.first}/steps/{_step(stage)}"
    for name, path in {
        "threads": "/threads",
        "start": "/start/fix-bug",
        "answer": thread,
        "graph": f"{thread}#graph",
        "step": step,
        "workflow": "/workflows/fix-bug",
        "versions": f"/workflows/{stage.old}/diff/fix-bug",
        "usage": "/usage",
        "agents": "/agents",
    }.items():
        keep(f"web-{name}", path)
    keep("web-compare", f"/threads/{stage.first}/diff/{stage.second}")
    keep("web-why", f"/threads/{stage.first}/why#{_step(stage)}")
    page.goto(f"{stage.server.origin}/editor?name=fix-bug")
    page.fill("#text", stage.wrong)
    page.locator(".problems a").first.click()
    keep("web-editor", "")
    page.goto(f"{stage.server.origin}/evaluations")
    page.locator("main a").first.click()
    keep("web-evaluation", "")
    page.emulate_media(color_scheme="dark")
    keep("web-dark", f"/threads/{stage.first}#graph")
    context.close()


def _step(stage: Stage) -> str:
    with stage.server.project.client() as uwf:
        return str(uwf.steps(stage.first)[3]["step"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
