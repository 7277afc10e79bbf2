"""The model of the demo: the roles of the demo's script, by the tools of the builtin agent. Pure.

Like a real model it gets the messages and the results of tools, and returns calls of tools or the
deliverable of its role. So the tools do all the work.
"""

import json
from collections.abc import Sequence

from uwf_core.api import ToolCall, Usage
from uwf_core.demo.agent import ROLES, Deliverable
from uwf_llm.chat import ChatReply, Message


def reply(role: str, messages: Sequence[Message]) -> ChatReply:
    """What the model of a role says next, by the results it has got in this call."""
    if role not in ROLES:
        return _stuck(f"this script plays {', '.join(ROLES)} of solve-issue, not {role}")
    script, results = ROLES[role](), _results(messages)
    try:
        words, uses = next(script)
        while results:
            taken, results = results[: len(uses)], results[len(uses) :]
            words, uses = script.send(taken)
    except StopIteration as end:
        return _say(end.value.document())
    except (LookupError, ValueError) as fault:
        return _stuck(f"this script knows the demo's project alone, and something is new: {fault}")
    calls = (ToolCall(id="call", name=name, arguments=json.dumps(given)) for name, given in uses)
    return _say(words, tuple(calls))


def answer(messages: Sequence[Message]) -> ChatReply:
    """Answer a question: a script cannot think, but it can print its session."""
    said = [message.text for message in messages if message.role == "assistant" and message.text]
    listed = "\n".join(f"````\n{each.rstrip()}\n````\n" for each in said)
    known = f"this is what I said in this session:\n\n{listed}" if said else "I remember nothing."
    return _say(f"My model is a script and cannot think about your question, but {known}")


def _results(messages: Sequence[Message]) -> list[str]:
    """What the tools have answered since somebody last spoke."""
    results: list[str] = []
    for message in messages:
        if message.role == "user":
            results.clear()
        elif message.role == "tool":
            results.append(message.text)
    return results


def _stuck(reason: str) -> ChatReply:
    return _say(Deliverable({"$status": "$SUSPEND", "reason": reason}, "").document())


def _say(text: str, calls: tuple[ToolCall, ...] = ()) -> ChatReply:
    return ChatReply(text=text, tool_calls=calls, usage=Usage(turns=1))
