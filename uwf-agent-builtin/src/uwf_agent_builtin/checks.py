"""The check of `uwf agent check builtin`: a model is configured."""

from collections.abc import Sequence
from functools import partial

from uwf_core.api import Check, CheckRequest, CheckResult

NO_MODEL = "the builtin agent needs a model, but none is configured"
SET_A_MODEL = "uwf setup --provider openai --api-key - --model NAME (or ollama, without a key)"


def checks(request: CheckRequest) -> Sequence[Check]:
    """The checks of `builtin`; they do not call the model, `uwf setup` does."""
    return [Check(name="model", run=partial(_model, request))]


def _model(request: CheckRequest) -> CheckResult:
    model = request.model
    if model is None:
        return CheckResult(state="error", message=NO_MODEL, hint=SET_A_MODEL)
    return CheckResult(state="ok", message=f"{model.name} at {model.base_url}")
