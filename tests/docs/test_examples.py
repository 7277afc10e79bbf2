"""The runner of examples itself: a page that lies is found out."""

import pytest

from page_examples import ExampleError, Project, blocks, matches


def run(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    project = Project.below(tmp_path)
    for block in blocks(page):
        project.run(block)
    return project


def test_output_that_is_as_promised_passes(tmp_path):
    run(tmp_path, "```console\n$ echo one; echo two\none\n...\n$ echo three\nthree\n```\n")


def test_output_that_differs_fails_and_names_the_line(tmp_path):
    with pytest.raises(ExampleError, match=r"page.md:2: \$ echo one"):
        run(tmp_path, "```console\n$ echo one\ntwo\n```\n")


def test_a_command_that_fails_is_found(tmp_path):
    with pytest.raises(ExampleError, match="exit 3 instead of 0"):
        run(tmp_path, "```console\n$ bash -c 'exit 3'\n```\n")


def test_a_promised_exit_code_is_demanded(tmp_path):
    run(tmp_path, "<!-- example: exit 3 -->\n```console\n$ true\n$ bash -c 'exit 3'\n```\n")
    with pytest.raises(ExampleError, match="exit 0 instead of 3"):
        (tmp_path / "again").mkdir()
        run(tmp_path / "again", "<!-- example: exit 3 -->\n```console\n$ true\n```\n")


def test_variables_and_the_folder_last_until_the_end_of_the_page(tmp_path):
    run(
        tmp_path,
        "```console\n$ mkdir sub && cd sub && word=hello\n```\n\n"
        '```console\n$ echo "$word $(basename "$PWD")"\nhello sub\n```\n',
    )


def test_commands_go_on_over_several_lines(tmp_path):
    run(tmp_path, "```console\n$ echo one \\\n    two\none two\n```\n")


def test_what_a_reader_cannot_paste_is_refused(tmp_path):
    with pytest.raises(ExampleError, match=r"page.md:3: nobody can paste"):
        run(tmp_path, "```console\n$ echo 'one\n> two'\n```\n")


def test_titled_blocks_are_files(tmp_path):
    project = run(tmp_path, '```yaml title=".workflow/a.yaml"\nname: a\n```\n')
    assert (project.folder / ".workflow/a.yaml").read_text() == "name: a\n"


def test_a_file_outside_the_project_is_refused(tmp_path):
    with pytest.raises(ExampleError, match="outside"):
        run(tmp_path, '```yaml title="../a.yaml"\nname: a\n```\n')


def test_python_that_raises_is_found(tmp_path):
    run(tmp_path, "```python\nassert 1 + 1 == 2\n```\n")
    with pytest.raises(ExampleError, match="ZeroDivisionError"):
        (tmp_path / "again").mkdir()
        run(tmp_path / "again", "```python\n1 / 0\n```\n")


def test_programs_see_a_terminal_and_an_empty_home(tmp_path):
    run(tmp_path, '```console\n$ test -t 1 && test -t 2 && ls -A "$HOME" | wc -l\n0\n```\n')


@pytest.mark.parametrize(
    "text",
    [
        "<!-- example: skip -->\n```console\n$ false\n```\n",
        "<!-- example: skip, because -->\n```console\n$ false\n```\n",
        "<!-- example: whatever -->\n```console\n$ true\n```\n",
        "```bash\ntrue\n```\n",
        "```console\ntrue\n```\n",
        "```console\n$ true\n",
    ],
)
def test_what_could_hide_a_lie_is_refused(tmp_path, text):
    with pytest.raises(ExampleError):
        run(tmp_path, text)


def test_a_block_within_a_longer_fence_is_not_run(tmp_path):
    run(tmp_path, "````markdown\n```console\n$ false\n```\n````\n")


def test_ids_dates_and_durations_match_their_kind_only():
    promised = ["thread 01KA6W2B8G7Q3N5R9TV0XYZ1CD took 1.5 s on 2026-01-31, head 0123456789ABC"]
    assert matches(
        promised, "thread 01KAAAAAAAAAAAAAAAAAAAAAAA took 12 s on 2027-02-03, head ZZZZZZZZZZZZZ\n"
    )
    assert not matches(promised, "thread unknown took 12 s on 2027-02-03, head ZZZZZZZZZZZZZ\n")


def test_nothing_promised_is_nothing_printed():
    assert matches([], "")
    assert not matches([], "something\n")
