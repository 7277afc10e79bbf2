"""Stage 4: create a thread. Runs nothing."""

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.agents.bindings import check_paths
from uwf_core.agents.choose import player_of, resolve_agent
from uwf_core.engine.agents import usual_agent
from uwf_core.engine.events import create_thread
from uwf_core.engine.location import named_folder
from uwf_core.engine.watch import Watch
from uwf_core.engine.workflows import read_resolved, resolve_workflow
from uwf_core.errors import UnknownIdError, UsageError, WrongStateError
from uwf_core.fields.records import read_options, read_payload
from uwf_core.ids import Ref, ThreadId
from uwf_core.process import crash_points
from uwf_core.thread.head import queue_head, read_head
from uwf_core.thread.limits import named
from uwf_core.thread.names import head_name
from uwf_core.thread.tags import check_tags
from uwf_core.thread.types import StartPayload
from uwf_core.threads.agent_call import calling_attempt, link_call
from uwf_core.workflow.definition import SELF, START, Limits, RoleText
from uwf_core.workflow.publish import publish

if TYPE_CHECKING:
    from uwf_core.agents.choose import RolePlayer
    from uwf_core.engine.documents import StartedDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.workflow.discover import Resolved


class StartOptions(NamedTuple):
    """The word of the workflow, the task, the working folder, the word of `--agent`, the typed
    input (a value, a JSON object, or items `field=value`), the agents by path of roles, limits by
    their names in a workflow, and tags. `thread`: the id of the new thread, for a program that has
    given it away before; None makes one.
    """

    workflow: str
    prompt: str
    cwd: str | os.PathLike[str] = "."
    agent: str | None = None
    input: Mapping[str, Any] | str | None = None
    bindings: Mapping[str, str] = {}
    limits: Mapping[str, float] | None = None
    tags: Mapping[str, str] = {}
    thread: str | None = None
    queue: bool = False


def start_thread(engine: "Engine", options: StartOptions, watch: Watch) -> "StartedDocument":
    """Create a thread: its start node and its head, durable when this returns.

    Raises:
        UsageError: a blank prompt, a missing folder, an unknown workflow, agent or limit, a wrong
            limit or tag, or programs that the workflow may not run.
        PayloadError: the typed input does not satisfy the schema of the workflow.
        DefinitionError: the workflow file has errors.
        WrongStateError: a thread has the wanted id.
    """
    prompt, cwd, resolved, found, schema, given, limits = _checked(engine, options, watch)
    caller = calling_attempt(engine, watch)
    depth = 0 if caller is None else caller.state.depth + 1
    now, store = engine.now_ms(), engine.store
    with store.transaction():
        workflow = publish(store, found) if isinstance(found, dict) else found
        if not store.has(workflow):  # a collection came between
            raise UnknownIdError(
                f"workflow {workflow} was deleted meanwhile", hint="start it again"
            )
        definition = engine.definition(workflow)
        if definition.runs_programs:
            from uwf_core.engine.program_permission import allow_start

            allow_start(engine, workflow, cwd, resolved.file, watch)
        payload: StartPayload = {
            "workflow": workflow,
            "prompt": store.put_text(engine.redactor.text(prompt)),
            "cwd": cwd,
            "agent": options.agent,
            "startedAtMs": now,
            "parent": None if caller is None else caller.ref,
            "depth": depth,
            "input": None if given is None else store.put(store.put_schema(schema), given),
            "bindings": dict(options.bindings) or None,
            "limits": limits or None,
        }
        thread = _wanted(engine, options.thread) if options.thread else engine.thread_ids.new(now)
        crash_points.reach("start")
        head = create_thread(engine, thread, definition, payload)
        if caller is not None:
            link_call(engine, caller, head, Ref(payload["prompt"]))
        if options.tags:
            _tag(engine, thread, options.tags)
        if options.queue:
            from uwf_core.engine.dispatching import dispatch_backend  # for threads of workers

            dispatch_backend(engine)
            queue_head(store, read_head(store, thread))
    return {"workflow": workflow, "workflowName": definition.name, "thread": thread}


def check_start(engine: "Engine", options: StartOptions, watch: Watch) -> None:
    """Check what a thread would be started with; stores nothing. Errors as `start_thread`, but for
    programs that the workflow may not run.
    """
    _checked(engine, options, watch)


class _Checked(NamedTuple):
    """The task, the folder, the workflow, the schema of its typed input, that input, and the limits
    that are set.
    """

    prompt: str
    cwd: str
    resolved: "Resolved"
    found: Ref | dict[str, Any]
    schema: Mapping[str, Any] | None
    given: dict[str, Any] | None
    limits: dict[str, float]


def _checked(engine: "Engine", options: StartOptions, watch: Watch) -> _Checked:
    prompt = _checked_prompt(options.prompt)
    check_tags(options.tags)
    limits = read_options(Limits, options.limits or {}, where="limits", error=UsageError)
    cwd = named_folder(engine.cwd, os.fspath(options.cwd))
    resolved = resolve_workflow(engine, options.workflow)
    found = read_resolved(engine, resolved, watch)
    name, player, schema = _entry(engine, found)
    given = _input(engine, options, schema, name)
    _check_agents(engine, options, cwd, found, player)
    return _Checked(prompt, cwd, resolved, found, schema, given, dict(named(limits)))


def _wanted(engine: "Engine", word: str) -> ThreadId:
    thread = ThreadId.parse(word)
    if engine.store.rows(head_name(thread), limit=1):
        raise WrongStateError(f"thread {thread} exists", hint=f"next: uwf thread show {thread}")
    return thread


def _tag(engine: "Engine", thread: ThreadId, tags: Mapping[str, str]) -> None:
    from uwf_core.threads.tagging import save_tags  # not for every thread

    save_tags(engine, read_head(engine.store, thread), tags)


def _entry(
    engine: "Engine", workflow: Ref | dict[str, Any]
) -> "tuple[str, RolePlayer, Mapping[str, Any] | None]":
    """The name of a workflow, who plays the role that a new thread begins with, and the schema of
    its typed input.
    """
    if isinstance(workflow, dict):
        role = workflow["graph"][START]["new"]["role"]
        player = player_of(role, read_payload(RoleText, workflow["roles"][role]))
        return workflow["name"], player, workflow["input"]
    definition = engine.definition(workflow)
    role = definition.graph[START]["new"].role
    return definition.name, player_of(role, definition.roles[role]), definition.input


def _roles(engine: "Engine", workflow: Any) -> dict[str, Any]:
    """The roles of a workflow, each with the workflow that it calls, or None."""
    if isinstance(workflow, dict):
        called = {name: role["workflow"] for name, role in workflow["roles"].items()}
    else:
        definition = engine.definition(Ref(workflow))
        written = {name: role for name, role in definition.roles.items() if role.fan_out is None}
        called = {name: role.workflow for name, role in written.items()}
    return {name: workflow if word == SELF else word for name, word in called.items()}


def _input(
    engine: "Engine", options: StartOptions, schema: Mapping[str, Any] | None, workflow: str
) -> dict[str, Any] | None:
    if schema is None and options.input is None:
        return None
    from uwf_core.threads.typed_input import checked_input

    return checked_input(options.input, schema, workflow, engine.redactor)


def _check_agents(
    engine: "Engine",
    options: StartOptions,
    folder: str,
    workflow: Ref | dict[str, Any],
    player: "RolePlayer",
) -> None:
    """Check that there is an agent for the first role, and each one that a role is bound to:
    without them, no thread is left behind.
    """
    if options.bindings:
        check_paths(options.bindings, workflow, partial(_roles, engine))
    catalog, name = engine.agent_catalog(folder), _entry(engine, workflow)[0]
    first = usual_agent(engine, catalog, name, player, options._asdict())
    others = (
        resolve_agent(word, catalog, source=f"--agent {path}={word}")
        for path, word in options.bindings.items()
    )
    for choice in (first, *others):
        engine.check_plugin(choice.plugin)
    words = [*options.bindings.values(), *([] if options.agent is None else [options.agent])]
    if any(engine.redactor.text(word) != word for word in words):
        raise UsageError(
            "the agent's command line contains a secret, and the thread would store it",
            where="--agent",
            hint="let the agent read the secret from the environment",
        )


def _checked_prompt(prompt: str) -> str:
    if not prompt.strip():
        raise UsageError("the prompt is blank", hint="use -p TEXT, -p @file or -p -")
    return prompt
