"""A copy of config.yaml saves every command the time of PyYAML, and never decides anything else."""

import json
import os
import sys

import pytest

from uwf_core.config.parsed_copy import COPY_FILE
from uwf_core.errors import ConfigError

from .conftest import World
from .test_settings import EVERYTHING


def test_the_copy_has_every_value_and_its_place(world: World) -> None:
    world.config(EVERYTHING)
    first = world.settings()
    assert (world.home / COPY_FILE).exists()
    assert world.settings() == first


def test_the_second_command_reads_no_yaml(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.config(EVERYTHING)
    first = world.settings()
    monkeypatch.setitem(sys.modules, "uwf_core.workflow.yaml_source", None)
    assert world.settings() == first
    world.config("store: sqlite:other.db\n")
    with pytest.raises(ImportError):
        world.settings()


def test_a_change_counts_at_once(world: World) -> None:
    """Even one of the same length at the same time, which a comparison of both would not see."""
    world.config("defaultAgent: one\n")
    assert world.settings().default_agent == "one"
    moment = world.file.stat().st_mtime_ns
    world.config("defaultAgent: two\n")
    os.utime(world.file, ns=(moment, moment))
    assert world.settings().default_agent == "two"
    world.config("# a comment\ndefaultAgent: two\n")
    assert world.settings().origins["defaultAgent",].place == f"{world.file}:2"


def test_a_home_that_was_moved_has_its_new_places(world: World) -> None:
    world.config("defaultAgent: one\n")
    world.settings()
    world.home = world.home.rename(world.user / "elsewhere")
    assert world.settings().origins["defaultAgent",].place == f"{world.file}:1"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda copy: b"",
        lambda copy: copy[: len(copy) // 2],
        lambda copy: b"\0" * copy.index(b"\n") + copy[copy.index(b"\n") :],
        lambda copy: b"[]" + copy[copy.index(b"\n") :],
        lambda copy: b"null" + copy[copy.index(b"\n") :],
        lambda copy: copy.replace(b'"leaves": [[', b'"leaves": [[1, '),
        lambda copy: copy.replace(b'"leaves": ', b'"leavs": '),
        lambda copy: b"\xff" + copy,
    ],
)
def test_a_torn_copy_is_replaced(world: World, spoil) -> None:
    world.config("defaultAgent: one\n")
    first, file = world.settings(), world.home / COPY_FILE
    good = file.read_bytes()
    file.write_bytes(spoil(good))
    assert world.settings() == first
    assert file.read_bytes() == good


def test_another_version_reads_the_file_again(world: World) -> None:
    world.config("defaultAgent: one\n")
    world.settings()
    file = world.home / COPY_FILE
    head, _, text = file.read_bytes().partition(b"\n")
    old = json.loads(head)
    old["made"][1] = "0.0.9"
    old["leaves"][0][1] = "what the other version read"
    file.write_bytes(json.dumps(old).encode() + b"\n" + text)
    assert world.settings().default_agent == "one"


def test_only_the_user_can_read_it_and_it_goes_with_the_file(world: World) -> None:
    """It may hold the same secrets."""
    world.config("providers: {mine: {baseUrl: 'http://localhost', apiKey: sk-123}}\n")
    before = os.umask(0)
    try:
        world.settings()
    finally:
        os.umask(before)
    assert (world.home / COPY_FILE).stat().st_mode & 0o777 == 0o600
    world.file.unlink()
    world.settings()
    assert list(world.home.iterdir()) == []


def test_an_invalid_file_is_not_copied(world: World) -> None:
    world.config("defaultAgent: one\nunknown: 1\n")
    for _ in range(2):
        with pytest.raises(ConfigError, match="unknown"):
            world.settings()
    assert [each.name for each in world.home.iterdir()] == ["config.yaml"]


def test_a_home_in_which_it_cannot_be_written_works(world: World) -> None:
    world.config("defaultAgent: one\n")
    (world.home / COPY_FILE / "a folder").mkdir(parents=True)
    for _ in range(2):
        assert world.settings().default_agent == "one"
    assert sorted(each.name for each in world.home.iterdir()) == [COPY_FILE, "config.yaml"]
