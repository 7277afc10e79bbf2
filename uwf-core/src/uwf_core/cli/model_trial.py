"""Ask a model, or list those of its service, and report the result instead of an error."""

from typing import TYPE_CHECKING, NamedTuple, TypedDict

from uwf_core.errors import AgentFailure, UwfError

if TYPE_CHECKING:
    from uwf_core.api.models import Model
    from uwf_llm.client import ChatClient

_TRIAL_SECONDS = 20.0
_QUESTION = "Answer with the one word: ready"


class TrialDocument(TypedDict):
    """A trial as JSON."""

    ok: bool
    message: str


class Trial(NamedTuple):
    """The result of a trial; `message` is a sentence for people."""

    good: bool
    message: str

    def document(self) -> TrialDocument:
        """The trial as JSON."""
        return {"ok": self.good, "message": self.message}


def try_model(model: "Model") -> Trial:
    """Ask a model for one word; an error is returned, never raised."""
    from uwf_llm.chat import ChatRequest, Message

    try:
        with _client(model) as client:
            reply = client.chat(ChatRequest(messages=(Message(role="user", text=_QUESTION),)))
    except AgentFailure as failure:
        return Trial(False, _sentence(failure))
    except ImportError:
        return Trial(False, _sentence(_no_client()))
    return Trial(True, f"the model answered after {reply.usage.duration_ms} ms")


def models_of(model: "Model") -> tuple[list[str], str]:
    """The names of the models of a service, or the reason why they are unknown."""
    try:
        with _client(model) as client:
            return client.list_models(), ""
    except AgentFailure as failure:
        return [], _sentence(failure)
    except ImportError:
        return [], _sentence(_no_client())


def _client(model: "Model") -> "ChatClient":
    from uwf_llm.client import ChatClient
    from uwf_llm.limits import ChatLimits, RetryPolicy

    limits = ChatLimits(
        connect_seconds=5.0, idle_seconds=_TRIAL_SECONDS, total_seconds=_TRIAL_SECONDS
    )
    return ChatClient(model, limits=limits, retry=RetryPolicy(attempts=1))


def _no_client() -> UwfError:
    from uwf_core.plugins.repair import not_installed

    return not_installed("asking a model", "uwf-llm")


def _sentence(failure: UwfError) -> str:
    return f"{failure.message} ({failure.hint})" if failure.hint else failure.message
