"""The hooks of uwf (pluggy project name `uwf`).

A plugin module implements a hook by the same name, marked with `uwf_core.api.hookimpl`. Hooks that
announce things return a list of records with import paths as text; observers return nothing.

The page "Hooks" of the documentation is written from this module: each docstring names the version
of the contract that the hook came with, and has an example that a test runs.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from uwf_core.api.agent import AgentSpec
    from uwf_core.api.checks import Check
    from uwf_core.api.events import (
        StepAsked,
        StepFailed,
        StepFinished,
        StepStarted,
        ThreadEnded,
        ThreadStarted,
        TurnTaken,
    )
    from uwf_core.api.exporters import ExporterSpec
    from uwf_core.api.extract import ExtractorSpec
    from uwf_core.api.importers import ImporterSpec
    from uwf_core.api.judge import JudgeSpec
    from uwf_core.api.models import ModelProtocolSpec
    from uwf_core.api.store import StoreSpec
    from uwf_core.api.tool import ToolSpec


PROJECT = "uwf"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""The mark of a hook's implementation."""


@hookspec
def uwf_agents() -> "Sequence[AgentSpec]":  # type: ignore[empty-body]
    """The agents that this distribution brings (group `uwf.agents`).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import AgentSpec, hookimpl

        @hookimpl
        def uwf_agents():
            return [AgentSpec(name="echo", summary="repeats its instruction",
                              factory="uwf_agent_echo.agent:EchoAgent")]
        ```
    """


@hookspec
def uwf_stores() -> "Sequence[StoreSpec]":  # type: ignore[empty-body]
    """The storage backends that this distribution brings (group `uwf.stores`).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import StoreSpec, hookimpl

        @hookimpl
        def uwf_stores():
            return [StoreSpec(name="files", summary="one file per node",
                              factory="uwf_store_files.backend:open_files")]
        ```
    """


@hookspec
def uwf_extractors() -> "Sequence[ExtractorSpec]":  # type: ignore[empty-body]
    """The extractors that this distribution brings (group `uwf.extractors`).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import ExtractorSpec, hookimpl

        @hookimpl
        def uwf_extractors():
            return [ExtractorSpec(name="json", summary="the first JSON object of the text",
                                  factory="uwf_extract_json:JsonExtractor")]
        ```
    """


@hookspec
def uwf_judges() -> "Sequence[JudgeSpec]":  # type: ignore[empty-body]
    """The judges that this distribution brings (group `uwf.judges`).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import JudgeSpec, hookimpl

        @hookimpl
        def uwf_judges():
            return [JudgeSpec(name="spelling", summary="share of words in the dictionary",
                              factory="uwf_judge_spelling:SpellingJudge")]
        ```
    """


@hookspec
def uwf_tools() -> "Sequence[ToolSpec]":  # type: ignore[empty-body]
    """The tools that this distribution brings (group `uwf.tools`).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import ToolSpec, hookimpl

        @hookimpl
        def uwf_tools():
            return [ToolSpec(name="now", description="the time of day",
                             parameters={"type": "object", "properties": {}},
                             factory="uwf_tool_now:make")]
        ```
    """


@hookspec
def uwf_exporters() -> "Sequence[ExporterSpec]":  # type: ignore[empty-body]
    """The exporters that this distribution brings (group `uwf.exporters`).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import ExporterSpec, hookimpl

        @hookimpl
        def uwf_exporters():
            return [ExporterSpec(name="csv", summary="a line for each step", suffix=".csv",
                                 factory="uwf_exporter_csv:CsvExporter")]
        ```
    """


@hookspec
def uwf_importers() -> "Sequence[ImporterSpec]":  # type: ignore[empty-body]
    """The importers that this distribution brings (group `uwf.importers`).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import ImporterSpec, hookimpl

        @hookimpl
        def uwf_importers():
            return [ImporterSpec(name="acme", summary="the runs of Acme",
                                 factory="uwf_import_acme:AcmeImporter")]
        ```
    """


@hookspec
def uwf_models() -> "Sequence[ModelProtocolSpec]":  # type: ignore[empty-body]
    """The protocols of model services that this distribution brings (group `uwf.models`).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import ModelProtocolSpec, hookimpl

        @hookimpl
        def uwf_models():
            return [ModelProtocolSpec(name="acme", summary="the messages of Acme",
                                      factory="uwf_model_acme:AcmeProtocol")]
        ```
    """


@hookspec
def uwf_checks() -> "Sequence[Check]":  # type: ignore[empty-body]
    """The checks that `uwf doctor` runs for this distribution (any group).

    Since: 1.0

    Example:
        ```python
        from uwf_core.api import Check, CheckResult, hookimpl

        @hookimpl
        def uwf_checks():
            return [Check(name="echo is there", run=lambda: CheckResult(state="ok", message="yes"))]
        ```
    """


@hookspec
def uwf_thread_started(event: "ThreadStarted") -> None:
    """A thread runs its first step (group `uwf.observers`).

    Since: 1.0

    Example:
        ```python
        import sys

        from uwf_core.api import hookimpl

        @hookimpl
        def uwf_thread_started(event):
            print(f"{event.thread} of {event.workflow_name} begins", file=sys.stderr)
        ```
    """


@hookspec
def uwf_step_started(event: "StepStarted") -> None:
    """An attempt at a step begins (group `uwf.observers`).

    Since: 1.0

    Example:
        ```python
        import sys

        from uwf_core.api import hookimpl

        @hookimpl
        def uwf_step_started(event):
            print(f"step {event.number}: {event.role} on {event.agent}", file=sys.stderr)
        ```
    """


@hookspec
def uwf_turn(event: "TurnTaken") -> None:
    """A turn inside an agent's loop (group `uwf.observers`).

    Since: 1.0

    Example:
        ```python
        import sys

        from uwf_core.api import hookimpl

        @hookimpl
        def uwf_turn(event):
            print(event.turn.text, file=sys.stderr)
        ```
    """


@hookspec
def uwf_step_finished(event: "StepFinished") -> None:
    """A step is stored and the head has moved (group `uwf.observers`).

    Since: 1.0

    Example:
        ```python
        import sys

        from uwf_core.api import hookimpl

        @hookimpl
        def uwf_step_finished(event):
            print(f"{event.role}: {event.output['$status']}", file=sys.stderr)
        ```
    """


@hookspec
def uwf_step_failed(event: "StepFailed") -> None:
    """An attempt failed (group `uwf.observers`).

    Since: 1.0

    Example:
        ```python
        import sys

        from uwf_core.api import hookimpl

        @hookimpl
        def uwf_step_failed(event):
            print(f"{event.role}: {event.kind}: {event.message}", file=sys.stderr)
        ```
    """


@hookspec
def uwf_step_asked(event: "StepAsked") -> None:
    """An attempt ended with a question to a person (group `uwf.observers`).

    Since: 1.0

    Example:
        ```python
        import sys

        from uwf_core.api import hookimpl

        @hookimpl
        def uwf_step_asked(event):
            print(f"{event.role} asks: {event.message}", file=sys.stderr)
        ```
    """


@hookspec
def uwf_thread_ended(event: "ThreadEnded") -> None:
    """A thread is completed or cancelled (group `uwf.observers`).

    Since: 1.0

    Example:
        ```python
        import sys

        from uwf_core.api import hookimpl

        @hookimpl
        def uwf_thread_ended(event):
            print(f"{event.thread}: {event.status}", file=sys.stderr)
        ```
    """
