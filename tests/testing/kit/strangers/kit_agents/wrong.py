"""One deliberately wrong agent for each clause; each says what it gets wrong."""

# ruff: noqa: N801 (a class is called as its entry point is)

import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

from kit_agents.puppet import LEAVES_ITS_SESSION, Puppet, Said
from uwf_core.api import (
    AgentFailure,
    AuthRefused,
    Crashed,
    NeedsAnswer,
    Refused,
    Turn,
    Unavailable,
    Usage,
)


class right(Puppet):
    """Keeps the whole contract."""


# -- announcing ----------------------------------------------------------------------------------


class rambling(Puppet):
    """Its summary has two lines."""


class heavy(Puppet):
    """Its plugin module imports asyncio."""


class greedy(Puppet):
    """Its plugin module imports the module of its factory."""


class chatty_import(Puppet):
    """Its plugin module prints."""


class unbounded(Puppet):
    """Its distribution takes any uwf-core."""


class mutable_options(Puppet):
    """Its options can be changed."""


class loose_options(Puppet):
    """One of its options takes anything."""


# -- answers -------------------------------------------------------------------------------------


class changes_line_ends(Puppet):
    def do_say(self, act, request):
        return Said(act["text"].replace("\r\n", "\n"))


class trims_the_prompt(Puppet):
    def heard(self, request, text):
        super().heard(request, text.strip().replace("\r", ""))


class cuts_long_answers(Puppet):
    def do_say(self, act, request):
        return Said(act["text"][:1_000_000])


class sorts_objects(Puppet):
    def do_structured(self, act, request):
        return Said(structured=dict(sorted(act["structured"].items())))


class counts_what_is_unknown(Puppet):
    def do_usage(self, act, request):
        usage = super().do_usage(act, request).usage
        return Said(act["text"], usage=replace(usage, cache_read_tokens=0))


class calls_unknown_zero(Puppet):
    def do_no_usage(self, act, request):
        return Said(act["text"], usage=Usage(input_tokens=0, output_tokens=0))


class tells_no_turns(Puppet):
    def tell_turns(self, sink, said):
        pass

    def tell_early(self, sink, said):
        super().tell_turns(sink, said)


class tells_turns_at_the_end(Puppet):
    def tell_early(self, sink, said):
        pass


class tells_the_session_at_the_end(Puppet):
    def tell_session(self, sink, session):
        self.kept = session

    def tell_turns(self, sink, said):
        super().tell_turns(sink, said)
        sink.session(self.kept)

    def tell_early(self, sink, said):
        super().tell_turns(sink, said)


class sends_only_the_instruction(Puppet):
    def hear(self, sessions, session, request):
        if request.session is None:
            request = request.with_(prompt=request.parts.instruction)
        super().hear(sessions, session, request)


class offers_every_tool(Puppet):
    def offer(self, request):
        super().offer(request.with_(tools=None) if hasattr(request, "prompt") else request)


class fails_at_a_denial(Puppet):
    def do_deny(self, act, request):
        raise Refused("a tool was denied")


class writes_elsewhere(Puppet):
    def do_write(self, act, request):
        Path(request.env["KIT_PEER"], act["name"]).write_text(act["text"])
        return Said(act["text"])


class leaks_our_environment(Puppet):
    def do_say_variable(self, act, request):
        return Said({**os.environ, **request.env}.get(act["name"], "unset"))


class trusts_the_locale(Puppet):
    def do_say(self, act, request):
        folder = Path(self.context.state_dir)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(folder / "answer.txt", "w", newline="") as file:
            file.write(act["text"])
        return Said(act["text"])


# -- failures ------------------------------------------------------------------------------------


class crashes_where_nothing_is(Puppet):
    def do_missing(self, act, request):
        try:
            super().do_missing(act, request)
        except Unavailable as error:
            raise Crashed("it failed") from error


class answers_for_a_crash(Puppet):
    def do_crash(self, act, request):
        return Said(f"The program ended with {act['code']}.")


class passes_garbage_on(Puppet):
    def do_garbage(self, act, request):
        return Said("}}} garbage {{{")


class takes_half_an_answer(Puppet):
    def do_cut(self, act, request):
        return Said(act["text"][:20])


class speaks_for_the_silent(Puppet):
    def do_silence(self, act, request):
        return Said("(no output)")


class knows_one_kind_of_failure(Puppet):
    def do_fail(self, act, request):
        if act["kind"] == "rate_limited":
            return super().do_fail(act, request)
        raise AuthRefused("something failed")


class decodes_strictly(Puppet):
    def do_say_bytes(self, act, request):
        return Said(base64.b64decode(act["dataBase64"]).decode())


class cuts_at_the_limit(Puppet):
    def do_say(self, act, request):
        return Said(act["text"][: request.limits.reply_bytes])


class refuses_instead_of_asking(Puppet):
    def do_question(self, act, request):
        raise Refused("a permission is missing")


class asks_for_no_schema(Puppet):
    def do_question(self, act, request):
        raise NeedsAnswer(act["text"], {"type": "yes or no"})


class never_passes_an_answer_on(Puppet):
    def do_say_answer(self, act, request):
        return Said(request.prompt)


class passes_an_answer_on_as_json(Puppet):
    def do_say_answer(self, act, request):
        return Said(json.dumps(request.answer[act["name"]]))


class gives_the_end_of_a_limit_in_seconds(Puppet):
    def until_ms(self, act):
        return act["until_ms"] and act["until_ms"] // 1000


class gives_the_length_of_a_limit(Puppet):
    def until_ms(self, act):
        return 60_000


# -- time and processes --------------------------------------------------------------------------


class ignores_the_time_limit(Puppet):
    def do_hang(self, act, request):
        request.cancel.wait()
        if request.cancel.reason == "timeout":
            time.sleep(9)
        return Said("at last")


class ignores_cancel(Puppet):
    def do_hang(self, act, request):
        request.cancel.wait()
        if request.cancel.reason == "interrupted":
            time.sleep(9)
        return Said("at last")


class takes_what_came_before_a_hang(Puppet):
    def do_hang_after(self, act, request):
        return Said(act["text"][:5])


def _popen(request, script):
    """Start it, and come back when it has forked."""
    command = (sys.executable, "-I", "-S", "-c", script)
    child = subprocess.Popen(
        command, env=dict(request.env), cwd=request.cwd, stdout=subprocess.PIPE
    )
    child.stdout.read(1)
    return child


class leaves_a_daemon_at_a_timeout(Puppet):
    def do_spawn(self, act, request):
        with _popen(request, LEAVES_ITS_SESSION + "time.sleep(9)") as child:
            request.cancel.wait()
            child.kill()
        return Said("stopped")


class leaves_a_daemon(Puppet):
    def do_spawn_and_say(self, act, request):
        with _popen(request, LEAVES_ITS_SESSION):
            pass
        return Said(act["text"])


class leaves_a_thread(Puppet):
    def do_say(self, act, request):
        if request.step_number == 1 and hasattr(request, "prompt"):
            threading.Thread(target=time.sleep, args=(9.0,), daemon=True).start()
        return Said(act["text"])


class leaves_stdin_open(Puppet):
    def do_read_stdin(self, act, request):
        request.start_program(("cat",), stdin=None).wait()
        return Said(act["text"])


class insists_on_writing(Puppet):
    def do_close_stdin(self, act, request):
        with subprocess.Popen(("true",), stdin=subprocess.PIPE) as child:
            child.wait()
            child.stdin.write(request.prompt.encode())
            child.stdin.flush()
        return Said(act["text"])


# -- manners -------------------------------------------------------------------------------------


class litters(Puppet):
    def do_say(self, act, request):
        descriptor, _ = tempfile.mkstemp()
        os.close(descriptor)
        return Said(act["text"])


class lets_everybody_read(Puppet):
    def do_say(self, act, request):
        Path(self.context.state_dir).mkdir(parents=True, exist_ok=True)
        Path(self.context.state_dir).chmod(0o755)
        return Said(act["text"])


class prints(Puppet):
    def do_say(self, act, request):
        print("working ...")
        return Said(act["text"])


class tells_secrets(Puppet):
    def do_crash(self, act, request):
        raise Crashed(f"it failed in the environment {dict(request.env)}")


class shares_what_it_does(Puppet):
    current = None
    at_once = threading.Barrier(2)

    def do_say(self, act, request):
        type(self).current = act["text"]
        if Path(request.cwd).name in ("0", "1"):  # one of two: answers when both have begun
            self.at_once.wait(60)
        return Said(type(self).current)


class cannot_be_closed_unused(Puppet):
    def run(self, request, sink):
        self.program = "running"
        return super().run(request, sink)

    def close(self):
        del self.program


class cannot_be_closed_after_a_failure(Puppet):
    failed = False

    def run(self, request, sink):
        try:
            return super().run(request, sink)
        except AgentFailure:
            self.failed = True
            raise

    def close(self):
        if self.failed:
            raise RuntimeError("it failed already")


class tells_another_turn(Puppet):
    def tell_turns(self, sink, said):
        sink.turn(Turn(index=1, role="assistant", text=said.text or ""))
