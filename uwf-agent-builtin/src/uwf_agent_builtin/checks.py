"""The checks of `uwf agent check builtin`: a model is configured, and the sandbox works."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from uwf_agent_builtin.tools.sandbox import probe, sandbox_of
from uwf_core.api import Check, CheckRequest, CheckResult, Unavailable, require_model


def checks(request: CheckRequest) -> Sequence[Check]:
    """The checks of `builtin`; they do not call the model, `uwf setup` does."""
    found = [Check(name="model", run=partial(_model, request))]
    if getattr(request.options, "allow_shell", False) == "sandbox":
        found.append(Check(name="sandbox", run=partial(_sandbox, request)))
    return found


def _model(request: CheckRequest) -> CheckResult:
    try:
        model = require_model(request.model)
    except Unavailable as refusal:
        return CheckResult.of_failure(refusal)
    return CheckResult(state="ok", message=f"{model.name} at {model.base_url}")


def _sandbox(request: CheckRequest) -> CheckResult:
    root = str(Path(request.cwd).resolve())
    try:
        probe(request, sandbox_of(root, request.env, request.options.sandbox_reads))
    except Unavailable as fault:
        return CheckResult.of_failure(fault)
    return CheckResult(state="ok", message="bubblewrap confines commands")
