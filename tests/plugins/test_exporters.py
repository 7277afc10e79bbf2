"""`uwf thread export --format NAME`: the output of an exporter, or an error that names it."""

import json
import os
import subprocess

import pytest
from wheels import build_wheel, install

PLUGIN = """
from uwf_core.api import ExporterSpec, hookimpl

@hookimpl
def uwf_exporters():
    return [ExporterSpec(name={name!r}, summary="for a test", factory="odd_exporter:Odd")]

class Odd:
    def __init__(self): {create}
    def export(self, thread):
        {body}
"""
GOOD = "yield thread.id + '\\n'; yield b'\\xff' + str(thread.count).encode()"
UNRUN = "raise SystemExit('it was imported')"


def exporter(installation, body: str = GOOD, *, name: str = "odd", create: str = "pass") -> None:
    """Install the distribution `uwf-odd` with one exporter."""
    code = PLUGIN.format(name=name, body=body, create=create)
    entries = {"uwf.exporters": {name: "odd_exporter"}}
    wheel = build_wheel(installation.wheels, "uwf-odd", entries, {"odd_exporter.py": code})
    install(wheel, installation.site)


def export(installation, thread: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command; its output as bytes."""
    project = installation.project
    return subprocess.run(
        project.command("thread", "export", thread, *words),
        cwd=project.folder,
        env={**project.env, "PYTHONPATH": str(installation.site)},
        capture_output=True,
    )


@pytest.fixture
def thread(installation) -> str:
    return installation.thread()


def test_without_a_file_the_output_is_printed_as_it_is(installation, thread):
    exporter(installation)
    done = export(installation, thread, "--format", "odd")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == f"{thread}\n".encode() + b"\xff0"


def test_a_file_gets_the_output_and_the_report_is_printed(installation, thread):
    exporter(installation)
    file = installation.project.folder / "out.odd"
    file.write_text("an older one")
    done = export(installation, thread, "--format", "odd", "-o", "out.odd")
    document = json.loads(done.stdout)
    assert file.read_bytes() == f"{thread}\n".encode() + b"\xff0"
    assert (document["file"], document["format"]) == (str(file), "odd")
    assert document["bytes"] == len(file.read_bytes())
    assert file.stat().st_mode & 0o777 == 0o600


def test_without_an_exporter_it_stays_a_bundle_and_needs_a_file(installation, thread):
    for words in ((), ("--format", "json"), ("--format", "bundle")):
        refused = export(installation, thread, *words)
        assert refused.returncode == 2
        assert b"a bundle needs -o FILE" in refused.stderr
        done = export(installation, thread, "-o", "thread.tar", *words)
        assert json.loads(done.stdout)["root"]
    assert installation.uwf("bundle", "verify", "thread.tar").exit_code == 0


def test_an_unknown_name_lists_the_installed_ones_and_how_to_install_more(installation, thread):
    exporter(installation)
    done = installation.uwf("thread", "export", thread, "--format", "nothing-like-it")
    assert done.exit_code == 2
    assert done.error["message"] == "unknown format 'nothing-like-it'"
    assert "odd" in done.error["hint"]
    assert "install another one: " in done.error["hint"]
    near = installation.uwf("thread", "export", thread, "--format", "odf")
    assert "did you mean odd?" in near.error["hint"]


FAILURES = {
    "raises": ("yield 'begun'\n        1 / 0", "ZeroDivisionError"),
    "exits": ("yield 'begun'\n        raise SystemExit(0)", "SystemExit"),
    "ends the process": ("yield 'begun'\n        import os; os._exit(0)", "SystemExit"),
    "gives numbers": ("yield 'begun'\n        yield 5", "int, not text or bytes"),
    "gives nothing": ("return None", "NoneType"),
    "gives half a letter": ("yield '\\ud83d'", "UnicodeEncodeError"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_names_the_exporter_and_leaves_the_old_file(installation, thread, failure):
    body, cause = FAILURES[failure]
    exporter(installation, body)
    file = installation.project.folder / "out.odd"
    file.write_text("an older one")
    before = sorted(os.listdir(file.parent))  # noqa: PTH208
    done = installation.uwf("thread", "export", thread, "--format", "odd", "-o", "out.odd")
    assert done.exit_code == 1, done
    for word in ("odd of uwf-odd 1.2", cause):
        assert word in done.error["message"]
    assert done.error["hint"]
    assert file.read_text() == "an older one"
    assert sorted(os.listdir(file.parent)) == before  # noqa: PTH208


def test_a_factory_that_fails_is_a_broken_plugin(installation, thread):
    exporter(installation, create="1 / 0")
    done = installation.uwf("thread", "export", thread, "--format", "odd")
    assert (done.exit_code, done.error["code"]) == (1, "plugin-broken")
    assert "'odd' (uwf-odd 1.2) is broken" in done.error["message"]


def test_what_an_exporter_prints_is_not_its_output(installation, thread):
    exporter(installation, "print('noise'); yield 'output'")
    done = export(installation, thread, "--format", "odd")
    assert (done.stdout, done.stderr.strip()) == (b"output", b"noise")


@pytest.mark.parametrize("name", ["bundle", "text", "json", "yaml"])
def test_a_name_that_format_takes_already_is_broken_before_any_import(installation, name):
    code = {"odd_exporter.py": UNRUN}
    entries = {"uwf.exporters": {name: "odd_exporter"}}
    install(build_wheel(installation.wheels, "uwf-odd", entries, code), installation.site)
    (plugin,) = installation.uwf("plugin", "check", "uwf-odd").document["plugins"]
    assert plugin["status"] == "broken"
    assert f"its name {name!r} is" in plugin["reason"]
    assert "choose another name" in plugin["reason"]
    refused = installation.uwf("plugin", "new", "exporter", name)
    assert refused.exit_code == 2


def test_a_secret_that_is_known_now_is_not_exported(installation, thread):
    exporter(installation, "yield thread.task")
    done = installation.uwf(
        "thread", "export", thread, "--format", "odd", "-o", "out", MY_API_KEY="a task"
    )
    assert done.exit_code == 0, "too short for a secret"
    secret = "sk-0123456789abcdef0123"
    with installation.project.client() as client:
        other = client.start("one", f"the key is {secret}")["thread"]
    done = installation.uwf(
        "thread", "export", other, "--format", "odd", "-o", "new", MY_API_KEY=secret
    )
    assert (done.exit_code, done.error["code"]) == (4, "invalid-bundle"), done
    assert not (installation.project.folder / "new").exists()


def test_completion_offers_the_names(installation):
    exporter(installation)
    words = ["bash", "5", "uwf", "thread", "export", "@last", "--format", ""]
    offered = installation.uwf("__complete", *words).stdout.split()
    assert {"text", "json", "yaml", "bundle", "odd"} <= set(offered)
    blocked = installation.uwf("__complete", *words, UWF_BLOCK_PLUGINS="odd").stdout.split()
    assert "odd" not in blocked


def test_an_exporter_of_a_project_is_one_file(installation, thread):
    folder = installation.project.folder / ".uwf" / "plugins" / "exporters"
    folder.mkdir(parents=True)
    code = PLUGIN.format(name="mine", body=GOOD, create="pass")
    (folder / "mine.py").write_text(code.replace('"odd_exporter:', 'f"{__name__}:'))
    refused = installation.uwf("thread", "export", thread, "--format", "mine", "-o", "x")
    assert "its project is not trusted" in refused.error["message"]
    installation.uwf("config", "trust")
    done = export(installation, thread, "--format", "mine")
    assert done.stdout.startswith(thread.encode()), done.stderr
