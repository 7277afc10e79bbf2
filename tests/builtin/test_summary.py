"""A window that is nearly full: the model writes a summary, which replaces its earlier work."""

import json

from builtin_kit import DONE, turn, use

from uwf_agent_builtin.sessions.transcript import Sessions

LONG = "a line of a long file that the model writes\n" * 206
SUMMARY = "I wrote f0 to f3; the total is 4711; f4 is left."


def written(count, first=0):
    return [
        turn(use("write_file", path=f"f{number}", content=f"{number} {LONG}"))
        for number in range(first, first + count)
    ]


def told(request):
    return [(each["role"], each.get("content") or "") for each in request.messages]


def run(desk, *turns, session=None, prompt="THE TASK", **options):
    server = desk.model(*turns)
    agent = desk.agent(context_tokens=12_000, **options)
    request = desk.request(server, prompt=prompt, session=session)
    return agent.run(request, desk.sink), server


def test_a_summary_replaces_what_was_done_and_the_task_stays(desk):
    reply, server = run(desk, *written(4), SUMMARY, *written(1, 4), DONE)
    assert reply.text == DONE
    asked, after = server.requests[4], server.requests[5]
    assert "Write a summary" in told(asked)[-1][1]
    messages = told(after)
    assert messages[1] == ("user", "THE TASK") and SUMMARY in messages[2][1]
    assert [role for role, _ in messages[3:]] == ["assistant", "tool"] * 2, "the last turns stay"
    assert len(after.raw) < len(server.requests[3].raw)
    assert all((desk.work / f"f{number}").exists() for number in range(5)), "the work goes on"


def test_it_is_recorded_and_visible_in_the_turns(desk):
    reply, _ = run(desk, *written(4), SUMMARY, DONE)
    [note] = [each for each in desk.sink.notes() if SUMMARY in each]
    assert note.startswith("the model's window is nearly full")
    assert reply.usage.turns == 6, "the request for the summary counts"
    lines = (desk.state / f"sessions/{reply.session}.jsonl").read_text().splitlines()
    kinds = [json.loads(line)["type"] for line in lines]
    assert kinds.count("summary") == 1
    assert sum(LONG[:40] in line for line in lines) == 4, "the file keeps what it replaced"


def test_a_session_continues_with_its_summary(desk):
    reply, server = run(desk, *written(4), SUMMARY, DONE)
    last = told(server.requests[-1])
    again, second = run(desk, DONE, session=reply.session, prompt="ONE MORE THING")
    assert again.continuation == "continued"
    assert told(second.requests[0])[: len(last)] == last, "the same bytes, from the file"
    assert told(second.requests[0])[-1] == ("user", "ONE MORE THING")


def test_a_later_summary_replaces_the_earlier_one_and_keeps_both_prompts(desk):
    first, _ = run(desk, *written(4), SUMMARY, DONE)
    turns = ("I begin.", *written(4, 4), "AND THE SECOND", DONE)  # the first gets a reminder
    second, server = run(desk, *turns, session=first.session, prompt="ONE MORE THING")
    messages = told(server.requests[-1])
    texts = [text for _, text in messages]
    assert second.text == DONE
    assert texts[1] == "THE TASK" and "ONE MORE THING" in texts
    assert sum("in a summary that replaces it" in text for text in texts) == 1
    assert any("AND THE SECOND" in text for text in texts)


def test_an_empty_summary_changes_nothing(desk):
    reply, server = run(desk, *written(4), {"text": ""}, DONE)
    assert reply.text == DONE
    assert not any("in a summary" in text for _, text in told(server.requests[-1]))


def test_a_fork_at_a_mark_has_the_summary(desk):
    reply, _ = run(desk, *written(4), SUMMARY, DONE)
    sessions = Sessions(str(desk.state))
    with_it = sessions.open(sessions.fork(reply.session, reply.mark))
    assert any(SUMMARY in each.text for each in with_it.messages)
    with_it.close()
