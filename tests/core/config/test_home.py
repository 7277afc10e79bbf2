"""Where uwf's folder is, and how its files are kept."""

import grp
import os
import pwd
import stat
from pathlib import Path

import pytest

from uwf_core.config.home import find_home, prepare_home, write_private
from uwf_core.errors import ConfigError


def test_uwf_home_decides() -> None:
    assert find_home({"UWF_HOME": "/srv/uwf", "HOME": "/home/ada"}) == "/srv/uwf"


def test_without_it_the_folder_is_in_the_users_home() -> None:
    assert find_home({"HOME": "/home/ada"}) == "/home/ada/.uwf"
    assert find_home({"HOME": "/home/ada", "UWF_HOME": ""}) == "/home/ada/.uwf"


def test_a_relative_or_tilde_home_becomes_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/tmp")
    assert find_home({"UWF_HOME": "here"}) == "/tmp/here"
    assert find_home({"UWF_HOME": "~/here", "HOME": "/home/ada"}) == "/home/ada/here"


@pytest.mark.parametrize("env", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_any_home_the_error_says_what_to_set(env: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        find_home(env)
    assert "UWF_HOME" in (caught.value.hint or "")
    assert caught.value.exit_code == 2


def test_a_home_that_is_no_folder_is_named_and_its_rights_stay() -> None:
    with pytest.raises(ConfigError, match="/dev/null is not a folder") as caught:
        find_home({"UWF_HOME": "/dev/null"})
    assert caught.value.hint == "set UWF_HOME to a folder, or unset it"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_folder_that_everybody_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    """Who can write there chooses what programs uwf runs."""
    tmp_path.chmod(mode)
    with pytest.raises(ConfigError) as caught:
        find_home({"UWF_HOME": str(tmp_path)})
    assert caught.value.where == str(tmp_path)
    assert f"chmod go-w {tmp_path}" in (caught.value.hint or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_refused_but_for_the_one_that_called_sudo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(tmp_path, 1234, -1)
    with pytest.raises(ConfigError, match="another user") as caught:
        find_home({"UWF_HOME": str(tmp_path)})
    assert f"chown -R 0 {tmp_path}" in (caught.value.hint or "")
    monkeypatch.setenv("SUDO_UID", "1234")
    assert find_home({"UWF_HOME": str(tmp_path)}) == str(tmp_path)


def test_a_folder_that_a_group_can_write_is_refused_but_for_the_users_own(tmp_path: Path) -> None:
    user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(os.getegid())
    is_private = group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
    tmp_path.chmod(0o770)
    if is_private:
        assert find_home({"UWF_HOME": str(tmp_path)}) == str(tmp_path)
    else:
        with pytest.raises(ConfigError):
            find_home({"UWF_HOME": str(tmp_path)})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another group")
def test_a_folder_that_a_group_of_others_can_write_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, -1, next(each.gr_gid for each in grp.getgrall() if each.gr_gid))
    tmp_path.chmod(0o750)
    assert find_home({"UWF_HOME": str(tmp_path)}) == str(tmp_path)
    tmp_path.chmod(0o770)
    with pytest.raises(ConfigError, match="group"):
        find_home({"UWF_HOME": str(tmp_path)})


def test_the_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    prepare_home(str(tmp_path / "a" / "uwf"))
    assert stat.S_IMODE((tmp_path / "a" / "uwf").stat().st_mode) == 0o700


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError) as caught:
        prepare_home(str(tmp_path / "file" / "uwf"))
    assert caught.value.where == str(tmp_path / "file" / "uwf")


def test_a_file_is_replaced_at_once_and_is_private(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("old")
    file.chmod(0o644)
    write_private(str(file), "new")
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["config.yaml"]


def test_a_symbolic_link_to_the_file_stays_one(tmp_path: Path) -> None:
    """Many keep their configuration elsewhere and link it."""
    real = tmp_path / "dotfiles" / "uwf.yaml"
    real.parent.mkdir()
    real.write_text("old")
    link = tmp_path / "config.yaml"
    link.symlink_to(real)
    write_private(str(link), "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_what_others_have_put_in_the_way_of_a_private_file_is_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that waits under the name of the file that is written first leads nowhere."""
    victim = tmp_path / "victim"
    victim.write_text("old")
    for name in ("config.yaml.00.new", f"config.yaml.{os.getpid()}.new"):
        (tmp_path / name).symlink_to(victim)
    monkeypatch.setattr("os.urandom", lambda _: b"\0")
    with pytest.raises(ConfigError, match="exists"):
        write_private(str(tmp_path / "config.yaml"), "secret")
    assert victim.read_text() == "old"


def test_what_cannot_be_written_leaves_no_trace(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "config.yaml").mkdir()
    with pytest.raises(ConfigError) as caught:
        write_private(str(folder / "config.yaml"), "new")
    assert caught.value.where == str(folder / "config.yaml")
    assert [each.name for each in folder.iterdir()] == ["config.yaml"]
