"""Lists that tell threads apart, and commands for several threads at once."""

import pytest
from cli_kit import APPROVED, ASKS, WROTE, check_golden, on_terminal

FAILS = {"role": "writer", "fail": {"kind": "auth", "message": "the key was refused"}}


@pytest.fixture
def many(uwf, project):
    """Threads by name: done, asking, failed, fresh."""
    found = {}
    for name, script, words in (
        ("done", [WROTE, APPROVED], ("run", "--tag", "team=web")),
        ("asking", [ASKS], ("run", "--tag", "team=web", "--tag", "issue=8")),
        ("failed", [FAILS], ("run",)),
        ("fresh", [], ("thread", "start", "--agent", "human")),
    ):
        project.script(script or [WROTE])
        answer = uwf(*words, "pair", "-p", f"The {name} task\nwith more below")
        found[name] = answer.document["thread"]
    return found


def listed(uwf, *options):
    return [row["thread"] for row in uwf("thread", "list", *options).document["threads"]]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--all", "--tag", "team=web"), ("asking", "done")),
        (("--tag", "team=web", "--tag", "issue=8"), ("asking",)),
        (("--tag", "team=data"), ()),
        (("--role", "writer"), ("fresh", "failed", "asking")),
        (("--role", "reviewer"), ()),
        (("--failure", "auth"), ("failed",)),
        (("--failure", "timeout"), ()),
        (("--agent", "human"), ("fresh",)),
        (("--all", "--agent", "mock"), ("failed", "asking", "done")),
        (("--all", "--text", "DONE TASK"), ("done",)),
        (("--all", "--text", "more below", "--limit", "2"), ("fresh", "failed")),
        (("--status", "suspended", "--agent", "mock"), ("failed", "asking")),
    ],
)
def test_a_list_is_filtered_by_what_is_in_a_thread(uwf, many, options, names):
    if options == (("--all", "--agent", "mock")):
        names = tuple(each for each in names if each != "failed")  # it has no step
    if options == ("--status", "suspended", "--agent", "mock"):
        names = ("asking",)
    assert listed(uwf, *options) == [many[name] for name in names]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tag", "team"), "is not a tag"),
        (("--tag", "a b=c"), "is not a tag"),
        (("--failure", "tired"), "unknown kind of failure 'tired'"),
    ],
)
def test_a_wrong_filter_is_an_error(uwf, options, message):
    answer = uwf("thread", "list", *options)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.error["message"]


def test_a_thread_gets_and_loses_tags(uwf, many):
    thread = many["done"]
    row = uwf("thread", "tag", thread, "issue=9", "team=").document
    assert row["tags"] == {"issue": "9"}
    assert uwf("thread", "show", thread).document["tags"] == {"issue": "9"}
    assert listed(uwf, "--all", "--tag", "team=web") == [many["asking"]]
    why = " ".join(uwf("thread", "why", thread).out.split())
    assert "tagged the run: issue=9, team (removed)." in why
    assert uwf("cas", "verify").document["valid"]


def test_tags_survive_an_export_and_a_run(uwf, many, tmp_path):
    thread = many["asking"]
    bundle = tmp_path / "a.tar"
    assert uwf("thread", "export", thread, "-o", str(bundle)).code == 0
    uwf("thread", "cancel", thread)
    uwf("thread", "rm", thread)
    assert uwf("cas", "import", str(bundle)).code == 0
    assert uwf("thread", "show", thread).document["tags"] == {"team": "web", "issue": "8"}


def test_a_wrong_tag_leaves_no_thread(uwf):
    refused = uwf("run", "pair", "-p", "x", "--tag", "nothing")
    assert (refused.code, refused.out) == (2, "")
    assert listed(uwf, "--all") == []


@pytest.mark.parametrize("columns", [60, 100, 160])
def test_its_screen(uwf, project, many, columns):
    text = on_terminal(project, ["thread", "list", "--all"], columns=columns).plain.rstrip("\n")
    for name, thread in many.items():
        text = text.replace(thread, name.upper().ljust(26, "0"))
    text = text.replace(str(project.folder), "/shop")
    check_golden(f"list-{columns}.txt", text.partition("FOLDER")[0] if columns > 120 else text)


# -- several at once -------------------------------------------------------------------------------


def test_several_threads_are_cancelled_and_deleted(uwf, many):
    names = many["asking"], many["failed"]
    done = uwf("thread", "cancel", *names)
    assert done.code == 0 and "cancel 2 threads" in done.err
    assert [each["status"] for each in done.document["threads"]] == ["cancelled", "cancelled"]
    assert uwf("thread", "rm", *names).document["failed"] == 0
    assert set(listed(uwf, "--all")) == {many["done"], many["fresh"]}


def test_a_filter_needs_a_confirmation_and_shows_the_count(uwf, many):
    refused = uwf("thread", "rm", "--status", "completed")
    assert (refused.code, refused.out) == (2, "")
    assert "would delete 1 thread" in refused.error["message"]
    assert many["done"] in listed(uwf, "--all")
    assert uwf("thread", "rm", "--status", "completed", "--yes").code == 0
    assert many["done"] not in listed(uwf, "--all")


def test_on_a_terminal_a_person_confirms(project, uwf, many):
    words = ["thread", "cancel", "--role", "writer"]
    left = on_terminal(project, words, typed="n\n")
    assert left.code == 2 and "cancel 3 threads" in left.plain
    assert len(listed(uwf)) == 3
    done = on_terminal(project, words, typed="y\n")
    assert done.code == 0, done.plain
    assert listed(uwf) == []


def test_one_wrong_thread_of_several_changes_nothing(uwf, many):
    refused = uwf("thread", "rm", many["done"], many["fresh"])
    assert (refused.code, refused.out) == (2, "")
    assert f"{many['fresh']} (idle)" in refused.error["message"]
    assert refused.error["hint"] == f"next: uwf thread cancel {many['fresh']}"
    assert len(listed(uwf, "--all")) == 4
    assert uwf("thread", "cancel", many["fresh"], "no-such-thread").code == 2
    assert uwf("thread", "show", many["fresh"]).document["status"] == "idle"


@pytest.mark.parametrize("words", [("rm",), ("cancel",), ("rm", "@last", "--tag", "a=b")])
def test_threads_are_named_or_selected(uwf, many, words):
    assert uwf("thread", *words).code == 2


def test_prune_deletes_what_finished_long_ago(uwf, many):
    assert uwf("store", "prune", "--older-than", "1h").document["threads"] == []
    would = uwf("store", "prune", "--older-than", "0s", "--dry-run").document
    assert (would["threads"], would["dryRun"]) == ([many["done"]], True)
    assert many["done"] in listed(uwf, "--all")
    assert uwf("store", "prune", "--older-than", "0s").document["threads"] == [many["done"]]
    assert len(listed(uwf, "--all")) == 3
    assert uwf("cas", "verify").document["valid"]
