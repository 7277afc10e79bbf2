"""Ends and other ways: cancel a thread, fork it at a step."""

from tests.walkthrough.checking import Uwf, check


@check("thread cancel")
def a_cancelled_thread_runs_no_more(uwf: Uwf) -> None:
    thread = uwf("thread start letter.yaml -p Task")["thread"]
    uwf("thread exec", thread)
    uwf("thread cancel", thread, has={"status": "cancelled", "steps": 1, "done": False})
    uwf("thread show", thread, has={"status": "cancelled", "next.#": 0})
    uwf("thread exec", thread, code=2, fails="is cancelled")
    uwf("thread cancel", thread, code=2, fails="already cancelled")
    shown = [each["thread"] for each in uwf("thread list")["threads"]]
    uwf.expect(thread not in shown, "the list of threads still has it")


@check("thread fork", "step fork")
def a_fork_shares_the_steps_before_it(uwf: Uwf) -> None:
    run = uwf.letter()
    parent, first = run["thread"], run["steps"][0]["step"]
    fork = uwf("thread fork", first, has={"workflow": run["workflow"]})["thread"]
    uwf.expect(fork != parent, "the fork is the parent")
    uwf("thread show", fork, has={
        "head": first, "steps": 1, "currentRole": "reader", "status": "idle",
        "task": "Invite the street",
    })  # fmt: skip
    uwf("thread exec --until-done", fork, has={"status": "completed", "steps.#": 3})
    other = uwf("step fork", first)["thread"]
    uwf("thread show", other, has={"head": first, "status": "idle"})
    uwf("thread show", parent, has={"head": run["steps"][3]["step"], "status": "completed"})
    uwf("thread fork no-such-step", code=2, fails="no-such-step")


@check("thread fork")
def a_fork_continues_with_a_changed_workflow(uwf: Uwf) -> None:
    first = uwf.letter()["steps"][0]["step"]
    changed = uwf.changed_letter("May this be sent?", "Is this polite?")
    fork = uwf("thread fork --workflow", changed, first)["thread"]
    step = uwf("thread exec", fork, has={"steps.0.role": "reader"})["steps"][0]["step"]
    uwf("step read --prompt", step, says=["Is this polite? Dear all"])
    other = uwf.changed_letter("writer", "author", "renamed")
    uwf("thread fork --workflow", other, first, code=2, fails="writer")


@check("thread cancel")
def a_cancelled_branch_makes_the_joint_result_mixed(uwf: Uwf) -> None:
    thread = uwf.survey()["thread"]
    uwf("thread cancel", uwf.branches(thread)["owner"], has={"status": "cancelled"})
    uwf("thread exec", thread, has={"status": "completed"})
    last = uwf("step list", thread)["steps"][-1]["step"]
    uwf("step show", last, has={"output.$status": "$mixed", "output.owner.$status": "$cancelled"})


@check("thread fork")
def a_fork_before_branches_runs_them_again(uwf: Uwf) -> None:
    thread = uwf.survey()["thread"]
    planned = uwf("step list", thread)["steps"][1]["step"]
    fork = uwf("thread fork", planned)["thread"]
    uwf("thread exec -c 4", fork, has={"steps.#": 4})
    uwf("thread show", fork, has={"steps": 3, "currentRole": "editor/written"})
    uwf("thread show", thread, has={"status": "suspended", "steps": 3})
