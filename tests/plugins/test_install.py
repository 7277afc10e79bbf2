"""`uwf plugin install` and `uninstall` change the environment that uwf runs in, by its own tool."""

import fcntl
import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from installed import TOOLS, Environment, changes, make_environment

from uwf_core.plugins.installer import environment_hint


@pytest.fixture(scope="module")
def with_pip(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with pip: it is made once for all workers, since its pip takes seconds."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "pip.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder, file = shared / "pip-of-all", shared / "pip.json"
        if not file.exists():
            folder.mkdir()
            tool, _, program, env = make_environment("pip", folder)
            file.write_text(json.dumps([tool, str(program), env]))
    tool, program, env = json.loads(file.read_text())
    made = Environment(tool, folder, Path(program), env)
    return made.copy(tmp_path_factory.mktemp("pip"))


@pytest.fixture
def own(with_pip: Environment, tmp_path: Path) -> Environment:
    """The environment with pip, with a folder for the test, and without the plugins before it."""
    (packages,) = with_pip.uwf_program.parents[1].glob("lib/*/site-packages")
    if left := [each.name.partition("-")[0] for each in packages.glob("demo_*.dist-info")]:
        assert with_pip.uwf("plugin", "uninstall", *left).exit_code == 0
    return with_pip._replace(folder=tmp_path)


@pytest.mark.parametrize("tool", TOOLS)
def test_each_installer_adds_a_plugin_beside_the_others_and_removes_only_that(
    tool: str, own: Environment, tmp_path: Path
) -> None:
    place = own if tool == "pip" else make_environment(tool, tmp_path)
    one, two = place.wheel("one"), place.wheel("two")
    first = place.uwf("plugin", "install", f"./wheels/{one.name}")
    assert changes(first) == [("added", "one", "ready")]
    assert f"running: {shlex.join(first.document['command'])}" in first.stderr
    assert changes(place.uwf("plugin", "install", str(two))) == [("added", "two", "ready")]
    assert place.plugins() == {"one": "ready", "two": "ready"}
    assert place.uwf("plugin", "check", "two").document["plugins"][0]["status"] == "broken"
    gone = place.uwf("plugin", "uninstall", "demo-one")
    assert changes(gone) == [("removed", "one", "ready")]
    assert place.plugins() == {"two": "ready"}
    newer = place.uwf("plugin", "install", "--upgrade", str(place.wheel("two", version="2.0")))
    assert changes(newer) == [("changed", "two", "ready")]
    assert newer.document["plugins"][0]["version"] == "2.0"


def test_the_status_of_what_was_installed_is_printed_with_the_next_command(own) -> None:
    wheels = [
        own.wheel("late", requires=("uwf-core>=0.1,<1",), entries={"uwf.agents": {"late": "x"}}),
        own.wheel("thief", entries={"uwf.agents": {"mock": "x"}}),
        own.wheel("misspelt", entries={"uwf.agent": {"misspelt": "x"}}),
    ]
    done = own.uwf("plugin", "install", *map(str, wheels), "--format", "text")
    assert done.exit_code == 0, done
    assert done.stdout == (
        "added: agent misspelt (demo-misspelt 1.2): broken\n"
        "  unknown group 'uwf.agent'; did you mean uwf.agents?\n"
        "added: agents late (demo-late 1.2): ready\n"
        "added: agents mock (demo-thief 1.2): shadowed\n"
        "  'mock' is a name of uwf-core\n"
        "next: uwf plugin check misspelt\n"
        "next: uwf plugin check late\n"
        "next: uwf plugin check mock\n"
    )
    other = own.wheel("other", entries={"uwf.agents": {"late": "x"}})
    assert changes(own.uwf("plugin", "install", str(other))) == [
        ("changed", "late", "duplicate"),
        ("added", "late", "duplicate"),
    ]
    both = own.uwf("plugin", "uninstall", "late")
    assert both.exit_code == 2
    assert both.error["message"] == "'late' is a plugin of demo-late and of demo-other"


def test_installing_what_is_there_already_changes_no_plugin(own) -> None:
    wheel = own.wheel("same")
    own.uwf("plugin", "install", str(wheel))
    again = own.uwf("plugin", "install", str(wheel), "--format", "text")
    assert (again.exit_code, again.stdout) == (0, "no plugin was added or changed\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["./nothing.whl"], "nothing.whl"),
        (["demo-nothing-of-the-kind"], "No matching distribution found"),
        (["demo-x=>1"], "Invalid requirement"),
    ],
)
def test_a_failure_names_the_command_and_what_the_installer_said(own, words, said) -> None:
    done = own.uwf("plugin", "install", *words)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.error["code"] == "install"
    assert done.error["message"].startswith("pip failed with exit code 1\n  ")
    assert said in done.error["message"]
    assert shlex.split(done.error["where"])[1:4] == ["-m", "pip", "install"]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("word", ["--index-url=file:///x", "-rfile", " -e.", "", " "])
def test_no_word_becomes_an_option_of_the_installer(own, word) -> None:
    done = own.uwf("plugin", "install", "--", "demo-fine", word)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.error["message"] == f"{word!r} is not a requirement"
    assert "running" not in done.stderr


def test_a_dry_run_prints_the_command_and_runs_nothing(own) -> None:
    wheel = own.wheel("dry")
    done = own.uwf("plugin", "install", f"wheels/{wheel.name}", "--upgrade", "--dry-run")
    python = str(own.uwf_program.with_name("python"))
    command = [python, "-m", "pip", "install", "--upgrade", str(wheel)]
    assert done.document == {"command": command, "dryRun": True, "plugins": []}
    assert (done.stderr, own.plugins()) == ("", {})
    own.uwf("plugin", "install", str(wheel))
    done = own.uwf("plugin", "uninstall", "dry", "--dry-run", "--format", "text")
    assert done.stdout == shlex.join([python, "-m", "pip", "uninstall", "--yes", "demo-dry"]) + "\n"
    assert own.plugins() == {"dry": "ready"}


@pytest.mark.parametrize(
    ("word", "path"),
    [
        (".", "."),
        ("..", ".."),
        ("own.tar.gz", "own.tar.gz"),
        ("wheels/own", "wheels/own"),
        ("./own[extra]", "own[extra]"),
        ("other.tar.gz", None),
        ("own", None),
        ("own[extra]>=1; os_name == 'a/b'", None),
        ("own @ file:///a/b.whl", None),
    ],
)
def test_a_path_is_one_of_the_current_folder_and_a_name_stays_a_name(own, word, path) -> None:
    (own.folder / "own.tar.gz").touch()
    (own.folder / "own").mkdir()
    done = own.uwf("plugin", "install", word, "--dry-run")
    expected = word if path is None else os.path.normpath(own.folder / path)
    assert done.document["command"][-1] == expected


def test_a_distribution_without_a_version_is_checked_and_listed(own) -> None:
    own.uwf("plugin", "install", str(own.wheel("bare")))
    (metadata,) = own.uwf_program.parents[1].glob("lib/*/site-packages/demo_bare-*/METADATA")
    whole = metadata.read_text()
    lines = whole.splitlines(keepends=True)
    metadata.write_text("".join(line for line in lines if not line.startswith("Version:")))
    checked = own.uwf("plugin", "check", "demo-bare", "--format", "text")
    listed = own.uwf("plugin", "list", "--hooks", "--format", "text")
    metadata.write_text(whole)  # without it pip cannot uninstall what this test has installed
    for done in (checked, listed):
        assert ("(demo-bare)" in done.stdout, done.stderr) == (True, ""), done


@pytest.mark.parametrize("name", ["uwf-core", "UWF_core", "mock"])
def test_uwf_itself_cannot_be_uninstalled(own, name) -> None:
    done = own.uwf("plugin", "uninstall", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.error["message"] == "uwf-core cannot be uninstalled: it is uwf itself"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("click", "`uwf plugin list` lists the installed ones"),
        ("hermes", "`uwf plugin list` lists the installed ones"),
        ("moc", "did you mean mock?"),
    ],
)
def test_what_is_not_an_installed_plugin_is_not_uninstalled(own, name, hint) -> None:
    done = own.uwf("plugin", "uninstall", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert (done.error["message"], done.error["hint"]) == (f"unknown plugin {name!r}", hint)


def test_the_name_of_a_plugin_is_not_taken_for_a_package_of_that_name(own) -> None:
    """An index may have anything by that name."""
    done = own.uwf("plugin", "install", "hermes")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.error["hint"] == "next: uwf plugin install uwf-agent-hermes"
    assert "running" not in done.stderr


def test_a_plugin_outside_of_the_environment_is_reported_as_still_installed(own) -> None:
    site = own.folder / "site"
    info = site / "demo_far-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: demo-far\nVersion: 1.0\n")
    (info / "RECORD").write_text("")
    (info / "entry_points.txt").write_text("[uwf.agents]\nfar = far\n")
    done = own.uwf("plugin", "uninstall", "far", PYTHONPATH=str(site))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.error["message"] == "demo-far is still installed"
    assert done.error["where"] == str(site)


def test_a_folder_full_of_hostile_files_changes_nothing_of_the_installer(own) -> None:
    executed = own.folder / "executed"
    for name in ("pip", "sitecustomize", "json", "setuptools"):
        (own.folder / f"{name}.py").write_text(f"open({str(executed)!r}, 'a').close()\n")
    (own.folder / "pip.conf").write_text("[global]\nindex-url = file:///evil\n")
    wheel = own.wheel("fine")
    done = own.uwf("plugin", "install", f"wheels/{wheel.name}")
    assert changes(done) == [("added", "fine", "ready")]
    assert not executed.exists()


def slow_source(folder: Path, pid_file: Path) -> Path:
    """A distribution whose build does not end."""
    source = folder / "slow"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'slow'\nbackend-path = ['.']\n"
    )
    (source / "slow.py").write_text(
        "import os, time\n\ndef build_wheel(*_):\n"
        f"    open({str(pid_file)!r} + '.new', 'w').write(str(os.getpid()))\n"
        f"    os.rename({str(pid_file)!r} + '.new', {str(pid_file)!r})\n"
        "    time.sleep(600)\n"
    )
    return source


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_installer_and_everything_that_it_started(own, number) -> None:
    pid_file = own.folder / "pid"
    source = slow_source(own.folder, pid_file)
    child = subprocess.Popen(
        own.command("plugin", "install", str(source)), env=own.env, cwd=own.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not pid_file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    builder = int(pid_file.read_text())
    child.send_signal(number)
    stdout, stderr = child.communicate(timeout=60)
    assert (child.returncode, stdout) == (130, ""), stderr
    assert '"interrupted"' in stderr.splitlines()[-1]
    with pytest.raises(ProcessLookupError):
        os.kill(builder, 0)


@pytest.mark.parametrize(
    ("marker", "in_base", "hint"),
    [
        (True, True, "the system manages this Python ("),
        (True, False, None),
        (False, True, None),
        (None, False, "you cannot write "),
    ],
)
def test_a_managed_or_read_only_environment_is_the_reason_of_a_failure(
    tmp_path: Path, marker: bool | None, in_base: bool, hint: str | None
) -> None:
    """PEP 668 does not apply to an environment of its own; a folder that is not there is as
    read-only as any, also for root.
    """
    if marker is not None:
        (tmp_path / "site-packages").mkdir()
    if marker:
        (tmp_path / "EXTERNALLY-MANAGED").touch()
    said = environment_hint(str(tmp_path / "site-packages"), str(tmp_path), is_base=in_base)
    assert said is None if hint is None else str(said).startswith(hint)


def test_nothing_is_run_if_the_packages_beside_uwf_are_unknown(tmp_path: Path) -> None:
    """The command of `uv tool` would remove those that it does not name."""
    place = make_environment("uv-tool", tmp_path)
    receipt = tmp_path / "tools" / "uwf-core" / "uv-receipt.toml"
    receipt.write_text("[tool]\nversion = 2\n")
    done = place.uwf("plugin", "install", "demo-x")
    assert (done.exit_code, done.stdout, done.error["code"]) == (1, "", "install")
    assert done.error["where"] == str(receipt)
    assert "running" not in done.stderr


def test_without_the_installer_the_error_names_it(tmp_path: Path) -> None:
    place = make_environment("uv", tmp_path)
    done = place.uwf("plugin", "install", "demo-x", PATH=str(tmp_path / "bin"))
    assert (done.exit_code, done.error["code"]) == (1, "install")
    assert "program 'uv' not found" in done.error["message"]
    assert done.error["where"].endswith(" demo-x")
    assert done.error["hint"]
