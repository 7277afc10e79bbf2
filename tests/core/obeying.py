"""Workflows with branches, and an agent that does in each what its prompt says.

Words of a prompt: `sleep=MS`, `until=FILE` (waits until it exists), `meet=NUMBER` (waits until so
many steps with this word have begun), `fail=TIMES`, `ask` (a question), `say=STATUS`,
`cost=DOLLARS`. The newest line that begins with `DO` counts, so a person can say how to go on.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_core.client import Client
from uwf_core.testing.project import Project

AGENT = '''
"""Does what its prompt says."""

import json
import os
import re

from uwf_core.api import AgentReply, AgentSpec, hookimpl
from uwf_core.api.agent import Usage
from uwf_core.errors import AgentFailure, AgentInterrupted, FailureKind, NeedsAnswer

FORM = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


@hookimpl
def uwf_agents():
    return [AgentSpec(
        name="obeying", summary="does what its prompt says", factory=f"{__name__}:Obeying",
        capabilities=frozenset(("continue", "fork", "ask", "structured", "usage")),
    )]


class Obeying:
    def __init__(self, options, context):
        self._folder = context.state_dir

    def run(self, request, sink):
        parts = request.parts
        told = re.findall(r"^(.*)DO(.*)", f"{parts.task}\\n{parts.instruction}", re.MULTILINE)
        before, line = told[-1] if told else ("", "")
        words = dict(re.findall(r"(\\w+)=?(\\S*)", line))
        session = request.session or f"{request.thread}-{request.role}"
        sink.session(session)
        usage = Usage(turns=1, input_tokens=10, output_tokens=1,
                      cost_usd=float(words.get("cost", "0.5")))
        sink.usage(usage)
        if request.cancel.wait(int(words.get("sleep", 0)) / 1000):
            raise AgentInterrupted("cancelled", session=session)
        while not self._may_go_on(request, words):
            if request.cancel.wait(0.02):
                raise AgentInterrupted("cancelled", session=session)
        if "fail" in words and self._tries(request) <= int(words["fail"]):
            raise AgentFailure.of(FailureKind.CRASHED, "as told", session=session)
        if "ask" in words and request.answer is None:
            raise NeedsAnswer("Which word?", FORM)
        output = self._output(request, words, before.strip())
        continuation, proof = ("new", None) if request.session is None else ("continued", "mine")
        return AgentReply(structured=output, session=session, usage=usage, mark="1",
                          continuation=continuation, proof=proof)

    def _may_go_on(self, request, words):
        if "meet" in words:
            met = os.path.join(self._folder, "met")
            os.makedirs(met, exist_ok=True)
            open(f"{met}/{request.thread}", "w").close()
            if len(os.listdir(met)) < int(words["meet"]):
                return False
        return "until" not in words or os.path.exists(words["until"])

    def _tries(self, request):
        os.makedirs(self._folder, exist_ok=True)
        with open(f"{self._folder}/{request.thread}-{request.step_number}", "a+") as file:
            file.write(".")
            file.seek(0)
            return len(file.read())

    def _output(self, request, words, before):
        if request.role == "planner":
            return {"$status": "planned", "tasks": json.loads(request.parts.task.split("TASKS")[1])}
        status = words.get("say", "approved" if request.role == "reviewer" else "done")
        if status == "suspend":
            return {"$status": "$SUSPEND", "reason": "I wait"}
        own = {"$status": status, "summary": f"{request.role}: {before}"}
        return {**own, **({"word": request.answer["word"]} if request.answer else {})}

    def fork(self, session, request, at=None):
        return session + "f"

    def ask(self, request, sink):
        return AgentReply(text="It was told so.", session=request.session)

    def close(self):
        pass
'''
WORKER = """
    goal: Do a task.
    frontmatter:
      oneOf:
        - properties: {$status: {const: done}, summary: {type: string}, word: {type: string}}
          required: [$status, summary]
        - {properties: {$status: {const: stuck}, summary: {type: string}}, required: [$status]}
"""
ROLES = """\
version: 1
name: NAME
roles:
  planner:
    goal: Split the task.
    frontmatter:
      properties:
        $status: {const: planned}
        tasks:
          type: array
          items:
            type: object
            properties: {title: {type: string}, do: {type: string}}
            required: [title, do]
      required: [$status, tasks]
  worker: WORKER
  reviewer:
    goal: Review it.
    frontmatter: {properties: {$status: {const: approved}}, required: [$status]}
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  reviewer:
    approved: {role: $END, prompt: Done.}
  planner:
    planned:
"""
EACH = (
    ROLES
    + """\
      forEach: tasks
      role: worker
      prompt: "{{{title}}} DO {{{do}}}"
      maxParallel: 4
      then:
        done: {role: reviewer, prompt: "{{#results}}{{$index}} {{{summary}}} {{/results}}"}
        $mixed: {role: $END, prompt: Some failed.}
        $empty: {role: reviewer, prompt: There was nothing to do.}
"""
)


def for_each(name: str = "each", worker: str = WORKER, **changes: str) -> str:
    """The text of a workflow whose branches are the tasks of its planner.

    Args:
        name: its name. worker: the role of a branch. changes: texts to replace, by their keys:
            `most` (maxParallel), `mixed` and `done` (the roles that follow).
    """
    text = EACH.replace("NAME", name).replace("  worker: WORKER", f"  worker:{worker.rstrip()}")
    text = text.replace("maxParallel: 4", f"maxParallel: {changes.get('most', '4')}")
    text = text.replace("$mixed: {role: $END,", f"$mixed: {{role: {changes.get('mixed', '$END')},")
    return text.replace(
        "done: {role: reviewer,", f"done: {{role: {changes.get('done', 'reviewer')},"
    )


def two_roles(first: str, second: str, prompt: str, status: str = "done") -> str:
    """The text of the workflow `checked`, of two steps, for branches that are workflows.

    Args:
        first, second: the roles. prompt: of the second. status: what it delivers.
    """
    return f"""\
version: 1
name: checked
roles:
  {first}:
    goal: Do it.
    frontmatter: {{properties: {{$status: {{const: done}}}}, required: [$status]}}
  {second}:
    goal: Check it.
    frontmatter:
      properties: {{$status: {{const: {status}}}, summary: {{type: string}}}}
      required: [$status, summary]
graph:
  $START:
    new: {{role: {first}, prompt: Begin.}}
    resume: {{role: {first}, prompt: Once more.}}
  {first}:
    done: {{role: {second}, prompt: {json.dumps(prompt)}}}
  {second}:
    {status}: {{role: $END, prompt: Done.}}
"""


def parallel(name: str, **prompts: str) -> str:
    """The text of a workflow with a worker for each name, whose prompts these are."""
    lines = ["      parallel:"]
    for each, prompt in prompts.items():
        lines.append(f"        {each}: {{role: worker, prompt: {json.dumps(prompt)}}}")
    head, _, tail = for_each(name).partition("      forEach: tasks\n")
    then = tail[tail.index("      maxParallel") :].split("        $empty")[0]
    return head + "\n".join(lines) + "\n" + then


def task(*does: str) -> str:
    """The task of a root whose planner delivers these tasks, one for each branch."""
    items = [{"title": f"t{number}", "do": do} for number, do in enumerate(does)]
    return f"Do it. TASKS{json.dumps(items)}TASKS"


def obeying_project(root: Path, **workflows: str) -> Project:
    """A trusted project with the agent `obeying`, the workflow `each` and others."""
    project = Project(root)
    project.config("limits: {graceSeconds: 0.5}\n")
    obey(project)
    for name, text in {"each": for_each(), **workflows}.items():
        project.workflow(name, text)
    return project


def obey(project: Project) -> None:
    """Let the agent `obeying` play all roles of a project."""
    file = project.folder / ".uwf" / "plugins" / "agents" / "obeying.py"
    file.parent.mkdir(parents=True)
    file.write_text(AGENT)
    project.trust()
    project.env["UWF_DEFAULT_AGENT"] = "obeying"


def branches(uwf: Client, root: str) -> list[str]:
    """The threads of the open branches of a root, in their order."""
    return [each.thread for each in uwf.thread(root).open_calls]


def statuses(uwf: Client, root: str) -> list[str]:
    """The status of each open branch, in words."""
    found = []
    for branch in branches(uwf, root):
        shown = uwf.show(branch)
        found.append(shown["suspendReason"] or shown["status"])
    return found


def begin(project: Project, root: str) -> None:
    """Create the branches of a root that is at a fan-out, in a process that dies after that."""
    died = project.uwf("thread", "exec", root, env={"UWF_TEST_CRASH": "spawn:1"})
    assert died.exit_code == -9, died


def joined(uwf: Client, root: str) -> Mapping[str, Any]:
    """The node of the newest step of a fan-out."""
    found = [step for step in uwf.thread(root).steps() if "/" in step.role]
    return found[-1].node


def joint_output(uwf: Client, root: str) -> Any:
    """The output of the newest step of a fan-out."""
    return [step for step in uwf.thread(root).steps() if "/" in step.role][-1].output
