"""Settings for the eyes of a user change neither the patch of a worktree nor what uwf reads."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.worktrees import git, repository

from uwf_core.files.worktree import changes_since, has_changes, patch_since
from uwf_core.process.git import GitFailed, user_git

CHOICES = {
    "color.diff": ["always", "never"],
    "color.status": ["always"],
    "color.ui": ["always", "auto"],
    "core.abbrev": ["6", "40"],
    "core.quotePath": ["true", "false"],
    "diff.algorithm": ["patience", "histogram", "minimal"],
    "diff.colorMoved": ["zebra"],
    "diff.context": ["0", "9"],
    "diff.external": ["false"],
    "diff.ignoreSubmodules": ["all"],
    "diff.indentHeuristic": ["false"],
    "diff.interHunkContext": ["20"],
    "diff.mnemonicPrefix": ["true"],
    "diff.noprefix": ["true"],
    "diff.orderFile": ["order"],
    "diff.own.command": ["false"],
    "diff.own.textconv": ["rev"],
    "diff.relative": ["true"],
    "diff.renames": ["copies"],
    "diff.statGraphWidth": ["3"],
    "diff.submodule": ["log"],
    "diff.suppressBlankEmpty": ["true"],
    "diff.wordRegex": ["."],
    "diff.wsErrorHighlight": ["all"],
    "status.branch": ["true"],
    "status.relativePaths": ["false"],
    "status.renames": ["copies"],
    "status.short": ["true"],
    "status.showStash": ["true"],
    "status.showUntrackedFiles": ["no"],
}
ENVIRONMENT = {
    "GIT_CONFIG_PARAMETERS": "'diff.noprefix'='true'",
    "GIT_DIFF_OPTS": "-u9",
    "GIT_DIR": "/nowhere",
    "GIT_EXTERNAL_DIFF": "false",
    "GIT_INDEX_FILE": "/nowhere",
    "GIT_PAGER": "false",
    "GIT_WORK_TREE": "/nowhere",
    "LC_ALL": "de_DE.UTF-8",
}
TEXT = "".join(f"line {number}\n\n" for number in range(40))


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of many kinds, changed in every way."""
    at = tmp_path_factory.mktemp("settings") / "project"
    files = {"sub/b.txt": TEXT, "z.md": TEXT, ".gitattributes": "*.md diff=own\n"}
    repository(at, **files, **{"gone.txt": "x\n", "ä b.txt": "one\n"})
    (at / "sub" / "b.txt").write_text(TEXT.replace("line 3\n", "3\n").replace("line 17", "17"))
    (at / "z.md").write_text(TEXT.replace("line 30", "thirty"))
    (at / "copy.md").write_text(TEXT)
    (at / "bytes").write_bytes(b"\0\1\2" * 50)
    (at / "latin.txt").write_bytes("déjà\r\n".encode("latin-1"))
    (at / "ä b.txt").write_text("two\n")
    (at / "gone.txt").unlink()
    (at / ".git" / "order").write_text("z.md\n")
    return at


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    chosen=st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(each) for name, each in CHOICES.items()}
    ),
    given_env=st.sets(st.sampled_from(sorted(ENVIRONMENT))),
    in_home=st.booleans(),
)
def test_no_setting_changes_what_uwf_reads(changed, chosen, given_env, in_home):
    wanted = _read(changed, {}, set(), in_home=False)
    assert _read(changed, chosen, given_env, in_home=in_home) == wanted


def _read(at: Path, chosen: dict[str, str], given_env: set[str], *, in_home: bool):
    own, home = at / ".git" / "config", at.parent / "home"
    home.mkdir(exist_ok=True)
    before, file = own.read_bytes(), home / ".gitconfig" if in_home else own
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name, value in chosen.items():
            words = ["git", "config", "--file", str(file), name, value]
            subprocess.run(words, check=True, cwd="/")
        for name in given_env:
            patch.setenv(name, ENVIRONMENT[name])
        try:
            return (
                changes_since(str(at), "HEAD"),
                patch_since(str(at), "HEAD"),
                has_changes(str(at)),
            )
        finally:
            own.write_bytes(before)
            (home / ".gitconfig").unlink(missing_ok=True)


def test_the_patch_gives_every_byte_back(changed, tmp_path):
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(changed), str(other))
    patch = patch_since(str(changed), "HEAD")
    subprocess.run(["git", "apply"], input=patch, cwd=other, check=True)
    for file in changed.rglob("*"):
        if file.is_file() and ".git" not in file.relative_to(changed).parts:
            assert (other / file.relative_to(changed)).read_bytes() == file.read_bytes()
    assert not (other / "gone.txt").exists()


def test_the_message_has_what_git_said_first_and_last(tmp_path, monkeypatch):
    program = tmp_path / "git"
    program.write_text(
        "#!/bin/sh\nfor each in 'warning: w' 'a-filter: not found' b 'hint: h' c d 'fatal: last'\n"
        'do echo "$each" >&2; done; exit 1\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(GitFailed) as failed:
        user_git("/", "status")
    assert str(failed.value) == "a-filter: not found; b; c; fatal: last"
