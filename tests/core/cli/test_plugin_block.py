"""A plugin is blocked and unblocked by a command; config.yaml keeps everything else."""

import pytest

BLOCK = """\
# mine
plugins:
  block:
    - mock  # loud
    - gone  # not installed
store: memory:x
"""


@pytest.fixture
def config(project):
    return project.config(BLOCK)


def statuses(uwf) -> dict[str, str]:
    return {each["name"]: each["status"] for each in uwf("plugin", "list").document["plugins"]}


def test_a_plugin_is_blocked_at_once_and_the_file_keeps_its_comments(uwf, config):
    answer = uwf("plugin", "block", "human", "--format", "text")
    assert (answer.code, answer.out) == (0, "blocked: human\n")
    assert config.read_text() == BLOCK.replace("store:", "    - human\nstore:")
    assert statuses(uwf)["human"] == "blocked"


def test_to_block_or_unblock_twice_changes_nothing(uwf, config):
    answer = uwf("plugin", "block", "mock", "--format", "text")
    assert (answer.code, answer.out, config.read_text()) == (0, "already blocked: mock\n", BLOCK)
    answer = uwf("plugin", "unblock", "human", "--format", "text")
    assert (answer.code, answer.out, config.read_text()) == (0, "not blocked: human\n", BLOCK)


def test_a_distribution_is_blocked_in_its_own_spelling(uwf, project):
    document = uwf("plugin", "block", "UWF_Core").document
    file = project.home / "config.yaml"
    assert document == {
        "file": str(file),
        "plugins": [
            {
                "name": "uwf-core",
                "changed": True,
                "blockedBy": [{"name": "uwf-core", "where": str(file)}],
            }
        ],
    }
    assert uwf("plugin", "unblock", "UWF_Core").code == 0
    assert statuses(uwf)["human"] == "ready"


def test_a_plugin_whose_distribution_is_blocked_names_that_distribution(uwf, project):
    uwf("plugin", "block", "uwf-core", "mock")
    answer = uwf("plugin", "unblock", "mock", "--format", "text")
    assert answer.code == 2
    assert answer.out == (
        f"still blocked: mock (by 'uwf-core' in {project.home / 'config.yaml'})\n"
        "next: uwf plugin unblock uwf-core\n"
    )


def test_a_plugin_that_was_uninstalled_can_be_unblocked(uwf, config):
    assert uwf("plugin", "unblock", "gone").code == 0
    assert config.read_text() == BLOCK.replace("    - gone  # not installed\n", "")


def test_an_unknown_name_changes_nothing_and_similar_names_are_suggested(uwf, config):
    for verb in ("block", "unblock"):
        answer = uwf("plugin", verb, "mock", "humano")
        assert (answer.code, answer.out) == (2, "")
        assert answer.error["message"] == "unknown plugin 'humano'"
        assert answer.error["hint"] == "did you mean human?"
        assert config.read_text() == BLOCK


def test_what_the_environment_or_the_project_blocks_stays_blocked(uwf, project, monkeypatch):
    file = project.folder / ".uwf" / "config.yaml"
    file.parent.mkdir()
    file.write_text("plugins: {block: [frontmatter]}\n")
    uwf("config", "trust", ".")
    monkeypatch.setenv("UWF_BLOCK_PLUGINS", "mock,human")
    answer = uwf("plugin", "unblock", "mock", "frontmatter", "--format", "text")
    assert answer.code == 2
    assert answer.out == (
        "still blocked: mock (by 'mock' in UWF_BLOCK_PLUGINS)\n"
        f"still blocked: frontmatter (by 'frontmatter' in {file})\n"
    )


def test_names_of_plugins_are_exact(uwf, project):
    folder = project.folder / ".uwf" / "plugins" / "agents"
    folder.mkdir(parents=True)
    for name in ("a-b", "a_b"):
        (folder / f"{name}.py").write_text("")
    document = uwf("plugin", "block", "a_b", "a-b").document
    blockers = [[each["name"] for each in row["blockedBy"]] for row in document["plugins"]]
    assert blockers == [["a_b"], ["a-b"]]
    uwf("plugin", "unblock", "a-b")
    assert uwf("config", "get", "plugins.block").document["value"] == ["a_b"]
    uwf("plugin", "block", "human")
    answer = uwf("plugin", "unblock", "HUMAN")
    assert (answer.code, answer.error["message"]) == (2, "unknown plugin 'HUMAN'")
    assert statuses(uwf)["human"] == "blocked"


def test_a_variable_with_another_spelling_blocks_no_plugin(uwf, monkeypatch):
    monkeypatch.setenv("UWF_BLOCK_PLUGINS", "MOCK")
    assert statuses(uwf)["mock"] == "ready"
    answer = uwf("plugin", "unblock", "mock", "--format", "text")
    assert (answer.code, answer.out) == (0, "not blocked: mock\n")


def test_a_distribution_in_any_spelling_is_blocked_once(uwf, project):
    project.config("plugins: {block: [UWF_Core]}\n")
    answer = uwf("plugin", "block", "uwf-core", "--format", "text")
    assert answer.out == "already blocked: uwf-core\n"
    assert uwf("config", "get", "plugins.block").document["value"] == ["UWF_Core"]
    assert uwf("plugin", "unblock", "Uwf.Core").code == 0
    assert statuses(uwf)["human"] == "ready"


def test_a_name_that_the_list_has_twice_is_blocked_and_unblocked(uwf, project):
    twice = BLOCK.replace("    - gone", "    - mock\n    - gone")
    file = project.config(twice)
    assert uwf("plugin", "block", "human").code == 0
    assert file.read_text() == twice.replace("store:", "    - human\nstore:")
    assert uwf("plugin", "unblock", "mock").code == 0
    assert file.read_text() == (
        "# mine\nplugins:\n  block:\n    - gone  # not installed\n    - human\nstore: memory:x\n"
    )


def test_processes_that_block_at_the_same_time_all_succeed(uwf, project):
    names = ["mock", "human", "frontmatter", "uwf-core"]
    running = [project.start_uwf("plugin", "block", name) for name in names]
    ends = [each.communicate(timeout=60) for each in running]
    assert [each.returncode for each in running] == [0] * 4, ends
    assert sorted(uwf("config", "get", "plugins.block").document["value"]) == sorted(names)


def test_completion_offers_what_is_blocked(project, config):
    done = project.uwf("__complete", "bash", "3", "uwf", "plugin", "unblock", "")
    assert done.stdout == "mock\ngone\n"
