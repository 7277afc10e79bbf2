"""What a thread says afterwards: its texts, steps, turns, prompts, answers, and the log."""

import json

from tests.walkthrough.checking import Uwf, check


@check("thread read")
def a_thread_is_read_as_markdown(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    text = uwf("thread read --format text", thread, says=[
        f"# letter: thread {thread}", "Invite the street", "## Step 2: reader, again",
        "comments: Who is all?", "Status: completed",
    ])  # fmt: skip
    uwf.same("the number of steps", text.count("\n## Step "), 4)
    short = uwf("thread read --format text --quota 300", thread)
    uwf.expect(len(short) < len(text), "--quota did not shorten the text")


@check("step list", "step show", "step read", "step turns")
def each_step_keeps_its_prompt_turns_and_output(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    steps = uwf("step list", thread, has={"steps.#": 5, "steps.0.role": "$START"})["steps"]
    uwf.same("the outcomes", [each["status"] for each in steps[1:]],
             ["written", "again", "written", "send"])  # fmt: skip
    first, third = steps[1]["step"], steps[3]["step"]
    uwf("step show", first, has={
        "output.text": "Dear all", "turns.#": 2, "turns.1.text": "A draft", "agent": "mock",
        "usage.inputTokens": 10, "usage.outputTokens": 5, "session.continuation": "new",
    })  # fmt: skip
    uwf(
        "step show",
        third,
        has={"session.continuation": "continued", "output.text": "Dear neighbours"},
    )
    uwf("step read --format text", third, says=["## Step 3: writer, written", "Dear neighbours"])
    uwf("step read --prompt", third, says=["Once more: Who is all?"])
    uwf("step turns", thread, has={"turns.#": 5, "turns.0.text": "Thinking of a greeting"})
    uwf("step turns --role reader", thread, has={"turns.#": 2, "turns.0.role": "reader"})
    uwf("step show no-such-step", code=2, fails="no-such-step")


@check("step ask")
def a_question_leaves_the_thread_unchanged(uwf: Uwf) -> None:
    run = uwf.letter()
    step = run["steps"][1]["step"]
    asked = uwf(
        "step ask", step, "-p", "Why not?", has={"role": "reader", "continuation": "original"}
    )
    uwf.expect("Why not?" in asked["answer"], f"the answer is to another question: {asked}")
    fresh = uwf("step ask --no-fork -p Why?", step, has={"continuation": "reconstructed"})
    uwf.expect(fresh["session"] != asked["session"], "--no-fork asked the same session")
    uwf("thread show", run["thread"], has={"head": run["steps"][-1]["step"], "steps": 4})


@check("thread compact", "thread read", "thread show")
def a_summary_replaces_older_steps_for_new_sessions(uwf: Uwf) -> None:
    thread = uwf("thread start letter.yaml -p Task")["thread"]
    uwf("thread compact --text Short", thread, code=2, fails="has no step yet")
    first = uwf("thread exec", thread)["steps"][0]["step"]
    uwf("thread compact", thread, code=2, fails="one of --text and --agent is needed")
    done = uwf("thread compact --text", "Written: a letter", thread, has={"number": 1})
    uwf.same("the newest summarized step", done["step"], first)
    uwf("thread show", thread, has={"head": first, "steps": 1, "compacted.number": 1})
    uwf("thread compact --agent mock", thread, code=2, fails="already compacted up to step 1")
    step = uwf("thread exec", thread, has={"steps.0.role": "reader"})["steps"][0]["step"]
    prompt = uwf("step read --prompt", step)
    uwf.expect("Written: a letter" in prompt, "the prompt lacks the summary")
    uwf.expect("## Step 1:" not in prompt, "the prompt has the summarized step")
    uwf("thread read --format text", thread, says=["## Step 1:", "Compacted up to step 1"])
    uwf("thread compact --agent mock", thread, has={"number": 2, "agent": "mock"})
    uwf("replay", thread, has={"replays.0.verdict": "same"})


@check("step files", "step diff", "step show", "thread export", "cas import")
def files_of_a_step_are_kept_and_recorded(uwf: Uwf) -> None:
    text = "text: {type: string}"
    letter = uwf.changed_letter(text, text + ", draft: {type: string, format: file}")
    with (uwf.folder / letter).open("a", encoding="utf-8") as file:
        file.write("record: true\n")
    output = "---\n$status: written\ntext: Dear all\ndraft: draft.txt\n---\n"
    (uwf.folder / "reply.json").write_text(json.dumps({"output": output}), "utf-8")
    (uwf.folder / "write.sh").write_text("echo Dear all > draft.txt; cat reply.json\n", "utf-8")
    thread = uwf("thread start", letter, "-p", "Task", "--agent", "sh write.sh")["thread"]
    step = uwf("thread exec", thread)["steps"][0]["step"]
    uwf("step files", step, has={"files.#": 1, "files.0.path": "draft.txt", "files.0.size": 9})
    uwf("step files -o kept", step)
    uwf.same("the kept file", (uwf.folder / "kept" / "draft.txt").read_text("utf-8"), "Dear all\n")
    uwf("step diff --format text", step, says=["draft.txt", "+Dear all"])
    uwf("step show --format text", step, says=["draft.txt"])
    made = uwf("thread export --with-files -o letter.tar", thread)
    uwf("bundle verify letter.tar", has={"files": made["files"], "root": made["root"]})
    uwf("cas import letter.tar", has={"imported": False, "filesAdded": 0})
    uwf("step diff no-such-step", code=2, fails="no-such-step")
    uwf("step files no-such-step", code=2, fails="no-such-step")


@check("log list", "log show", alone=True)
def the_log_keeps_commands_and_errors(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    words = ["run", "letter.yaml", "-p", "Invite the street"]
    uwf(
        "log list --limit 1",
        has={"entries.#": 1, "entries.0.command": words, "entries.0.exitCode": 0},
    )
    uwf("log list --thread", thread, has={"entries.#": 1, "entries.0.thread": thread})
    uwf("cas import play.yaml", code=4)
    failed = uwf("log list --errors --limit 1", has={"entries.0.exitCode": 4})["entries"][0]
    uwf("log show", failed["id"], has={"id": failed["id"], "error.code": "invalid-bundle"})
    uwf("log show @last", has={"id": failed["id"]})


@check("thread show", "thread read", "step list", "step turns", "step ask")
def a_branch_is_read_like_any_thread(uwf: Uwf) -> None:
    thread = uwf.survey()["thread"]
    uwf("thread show --format text", thread, says=["editor/written", "owner", "suspended (role)"])
    joint = uwf("step list", thread, has={"steps.2.role": "planner/planned"})["steps"][2]["step"]
    shown = uwf("step show", joint, has={
        "output.$status": "answered", "output.results.2.answer": "It depends", "call.branches.#": 3,
    })  # fmt: skip
    branch = shown["call"]["branches"][1]["thread"]
    uwf("thread read --format text", branch, says=["Part 1: trains", "It depends"])
    uwf("step turns", branch, has={"turns.0.text": "Reading a map"})
    step = uwf("step list", branch)["steps"][1]["step"]
    uwf("step ask", step, "-p", "Why?", says=["It depends"])
    uwf("step ask", joint, "-p", "Why?", code=2, fails=branch)
