"""THE contract for plugin authors. Import everything from here; names load on first use.

An adapter imports nothing else of the core (`uwf_llm` is the model client); its tests also use
`uwf_core.testing` and the distribution `uwf-testing`. See `docs/guides/write-agent.md`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "uwf_core": "API_VERSION",
    "uwf_core.api.agent": (
        "CAPABILITIES Agent AgentContext AgentReply AgentRequest AgentSpec AskRequest "
        "Call Capability Continuation NoSink PromptParts Purpose RunLimits ToolCall "
        "Turn TurnSink Usage priced"
    ),
    "uwf_core.api.checks": "Check CheckRequest CheckResult trial_check",
    "uwf_core.api.environment": "is_secret_name passed_on secrets_of_environment",
    "uwf_core.api.events": (
        "StepAsked StepFailed StepFinished StepStarted ThreadEnded ThreadStarted TurnTaken"
    ),
    "uwf_core.api.exporters": "Exporter ExporterSpec",
    "uwf_core.api.extract": (
        "ExtractProblem ExtractReply ExtractRequest Extractor ExtractorSpec NO_USAGE"
    ),
    "uwf_core.fields.durations": "Seconds",
    "uwf_core.fields.records": "read_options",
    "uwf_core.api.hookspecs": "hookimpl",
    "uwf_core.api.importers": (
        "BundleMaker ImportedStep ImportedThread ImportedWorkflow Importer ImporterSpec ThreadMaker"
    ),
    "uwf_core.api.json_rpc": "FIRST_ID error_of is_answer is_call request_number",
    "uwf_core.api.judge": "Judge JudgeReply JudgeRequest JudgeSpec",
    "uwf_core.api.moments": "date_text moment_ms plausible_ms wait_ms",
    "uwf_core.api.permission": "decisions_of permission_form",
    "uwf_core.api.models": "Model ModelProtocolSpec Price",
    "uwf_core.api.reply": "received",
    "uwf_core.api.redact": "Redactor",
    "uwf_core.api.requirements": "require_command require_model require_numbers",
    "uwf_core.api.store": (
        "STORE_API_VERSION Commit Committed Content Holder LeaseBackend LeaseHandle LockHandle "
        "Record StoreBackend StoreSpec Variable VariableChange"
    ),
    "uwf_core.api.tool": "LoadedTool Tool ToolContext ToolSpec",
    "uwf_core.errors": (
        "AgentFailure AgentInterrupted AuthRefused BadRequest BusyError ContextTooLong "
        "CorruptNodeError Crashed EmptyReply "
        "FailureKind InternalFailure InvalidOutput MaxBudget MaxTurns NeedsAnswer RateLimited "
        "Refused RoutingFailed SessionLost Stalled StoreError TimedOut TooLarge Truncated "
        "StoreVersionError Unavailable UwfError"
    ),
    "uwf_core.files.content": "RecordedFile",
    "uwf_core.ids": "number_of ref_of_number",
    "uwf_core.process.path_walk": (
        "ANYWHERE FileTooLarge PathOutside PathWalk WalkedPath open_regular path_components "
        "read_regular"
    ),
    "uwf_core.process.cancel": "Cancel",
    "uwf_core.process.failure": "failure_of",
    "uwf_core.process.identity": "ProcessId hostname",
    "uwf_core.process.own_python": "own_python",
    "uwf_core.process.program": (
        "ChildProgram End ProcessLimits Program ProgramResult run_program start_program"
    ),
    "uwf_core.thread.history": "Saying",
    "uwf_core.views.recorded": "RecordedEvent RecordedThread",
    "uwf_core.views.recorded_step": "RecordedCall RecordedCorrection RecordedStep RecordedTurn",
    "uwf_core.workflow.definition": "Definition Edge Role",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from uwf_core import API_VERSION as API_VERSION
    from uwf_core.api.agent import *  # noqa: F403
    from uwf_core.api.checks import *  # noqa: F403
    from uwf_core.api.environment import is_secret_name as is_secret_name
    from uwf_core.api.environment import passed_on as passed_on
    from uwf_core.api.environment import secrets_of_environment as secrets_of_environment
    from uwf_core.api.events import *  # noqa: F403
    from uwf_core.api.exporters import *  # noqa: F403
    from uwf_core.api.extract import *  # noqa: F403
    from uwf_core.api.hookspecs import hookimpl as hookimpl
    from uwf_core.api.importers import *  # noqa: F403
    from uwf_core.api.json_rpc import *  # noqa: F403
    from uwf_core.api.judge import *  # noqa: F403
    from uwf_core.api.models import *  # noqa: F403
    from uwf_core.api.moments import *  # noqa: F403
    from uwf_core.api.permission import *  # noqa: F403
    from uwf_core.api.redact import Redactor as Redactor
    from uwf_core.api.reply import received as received
    from uwf_core.api.requirements import *  # noqa: F403
    from uwf_core.api.store import *  # noqa: F403
    from uwf_core.api.tool import *  # noqa: F403
    from uwf_core.errors import *  # noqa: F403
    from uwf_core.fields.durations import Seconds as Seconds
    from uwf_core.fields.records import read_options as read_options
    from uwf_core.files.content import RecordedFile as RecordedFile
    from uwf_core.ids import number_of as number_of
    from uwf_core.ids import ref_of_number as ref_of_number
    from uwf_core.process.cancel import Cancel as Cancel
    from uwf_core.process.failure import failure_of as failure_of
    from uwf_core.process.identity import *  # noqa: F403
    from uwf_core.process.own_python import own_python as own_python
    from uwf_core.process.path_walk import *  # noqa: F403
    from uwf_core.process.program import *  # noqa: F403
    from uwf_core.thread.history import Saying as Saying
    from uwf_core.views.recorded import *  # noqa: F403
    from uwf_core.views.recorded_step import *  # noqa: F403
    from uwf_core.workflow.definition import Definition as Definition
    from uwf_core.workflow.definition import Edge as Edge
    from uwf_core.workflow.definition import Role as Role


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return list(__all__)
