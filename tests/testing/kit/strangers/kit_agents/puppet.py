"""An agent that keeps the whole contract. What it answers is in its environment (`KIT_ACT`), and
its peer is a folder (`KIT_PEER`): what a session knows, what was heard, which tools were offered.
"""

import base64
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

from uwf_core.api import (
    AgentFailure,
    AgentReply,
    Crashed,
    FailureKind,
    NeedsAnswer,
    SessionLost,
    Truncated,
    Turn,
    Usage,
)

LEAVES_ITS_SESSION = """
import os, time
if os.fork() == 0:
    os.setsid()
    os.write(1, b".")
    time.sleep(9)
"""


class Said(NamedTuple):
    text: str | None = None
    structured: dict | None = None
    usage: Usage = Usage()
    denials: tuple[str, ...] = ()


class Sessions:
    """The peer's memory: JSON lists of the texts that a session was sent."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def file(self, session):
        return self.folder / f"{session}.session"

    def exists(self, session):
        return self.file(session).is_file()

    def texts(self, session):
        return json.loads(self.file(session).read_text()) if self.exists(session) else []

    def add(self, session, text):
        self.file(session).write_text(json.dumps([*self.texts(session), text]))

    def cut(self, session, length):
        self.file(session).write_text(json.dumps(self.texts(session)[:length]))

    def copy(self, session, new, at):
        texts = self.texts(session)
        self.file(new).write_text(json.dumps(texts if at is None else texts[: int(at)]))


class Puppet:
    """Plays acts within this process; for those about processes it runs a program."""

    tools = ("read_file", "write_file")

    def __init__(self, options, context):
        self.context = context

    # -- the contract ----------------------------------------------------------------------------

    def run(self, request, sink):
        act = self.act(request)
        sessions = Sessions(request.env["KIT_PEER"])
        session, continuation, proof = self.session(request, act, sessions)
        self.tell_session(sink, session)
        self.hear(sessions, session, request)
        self.offer(request)
        if act["do"] == "hang_after":
            self.tell_early(sink, Said(act["text"]))
        said = self.play(act, request)
        self.tell_turns(sink, said)
        return AgentReply(
            text=said.text,
            structured=said.structured,
            session=session,
            continuation=continuation,
            proof=proof,
            usage=said.usage,
            denials=said.denials,
            mark=str(len(sessions.texts(session))),
        )

    def fork(self, session, request, at=None):
        sessions = Sessions(request.env["KIT_PEER"])
        if self.act(request)["do"] == "lost" or not sessions.exists(session):
            raise SessionLost(f"there is no session {session}", session=session)
        new = self.new_session(request)
        sessions.copy(session, new, at)
        return new

    def ask(self, request, sink):
        self.heard(request, f"{request.record}\n{request.question}")
        self.hear_question(Sessions(request.env["KIT_PEER"]), request)
        self.offer(request)
        text = self.play(self.act(request), request).text
        if request.session is None:
            return AgentReply(text=text)
        return AgentReply(
            text=text, session=request.session, continuation="continued", proof="its file"
        )

    def close(self):
        pass

    # -- its parts -------------------------------------------------------------------------------

    def act(self, request):
        return json.loads(request.env["KIT_ACT"])

    def play(self, act, request):
        return getattr(self, f"do_{act['do']}")(act, request)

    def new_session(self, request):
        return f"s-{os.urandom(4).hex()}"

    def session(self, request, act, sessions):
        if request.session is None or act["do"] == "replaced":
            return self.new_session(request), "new", None
        if act["do"] == "lost" or not sessions.exists(request.session):
            raise SessionLost(f"there is no session {request.session}", session=request.session)
        return request.session, "continued", "its file is there"

    def hear(self, sessions, session, request):
        sessions.add(session, request.prompt)
        self.heard(request, request.prompt)

    def hear_question(self, sessions, request):
        if request.session is not None:
            sessions.add(request.session, request.question)

    def heard(self, request, text):
        with Path(request.env["KIT_PEER"], "heard.jsonl").open("a") as file:
            file.write(json.dumps(text) + "\n")

    def offer(self, request):
        offered = [name for name in self.tools if request.tools is None or name in request.tools]
        Path(request.env["KIT_PEER"], "offered.json").write_text(json.dumps(offered))

    def tell_session(self, sink, session):
        sink.session(session)

    def tell_early(self, sink, said):
        self.tell_turns(sink, said)

    def tell_turns(self, sink, said):
        sink.turn(Turn(index=0, role="assistant", text=said.text or ""))

    # -- acts ------------------------------------------------------------------------------------

    def do_say(self, act, request):
        return Said(act["text"])

    do_replaced = do_say

    def do_usage(self, act, request):
        reported = {"input_tokens": "inputTokens", "output_tokens": "outputTokens"}
        return Said(act["text"], usage=Usage(**{k: act["usage"][v] for k, v in reported.items()}))

    do_no_usage = do_say

    def do_structured(self, act, request):
        return Said(structured=act["structured"])

    def do_write(self, act, request):
        Path(request.cwd, act["name"]).write_text(act["text"])
        return Said(act["text"])

    def do_say_variable(self, act, request):
        return Said(request.env.get(act["name"], "unset"))

    def do_deny(self, act, request):
        return Said(act["text"], denials=("shell",))

    def do_question(self, act, request):
        raise NeedsAnswer(act["text"], {"type": "object", "properties": {"yes": {}}})

    def do_say_answer(self, act, request):
        return Said(request.answer[act["name"]])

    def do_fail(self, act, request):
        kind = FailureKind.of(act["kind"])
        raise AgentFailure.of(kind, "the peer says so", until_ms=self.until_ms(act))

    def until_ms(self, act):
        return act["until_ms"]

    def do_missing(self, act, request):
        request.run_program(("no-such-program-anywhere",))

    def do_crash(self, act, request):
        raise Crashed(f"it ended with exit code {act['code']}")

    def do_garbage(self, act, request):
        raise Crashed("what it said is not of its format")

    def do_cut(self, act, request):
        raise Truncated("it was cut off")

    def do_silence(self, act, request):
        return Said("")

    def do_say_bytes(self, act, request):
        return Said(base64.b64decode(act["dataBase64"]).decode(errors="replace"))

    def do_hang(self, act, request):
        request.cancel.wait()
        return Said("stopped")

    def do_hang_after(self, act, request):
        request.cancel.wait()
        return Said(act["text"])

    def do_spawn(self, act, request):
        script = LEAVES_ITS_SESSION + "time.sleep(9)"
        request.run_program((sys.executable, "-I", "-S", "-c", script))
        return Said("stopped")

    def do_spawn_and_say(self, act, request):
        request.run_program((sys.executable, "-I", "-S", "-c", LEAVES_ITS_SESSION))
        return Said(act["text"])

    def do_read_stdin(self, act, request):
        request.run_program(("cat",))
        return Said(act["text"])

    def do_close_stdin(self, act, request):
        request.run_program(("true",), stdin=request.prompt.encode())
        return Said(act["text"])
