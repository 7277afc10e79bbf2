"""The clauses about the data that an agent transfers: text, usage, turns, files, environment."""

from pathlib import Path
from typing import Literal

import pytest

from uwf_core.api.agent import Usage
from uwf_core.errors import AgentInterrupted
from uwf_core.process.cancel import Cancel
from uwf_testing.agent_fixtures import AgentFixtures
from uwf_testing.contract import needs
from uwf_testing.harness import PREAMBLE, Harness, StoppingSink, described
from uwf_testing.peer import Act

ODD_TEXT = (
    "---\r\n$status: done\nnumber: 1.0\n---\n\n  two blanks first, two last  \n"
    "\ttab \\ back \"quoted\" 'single' {{braces}} %s $HOME `date` \x1b[31mred\x1b[0m\n"
    "ä ß e\u0301 \u2028 \u202e 漢字 \U0001f680 \U0001f468\u200d\U0001f469\u200d\U0001f467 \ufeff\n"
    "---\nnull\n\n \n"
)
"""Text that every careless conversion between a program and its caller changes."""
EVERY_SCRIPT = "ä ß Ω я ש 漢字 \U0001f680"
SOME_USAGE = Usage(input_tokens=7, output_tokens=5)
OBJECT = {
    "$status": "done",
    "text": 'ä "\\ \U0001f680',
    "number": 1.5,
    "whole": 9007199254740991,
    "none": None,
    "yes": True,
    "list": [[], {}, "", 0],
    "nested": {"a": {"b": [1, {"c": "---\n"}]}},
}
_TOKENS_AND_COST = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd",
)  # fmt: skip


class AnswerClauses(AgentFixtures):
    """An agent adds nothing to the answer and removes nothing from it."""

    @needs("say")
    def test_text_comes_back_byte_for_byte(self, harness: Harness) -> None:
        """The reply keeps blanks, line ends, escapes and every script exactly as the peer sent
        them.
        """
        reply = harness.reply(Act(do="say", text=ODD_TEXT)).reply
        assert reply.structured is None
        assert reply.text == ODD_TEXT

    @needs("say", "heard")
    def test_a_prompt_arrives_byte_for_byte(self, harness: Harness) -> None:
        """The peer gets the whole prompt, even one that is too long for an argument."""
        line = "All of this is one prompt. "
        prompt = line * (harness.limits.prompt_bytes // len(line)) + ODD_TEXT + "and this its end"
        harness.reply(Act(do="say", text="heard"), prompt=prompt)
        sent = f"{PREAMBLE}{prompt}"
        assert any(sent in text for text in harness.peer.heard()), "the whole prompt was not sent"

    @needs("say")
    def test_a_large_answer_comes_whole(self, harness: Harness) -> None:
        """An answer of ten megabytes is neither cut nor rejected."""
        line = "ten megabytes of the same line\n"
        text = line * (harness.limits.large_bytes // len(line)) + "the end"
        reply = harness.reply(Act(do="say", text=text)).reply
        assert len(reply.text or "") == len(text)
        assert reply.text == text

    @needs("structured", capability="structured")
    def test_an_object_comes_back_as_it_is(self, harness: Harness) -> None:
        """A typed answer keeps its types, its empty parts and its order."""
        reply = harness.reply(Act(do="structured", structured=OBJECT)).reply
        assert reply.text is None
        assert reply.structured == OBJECT
        assert repr(dict(reply.structured)) == repr(OBJECT)

    @needs("usage", capability="usage")
    def test_usage_is_what_the_peer_reports(self, harness: Harness) -> None:
        """The usage has the numbers that the peer reports, and None for all others."""
        usage = harness.reply(Act(do="usage", text="done", usage=SOME_USAGE)).reply.usage
        names = [name for name in _TOKENS_AND_COST if name not in harness.peer.always_counted]
        found = {name: getattr(usage, name) for name in names}
        assert found == {name: getattr(SOME_USAGE, name) for name in names}

    @needs("no_usage")
    def test_unknown_usage_is_none_and_never_zero(self, harness: Harness) -> None:
        """Unknown usage is None; zero would mean that it was measured and cost nothing."""
        usage = harness.reply(Act(do="no_usage", text="done")).reply.usage
        zeros = [name for name in _TOKENS_AND_COST if getattr(usage, name) is not None]
        assert not zeros, f"nobody reported {', '.join(zeros)}: {usage}"

    @needs("say", capability="stream")
    def test_turns_are_reported_as_they_come(self, harness: Harness) -> None:
        """An agent that streams passes its turns to the sink, counted from 0; they contain the
        answer.
        """
        run = harness.reply(Act(do="say", text="one answer"))
        assert run.sink.turns, "no turn was reported"
        indices = sorted({turn.index for turn in run.sink.turns})
        assert indices == list(range(len(indices))), f"the turns are counted {indices}"
        said = "".join(turn.text for turn in run.sink.last_turns())
        assert "one answer" in said, f"the turns say {said!r}"

    @needs("hang_after", capability="stream")
    def test_turns_are_reported_while_the_agent_works(self, harness: Harness) -> None:
        """The sink gets a turn when it happens, not all turns at the end of the call."""
        _check_told(harness, "turn")

    @needs("hang_after", capability="stream", also=("continue",))
    def test_a_session_is_reported_while_the_agent_works(self, harness: Harness) -> None:
        """The sink gets the session before the end of the call, so that a killed run keeps it."""
        _check_told(harness, "session")

    @needs("say", "offered", capability="tools")
    def test_tools_can_be_narrowed(self, harness: Harness) -> None:
        """With `request.tools` the agent offers the model these tools and no others."""
        harness.reply(Act(do="say", text="all of them"))
        offered = sorted(harness.peer.offered())
        assert len(offered) > 1, "the agent offers tools"
        harness.reply(Act(do="say", text="one of them"), tools=(offered[0],))
        assert sorted(harness.peer.offered()) == offered[:1]

    @needs("deny")
    def test_a_denied_tool_is_shown_and_no_failure(self, harness: Harness) -> None:
        """The answer counts, and the reply lists the denial."""
        reply = harness.reply(Act(do="deny", text="done without it")).reply
        assert reply.text == "done without it"
        assert reply.denials, "the denial is not shown"

    @needs("write")
    def test_the_working_folder_is_honoured(self, harness: Harness) -> None:
        """The agent's tools work in the folder of the call."""
        folder = harness.workspace / "its own folder"
        folder.mkdir()
        harness.reply(Act(do="write", name="written.txt", text="here"), cwd=str(folder))
        file = folder / "written.txt"
        assert file.is_file(), f"it is not there; found {_below(harness.workspace.parent)}"
        assert file.read_text(encoding="utf-8") == "here"

    @needs("say_variable")
    def test_the_environment_is_that_of_the_call(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The agent sees the variables of the call, and none that only uwf's own process has."""
        monkeypatch.setenv("KIT_OF_UWF_ALONE", "must stay here")
        env = {**harness.environment(), "KIT_OF_THE_CALL": "ä of the call"}
        seen = harness.reply(Act(do="say_variable", name="KIT_OF_THE_CALL"), env=env).reply
        assert seen.text == "ä of the call"
        unseen = harness.reply(Act(do="say_variable", name="KIT_OF_UWF_ALONE"), env=env).reply
        assert unseen.text == "unset"

    @needs("say")
    def test_it_works_in_the_c_locale(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Under `LC_ALL=C`, as in many containers and cron jobs, text is still UTF-8."""
        import locale

        before = locale.setlocale(locale.LC_ALL)
        monkeypatch.setenv("LC_ALL", "C")
        try:
            locale.setlocale(locale.LC_ALL, "C")
            env = {**harness.environment(), "LC_ALL": "C"}
            reply = harness.reply(
                Act(do="say", text=EVERY_SCRIPT), prompt=EVERY_SCRIPT, env=env
            ).reply
        finally:
            locale.setlocale(locale.LC_ALL, before)
        assert reply.text == EVERY_SCRIPT


def _check_told(harness: Harness, what: Literal["turn", "session"]) -> None:
    """Check that the sink gets it from a call that has answered but does not end; that ends the
    call here, whatever the machine's speed.
    """
    cancel = Cancel()
    act = Act(do="hang_after", text="the whole answer")
    sink = StoppingSink(cancel, what)
    outcome = harness.call(harness.request(act, cancel=cancel), sink)
    told = sink.turns if what == "turn" else sink.sessions
    assert told, f"no {what} was reported"
    if outcome.reply is None:
        assert cancel.is_set() and isinstance(outcome.error, AgentInterrupted), (
            f"no {what} was reported before the call ended with {described(outcome.error)}"
        )


def _below(folder: Path) -> list[str]:
    """The files below a folder, for a message."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in files)
