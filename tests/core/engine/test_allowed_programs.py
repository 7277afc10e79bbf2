"""Programs of workflows run only where the user has allowed them; what was cloned runs nothing."""

from pathlib import Path

import pytest

from uwf_core.errors import UnknownIdError, UsageError
from uwf_core.testing.project import Project

TOUCH = """
version: 1
name: NAME
roles:
  touch:
    program: {argv: [touch, ran], statuses: {0: done}}
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: touch, prompt: Touch it.}
    resume: {role: touch, prompt: Again.}
  touch: {done: {role: $END, prompt: Done.}}
"""
PARENT = """
version: 1
name: parent
roles:
  child: {workflow: touch}
graph:
  $START:
    new: {role: child, prompt: Call it.}
    resume: {role: child, prompt: Again.}
  child: {done: {role: $END, prompt: Done.}}
"""


@pytest.fixture
def touching(project: Project) -> Project:
    """A project with the workflow `touch`, whose program leaves the file `ran` behind."""
    project.workflow("touch", TOUCH.replace("NAME", "touch"))
    return project


def trusted(project: Project, folder: Path | None = None) -> None:
    project.trust(folder or project.folder)


def ran(project: Project) -> bool:
    return (project.folder / "ran").exists()


def test_in_an_untrusted_folder_nothing_is_started_and_the_cure_is_told(touching: Project) -> None:
    outcome = touching.uwf("run", "touch", "-p", "x")
    assert outcome.exit_code == 2
    assert "touch runs for touch: touch ran" in outcome.error["message"]
    assert "--allow-programs" in outcome.error["hint"]
    assert touching.uwf("thread", "list", "--all").document["threads"] == []
    assert not ran(touching)


def test_a_start_in_a_trusted_folder_tells_the_commands_and_allows_them(touching: Project) -> None:
    trusted(touching)
    outcome = touching.uwf("run", "touch", "-p", "x")
    assert outcome.exit_code == 0, outcome.stderr
    assert "touch runs for touch: touch ran" in outcome.stderr
    assert ran(touching)
    again = touching.uwf("run", "touch", "-p", "x", "--cwd", str(touching.home))
    assert again.exit_code == 0  # allowed by its reference, wherever it runs
    assert "runs for" not in again.stderr


def test_a_workflow_is_added_with_its_commands_told_and_allowed_on_request(
    touching: Project,
) -> None:
    file = str(touching.folder / ".workflow" / "touch.yaml")
    added = touching.uwf("workflow", "add", file)
    assert "touch runs for touch: touch ran" in added.stderr
    assert "--allow-programs allows them" in added.stderr
    assert touching.uwf("run", "touch", "-p", "x").exit_code == 2
    allowed = touching.uwf("workflow", "add", file, "--allow-programs")
    assert allowed.stdout == added.stdout
    assert "touch runs for touch: touch ran" in allowed.stderr
    assert touching.uwf("run", "touch", "-p", "x").exit_code == 0
    touching.workflow("touch", TOUCH.replace("NAME", "touch").replace("ran]", "other]"))
    assert touching.uwf("run", file, "-p", "x").exit_code == 2  # another version


def test_what_a_user_permits_is_told_with_its_variables_on_one_line(touching: Project) -> None:
    variables = '{PATH: "./bin:/bin", BASH_ENV: a b}'
    forged = rf'env: {variables}, argv: [touch, "ran\nx runs for y: true"]'
    text = TOUCH.replace("NAME", "touch").replace("argv: [touch, ran]", forged)
    file = str(touching.workflow("touch", text))
    told = r"touch runs for touch: PATH=./bin:/bin BASH_ENV='a b' touch 'ran\nx runs for y: true'"
    assert told in touching.uwf("workflow", "add", file).stderr.splitlines()
    assert told in touching.uwf("run", "touch", "-p", "x").error["message"]


def test_a_workflow_is_allowed_with_all_that_it_calls(touching: Project) -> None:
    file = touching.workflow("parent", PARENT)
    denied = touching.uwf("thread", "start", "parent", "-p", "x")
    assert denied.exit_code == 2
    assert "touch runs for touch: touch ran" in denied.error["message"]
    assert touching.uwf("workflow", "add", str(file), "--allow-programs").exit_code == 0
    called = touching.uwf("run", "parent", "-p", "x")
    assert (called.exit_code, called.document["status"]) == (0, "completed")
    assert ran(touching)
    assert touching.uwf("run", "touch", "-p", "x").exit_code == 0


def test_a_name_of_the_registry_is_allowed_by_no_folder(touching: Project, tmp_path: Path) -> None:
    """A bundle can bring a name, and what it refers to has no file that a user could trust."""
    file = tmp_path / "elsewhere" / "other.yaml"
    file.parent.mkdir()
    file.write_text(TOUCH.replace("NAME", "other"))
    workflow = touching.uwf("workflow", "add", str(file)).document["workflow"]
    trusted(touching)
    for word in ("other", workflow):
        assert touching.uwf("run", word, "-p", "x").exit_code == 2
    assert not ran(touching)
    assert touching.uwf("workflow", "add", str(file), "--allow-programs").exit_code == 0
    assert touching.uwf("run", "other", "-p", "x").exit_code == 0


def test_a_repository_that_was_cloned_into_a_trusted_folder_runs_nothing(
    touching: Project,
) -> None:
    trusted(touching)
    clone = touching.folder / "clone"
    for folder in (clone, clone / ".workflow"):
        folder.mkdir()
        (folder / "mine.yaml").write_text(TOUCH.replace("NAME", "mine"))
        outcome = touching.uwf("run", str(folder / "mine.yaml"), "-p", "x")
        assert outcome.exit_code == 2, outcome.stdout
    assert not ran(touching)
    trusted(touching, clone)
    assert touching.uwf("run", "clone/.workflow/mine.yaml", "-p", "x").exit_code == 0


def test_a_fork_onto_another_workflow_needs_the_permission_like_a_start(
    touching: Project,
) -> None:
    trusted(touching)
    thread = touching.uwf("run", "touch", "-p", "x").document["thread"]
    (start, *_) = touching.uwf("step", "list", thread).document["steps"]
    other = touching.folder / "other" / "touch.yaml"
    other.parent.mkdir()
    other.write_text(TOUCH.replace("NAME", "touch").replace("ran]", "other]"))
    denied = touching.uwf("thread", "fork", start["step"], "--workflow", str(other))
    assert denied.exit_code == 2
    assert "touch runs for touch: touch other" in denied.error["message"]
    assert len(touching.uwf("thread", "list", "--all").document["threads"]) == 1
    trusted(touching, other.parent)
    forked = touching.uwf("thread", "fork", start["step"], "--workflow", str(other))
    assert touching.uwf("thread", "exec", forked.document["thread"]).exit_code == 0


def test_a_fork_that_is_refused_permits_nothing(touching: Project) -> None:
    trusted(touching)
    thread = touching.uwf("run", "touch", "-p", "x").document["thread"]
    (start, *_) = touching.uwf("step", "list", thread).document["steps"]
    typed = "input: {properties: {z: {type: integer}}, required: [z]}\nroles:"
    other = touching.workflow("typed", TOUCH.replace("NAME", "typed").replace("roles:", typed))
    refused = touching.uwf("thread", "fork", start["step"], "--workflow", str(other))
    assert refused.error["code"] == "invalid-payload"
    reference = touching.uwf("workflow", "show", "typed").document["workflow"]
    run = touching.uwf("run", reference, "-p", "x", "--input", "z=1")
    assert run.exit_code == 2 and "are not allowed" in run.error["message"]


def test_an_imported_thread_runs_no_program(touching: Project, tmp_path: Path) -> None:
    trusted(touching)
    bundle = str(tmp_path / "t.tar")
    with touching.client() as uwf:
        thread = uwf.start("touch", "x")["thread"]
        uwf.export_thread(thread, bundle)
    other = Project(tmp_path / "other")
    trusted(other)
    with other.client() as uwf:
        uwf.import_bundle(bundle)
        with pytest.raises(UsageError, match="not allowed: touch runs"):
            uwf.exec(thread, cwd=str(other.folder))
        assert uwf.show(thread)["status"] == "idle"
    assert not ran(other)


def test_a_permission_is_kept_as_long_as_its_workflow(touching: Project) -> None:
    trusted(touching)
    with touching.client() as uwf:
        thread = uwf.start("touch", "x")["thread"]
        workflow = uwf.show(thread)["workflow"]
        kept = {each["reason"] for each in uwf.collect_garbage(-1)["kept"]}
        assert "workflows that may run programs" in kept
        assert uwf.exec(thread).document["status"] == "completed"
        uwf.remove(thread)
        assert uwf.collect_garbage(-1)["dropped"] == [f"@uwf/programs/{workflow}"]
        with pytest.raises(UnknownIdError):
            uwf.node(workflow)


def test_an_agent_is_never_a_way_around_the_permission(touching: Project) -> None:
    """What runs a step checks it once more, from every caller."""
    trusted(touching)
    with touching.client() as uwf:
        started = uwf.start("touch", "x")
        store, thread = uwf._engine.store, started["thread"]
        variable = store.variable(f"@uwf/programs/{started['workflow']}")
        assert variable is not None
        store.delete_variable(variable)
        for act in (uwf.exec, lambda each: uwf.exec(each, until_done=True)):
            with pytest.raises(UsageError, match="not allowed"):
                act(thread)
        assert touching.uwf("thread", "exec", thread, "--agent", "mock").exit_code == 2
    assert not ran(touching)


def test_a_workflow_that_came_with_a_bundle_is_allowed_by_its_reference(
    touching: Project, tmp_path: Path
) -> None:
    trusted(touching)
    thread = touching.uwf("thread", "start", "touch", "-p", "x").document["thread"]
    bundle = str(tmp_path / "touch.uwf")
    assert touching.uwf("thread", "export", thread, "-o", bundle).exit_code == 0
    other = Project(tmp_path / "other")
    assert other.uwf("cas", "import", bundle).exit_code == 0
    refused = other.uwf("thread", "exec", thread, "--cwd", str(other.folder))
    reference = touching.uwf("thread", "show", thread).document["workflow"]
    command = f"workflow add {reference} --allow-programs"
    assert f"uwf {command}" in refused.error["hint"]
    allowed = other.uwf(*command.split())
    assert allowed.exit_code == 0
    assert "touch ran" in allowed.stderr
    done = other.uwf("thread", "exec", thread, "--cwd", str(other.folder))
    assert (done.exit_code, ran(other)) == (0, True)


def test_what_a_page_saved_runs_no_programs_until_a_person_trusts_the_folder_again(
    touching: Project,
) -> None:
    trusted(touching)
    file = touching.folder / ".workflow" / "touch.yaml"
    with touching.client() as uwf:
        assert uwf.withhold_programs(file.read_text(), file)
    refused = touching.uwf("run", "touch", "-p", "x")
    assert refused.exit_code == 2
    assert "not allowed: touch runs for touch: touch ran" in refused.error["message"]
    assert not ran(touching)
    trusted(touching)
    assert touching.uwf("run", "touch", "-p", "x").exit_code == 0
    assert ran(touching)


def test_a_saved_workflow_that_calls_others_or_is_not_valid_may_run_programs_too(
    touching: Project,
) -> None:
    file = touching.folder / ".workflow" / "saved.yaml"
    with touching.client() as uwf:
        plain = uwf.new_workflow("saved")["saved"]
        assert uwf.withhold_programs(PARENT.replace("parent", "saved"), file)
        assert uwf.withhold_programs("program: {argv: [touch, ran]}", file)
        assert not uwf.withhold_programs(plain, file)
    trusted(touching)
    touching.workflow("parent", PARENT)
    with touching.client() as uwf:
        uwf.withhold_programs(TOUCH.replace("NAME", "touch"), file)
    assert touching.uwf("run", "parent", "-p", "x").exit_code == 2
    assert not ran(touching)
