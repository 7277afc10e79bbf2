"""The agents that are wrong about sessions and about questions to them."""

# ruff: noqa: N801 (a class is called as its entry point is)

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from kit_agents.puppet import Puppet, Sessions
from uwf_core.api import (
    Crashed,
    SessionLost,
)


class remarks_that_it_continues(Puppet):
    def run(self, request, sink):
        reply = super().run(request, sink)
        again = reply.continuation == "continued"
        return replace(reply, text=f"{reply.text}\n(continued)") if again else reply


class shows_no_proof(Puppet):
    def session(self, request, act, sessions):
        session, continuation, _ = super().session(request, act, sessions)
        return session, continuation, None


class continues_another_one(Puppet):
    def hear(self, sessions, session, request):
        super().hear(sessions, session if request.session is None else "another", request)


class continues_with_the_instruction_only(Puppet):
    def hear(self, sessions, session, request):
        if request.session is not None:
            request = request.with_(prompt=request.parts.instruction)
        super().hear(sessions, session, request)


class keeps_the_first_message_only(Puppet):
    def hear(self, sessions, session, request):
        if request.session is not None:
            sessions.cut(session, 1)
        super().hear(sessions, session, request)


class has_one_session_per_thread(Puppet):
    def new_session(self, request):
        return f"s-{request.thread}"

    def fork(self, session, request, at=None):
        return super().fork(session, request.with_(thread=os.urandom(4).hex()), at)


class keeps_the_session_for_itself(Puppet):
    def tell_session(self, sink, session):
        pass


class crashes_where_a_session_is_gone(Puppet):
    def run(self, request, sink):
        try:
            return super().run(request, sink)
        except SessionLost as error:
            raise Crashed("no such session") from error


class takes_a_new_session_for_the_old_one(Puppet):
    """The worst of all: what the peer began anew is passed off as the session asked for."""

    def session(self, request, act, sessions):
        if act["do"] == "replaced":
            return request.session, "continued", "the peer said nothing else"
        return super().session(request, act, sessions)


class adds_usage_up(Puppet):
    def do_usage(self, act, request):
        said = super().do_usage(act, request)
        return said if request.session is None else said._replace(usage=_twice(said.usage))


def _twice(usage):
    return usage.plus(usage)


class spends_the_session_by_forking(Puppet):
    def fork(self, session, request, at=None):
        new = super().fork(session, request, at)
        Path(request.env["KIT_PEER"], f"{session}.spent").touch()
        return new

    def session(self, request, act, sessions):
        if Path(request.env["KIT_PEER"], f"{request.session}.spent").exists():
            raise SessionLost("it was forked")
        return super().session(request, act, sessions)


class _RemembersOrigins(Puppet):
    def fork(self, session, request, at=None):
        new = super().fork(session, request, at)
        Path(request.env["KIT_PEER"], f"{new}.origin").write_text(session)
        return new

    def tell_origin(self, request, text):
        with contextlib.suppress(FileNotFoundError):
            origin = Path(request.env["KIT_PEER"], f"{request.session}.origin").read_text()
            Sessions(request.env["KIT_PEER"]).add(origin, text)


class tells_the_origin_of_a_fork(_RemembersOrigins):
    def hear(self, sessions, session, request):
        super().hear(sessions, session, request)
        self.tell_origin(request, request.prompt)


class asks_the_origin_of_a_fork(_RemembersOrigins):
    def ask(self, request, sink):
        self.tell_origin(request, request.question)
        return super().ask(request, sink)


class forks_the_whole_session_at_a_mark(Puppet):
    def fork(self, session, request, at=None):
        return super().fork(session, request)


class forks_with_a_prompt(Puppet):
    """Right as well: a copy is made with its first prompt. Then no reply can have a mark."""

    def run(self, request, sink):
        return replace(super().run(request, sink), mark=None)

    def fork(self, session, request, at=None):
        return None

    def session(self, request, act, sessions):
        session, continuation, proof = super().session(request, act, sessions)
        if not request.forks:
            return session, continuation, proof
        new = self.new_session(request)
        sessions.copy(session, new, None)
        return new, "forked", "its file was copied"


class tells_the_origin_of_a_copy(forks_with_a_prompt):
    def hear(self, sessions, session, request):
        super().hear(sessions, session, request)
        if request.forks:
            sessions.add(request.session, request.prompt)


class forks_what_is_gone(Puppet):
    def fork(self, session, request, at=None):
        try:
            return super().fork(session, request, at)
        except SessionLost:
            return self.new_session(request)


class trims_answers_to_questions(Puppet):
    def ask(self, request, sink):
        reply = super().ask(request, sink)
        return replace(reply, text=reply.text.strip())


class asks_another_session(Puppet):
    def hear_question(self, sessions, request):
        sessions.add("another", request.question)


class asks_nobody(Puppet):
    """Answers from a session that does not know the question's session."""

    def ask(self, request, sink):
        reply = super().ask(request, sink)
        if request.session is None:
            return reply
        Sessions(request.env["KIT_PEER"]).add("another", request.question)
        return replace(reply, session="another", continuation="forked")


class proves_no_answer(Puppet):
    def ask(self, request, sink):
        return replace(super().ask(request, sink), proof=None)


class asks_with_every_tool(Puppet):
    def offer(self, request):
        super().offer(request if hasattr(request, "prompt") else replace(request, tools=None))


class takes_no_tools_for_all(Puppet):
    def offer(self, request):
        is_run = hasattr(request, "prompt")
        super().offer(request if is_run else replace(request, tools=request.tools or None))


class pretends_to_remember(Puppet):
    def ask(self, request, sink):
        return replace(super().ask(request, sink), continuation="continued")
