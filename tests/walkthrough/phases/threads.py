"""Threads: start, run, answer, rerun, in the background."""

from tests.walkthrough.checking import Uwf, check


@check("thread start", "thread exec", "thread show", "thread list", alone=True)
def a_thread_runs_step_by_step(uwf: Uwf) -> None:
    thread = uwf("thread start letter.yaml -p", "Invite the street")["thread"]
    uwf("thread show", thread, has={
        "status": "idle", "currentRole": "writer", "steps": 0, "task": "Invite the street",
    })  # fmt: skip
    uwf("thread exec", thread, has={"status": "idle", "steps.#": 1, "steps.0.role": "writer"})
    uwf("thread list", has={"threads.0.thread": thread, "threads.0.currentRole": "reader"})
    roles = [each["role"] for each in uwf("thread exec -c 3", thread)["steps"]]
    uwf.same("the roles", roles, ["reader", "writer", "reader"])
    uwf("thread show", thread, has={"status": "completed", "done": True, "steps": 4})
    uwf("thread exec", thread, has={"status": "completed", "steps.#": 0})
    listed = uwf("thread list --status completed --limit 1")["threads"]
    uwf.same("the newest completed thread", [each["thread"] for each in listed], [thread])
    uwf("thread show no-such-thread", code=2, fails="no-such-thread")


@check("run")
def a_run_ends_with_the_state_of_its_thread(uwf: Uwf) -> None:
    uwf.letter(has={"status": "completed", "done": True, "steps.#": 4, "steps.3.role": "reader"})
    uwf("run letter.yaml", code=2, fails="--prompt")
    uwf("run no-such-workflow -p Task", code=2, fails="no-such-workflow")
    uwf.script("steps: [{role: writer, fail: {kind: crashed, message: a planned failure}}]")
    failed = uwf.letter(code=6, has={"status": "suspended", "steps.0.failure.kind": "crashed"})
    uwf.expect("a planned failure" in failed["suspendMessage"], "the reason is not the failure")


@check("thread resume")
def a_person_answers_a_form(uwf: Uwf) -> None:
    run = uwf.letter(code=0)
    thread = uwf("thread start letter.yaml --agent human -p Task")["thread"]
    uwf("thread exec", thread, code=3, has={"status": "suspended", "suspendReason": "role"})
    form = uwf("thread show", thread)["form"]
    uwf.expect("text" in str(form), f"the form does not ask for the text: {form}")
    uwf(
        "thread resume --status written --answer text=Hello --answer more=1",
        thread,
        code=4,
        fails="more",
    )
    uwf("thread show", thread, has={"status": "suspended", "steps": 0})
    answer = ("--answer", "text=Dear all")
    uwf("thread resume --status written", thread, *answer, has={"status": "idle"})
    uwf("thread show", thread, has={"currentRole": "reader", "steps": 1})
    uwf("thread resume -p", "One more wish", run["thread"], has={"status": "idle"})


@check("inbox", "thread resume", alone=True)
def what_waits_for_a_person_is_listed_and_answered_once(uwf: Uwf) -> None:
    thread = uwf("thread start letter.yaml --agent writer=human -p", "Invite the mayor")["thread"]
    uwf("thread exec", thread, code=3)
    waiting = [each for each in uwf("inbox")["items"] if each["thread"] == thread]
    uwf.same("the items", [(each["kind"], each["task"]) for each in waiting], [
        ("question", "Invite the mayor"),
    ])  # fmt: skip
    uwf("inbox --answer", code=2, fails="needs a terminal")
    answer = ("--status", "written", "--answer", "text=Dear mayor")
    uwf("thread resume", thread, *answer, "--head", waiting[0]["head"], has={"status": "idle"})
    uwf("thread resume", thread, *answer, code=2, fails="has answered it")
    uwf.expect(thread not in str(uwf("inbox")), "the answered thread still waits")


@check("thread poke")
def a_poke_replaces_the_last_step(uwf: Uwf) -> None:
    thread = uwf("thread start letter.yaml -p Task")["thread"]
    first = uwf("thread exec", thread)["steps"][0]["step"]
    poked = uwf("thread poke -p Shorter", thread, has={"status": "idle"})["steps"][0]["step"]
    uwf.expect(poked != first, "the step is the same as before")
    uwf("thread show", thread, has={"head": poked, "steps": 1, "currentRole": "reader"})
    uwf("step show", poked, has={"attempt.replaces": first, "attempt.said": "Shorter"})


@check("thread wait")
def a_run_in_the_background_is_awaited(uwf: Uwf) -> None:
    thread = uwf("thread start letter.yaml -p Task")["thread"]
    uwf("thread exec --background --until-done", thread, has={"thread": thread})
    uwf("thread wait --timeout 60", thread, has={"status": "completed", "steps.#": 4})
    uwf("thread show", thread, has={"status": "completed", "running": None})


@check("watch")
def a_run_in_the_background_is_watched_to_its_end(uwf: Uwf) -> None:
    thread = uwf("thread start letter.yaml -p Task")["thread"]
    uwf("thread exec --background --until-done", thread)
    lines = uwf("watch --format text", thread, says=["#1 writer: written → reader", "completed"])
    uwf.expect(lines.count("#1 writer: written") == 1, "a step is shown twice")
    uwf("watch no-such-thread", code=2, fails="no-such-thread")


@check("thread stop", "thread wait")
def a_run_in_the_background_is_stopped(uwf: Uwf) -> None:
    uwf.script("steps: [{role: writer, delayMs: 30000, output: {$status: written, text: x}}]")
    thread = uwf("thread start letter.yaml -p Task")["thread"]
    uwf("thread exec --background", thread, has={"status": "running"})
    uwf("thread wait --timeout 0", thread, code=75, fails="still running")
    uwf("thread exec", thread, code=75, fails=thread)
    uwf("thread stop", thread, has={"status": "suspended", "suspendReason": "interrupted"})
    uwf("thread stop", thread, code=2, fails="is not running")


@check("tick", "thread stop", alone=True)
def a_stopped_run_is_not_continued(uwf: Uwf) -> None:
    uwf.script("steps: [{role: writer, delayMs: 30000, output: {$status: written, text: x}}]")
    thread = uwf("thread start letter.yaml -p Task")["thread"]
    uwf("thread exec --background --until-done", thread, has={"status": "running"})
    uwf.expect(thread in uwf("tick")["running"], "an unattended run is not seen")
    uwf("thread stop", thread)
    uwf.expect(thread not in str(uwf("tick")), "a run that was stopped is continued")
    uwf("tick --print cron --format text", says=["UWF_HOME=", "uwf_core tick"])


@check(*(f"schedule {name}" for name in ("add", "list", "pause", "resume", "run", "rm")))
def a_schedule_starts_a_thread(uwf: Uwf) -> None:
    words = ("0 0 1 1 *", "letter.yaml", "-p", "Go.", "--tz", "Europe/Berlin")
    added = uwf("schedule add nightly", *words, has={"state": "active", "timeZone": words[-1]})
    uwf("schedule add nightly", *words, code=2, fails="exists")
    uwf("schedule add other", "0 0 * *", *words[1:], code=2, fails="not a cron expression")
    uwf("schedule pause nightly", has={"state": "paused", "nextAtMs": None})
    uwf("schedule resume nightly", has={"state": "active", "nextAtMs": added["nextAtMs"]})
    thread = uwf("schedule run nightly")["thread"]
    uwf("thread wait", thread, has={"status": "completed"})
    uwf("schedule list", has={"schedules.#": 1, "schedules.0.thread": thread})
    uwf("schedule rm nightly", has={"removed": "nightly"})
    uwf("schedule rm nightly", code=2, fails="unknown schedule")


@check("run", "thread resume", "thread list")
def branches_run_in_parallel_and_one_waits_for_a_person(uwf: Uwf) -> None:
    run = uwf.survey(has={"suspendMessage": "Publish this? It depends on you"})
    thread, roles = run["thread"], sorted(each["role"] for each in run["steps"])
    uwf.same("the roles of the steps", roles, [
        "editor", "owner", "planner", "reader", "researcher", "researcher", "researcher",
    ])  # fmt: skip
    waits = uwf.branches(thread)["owner"]
    uwf("thread list --all --children --format text", says=[thread, waits])
    uwf("thread resume --answer $status=maybe", thread, code=4, fails="'maybe'")
    uwf("thread resume --answer $status=good --until-done", thread, has={"status": "completed"})
    uwf("thread exec", waits, code=2, fails="is recorded")


@check("thread exec", "thread poke")
def a_round_is_a_step_of_each_branch_and_one_can_be_repeated(uwf: Uwf) -> None:
    uwf.script((uwf.folder / "survey-play.yaml").read_text())
    thread = uwf("thread start survey.yaml -p Task")["thread"]
    uwf("thread exec", thread, has={"steps.#": 1, "status": "idle"})
    uwf("thread exec", thread, has={"steps.#": 2, "status": "idle"})
    first, _, last = uwf.branches(thread).values()
    uwf("thread show", last, has={"status": "idle", "steps": 0, "task": "Part 2: ships"})
    uwf("thread poke", first, "-p", "Look again.", has={"steps.0.role": "researcher"})
    uwf("thread poke", thread, "-p", "Look again.", code=2, fails=first)
    uwf("thread exec", thread, has={"steps.#": 1, "steps.0.thread": last})
    uwf("thread show", thread, has={"steps": 2, "currentRole": "editor"})
