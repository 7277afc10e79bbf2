"""The checks of `uwf agent check builtin`: a model is configured, and the sandbox works."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from uwf_core.api import Check, CheckRequest, CheckResult, Unavailable

NO_MODEL = "the builtin agent needs a model, but none is configured"
SET_A_MODEL = "uwf setup --provider openai --api-key - --model NAME (or ollama, without a key)"


def checks(request: CheckRequest) -> Sequence[Check]:
    """The checks of `builtin`; they do not call the model, `uwf setup` does."""
    found = [Check(name="model", run=partial(_model, request))]
    if getattr(request.options, "allow_shell", False) == "sandbox":
        found.append(Check(name="sandbox", run=partial(_sandbox, request)))
    return found


def _model(request: CheckRequest) -> CheckResult:
    model = request.model
    if model is None:
        return CheckResult(state="error", message=NO_MODEL, hint=SET_A_MODEL)
    return CheckResult(state="ok", message=f"{model.name} at {model.base_url}")


def _sandbox(request: CheckRequest) -> CheckResult:
    from uwf_agent_builtin.tools.sandbox import probe, sandbox_of

    root = str(Path(request.cwd).resolve())
    try:
        probe(request, sandbox_of(root, request.env, request.options.sandbox_reads))
    except Unavailable as fault:
        return CheckResult(state="error", message=fault.message, hint=fault.hint)
    return CheckResult(state="ok", message="bubblewrap confines commands")
