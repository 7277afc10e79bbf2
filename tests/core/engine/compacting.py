"""An agent without sessions whose prompts show the whole history, and which writes summaries."""

import json
import sys

from uwf_core.client import Client
from uwf_core.testing.project import Project

AGENT = """
import json, os, sys
folder = os.path.dirname(os.path.abspath(__file__))
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
request = json.load(open(os.environ["UWF_REQUEST"]))
if words["--mode"] == "ask":
    with open(os.path.join(folder, "asked"), "w") as file:
        json.dump(request, file)
    reply = json.load(open(os.path.join(folder, "summary")))
elif request["role"] == "developer":
    text = f"WORK {request['stepNumber']}"
    reply = {"output": f"---\\n$status: done\\n---\\n{text}\\n"}
else:
    comments = f"REVIEW {request['stepNumber']}"
    reply = {"output": {"$status": "rejected", "comments": comments}}
print(json.dumps(reply))
"""


class Compacting:
    """A project whose agent works and reviews without an end."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._folder = project.folder.parent
        (self._folder / "agent.py").write_text(AGENT)
        self.summarize({"output": "A summary."})
        project.config(
            f"agents:\n  me: {{command: {json.dumps(sys.executable)}, "
            f"args: [{self._folder / 'agent.py'}], capabilities: [ask]}}\n"
        )

    def client(self) -> Client:
        """A client of the project whose default agent this is."""
        return self.project.client(default_agent="me")

    def summarize(self, reply: object) -> None:
        """What the agent replies if it is asked for a summary."""
        (self._folder / "summary").write_text(json.dumps(reply))

    @property
    def asked(self) -> dict[str, object]:
        """The newest request for a summary."""
        found: dict[str, object] = json.loads((self._folder / "asked").read_text())
        return found
