"""The repair command suits the tool that installed uwf."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from uwf_core.plugins.repair import (
    InstallMethod,
    Required,
    fit_line,
    install_command,
    install_line,
    install_method,
    repair_line,
)


def test_with_pip_it_is_pip_of_the_same_python() -> None:
    method = InstallMethod("pip", "/opt/my env/bin/python")
    line = "'/opt/my env/bin/python' -m pip install --upgrade demo"
    assert repair_line("demo", method) == line
    assert install_line("demo", method) == line.replace(" --upgrade", "")


def test_an_environment_of_uv_without_pip_gets_uv_pip(tmp_path: Path) -> None:
    method = install_method(str(tmp_path), "/e/bin/python", path=[str(tmp_path)])
    assert install_line("demo", method) == "uv pip install --python /e/bin/python demo"


def test_pip_is_seen_by_its_package(tmp_path: Path) -> None:
    (tmp_path / "pip").mkdir()
    assert install_method(str(tmp_path), "python", path=[str(tmp_path)]).tool == "pip"


def test_with_pipx_it_is_injected_into_the_same_environment(tmp_path: Path) -> None:
    prefix = tmp_path / "venvs" / "uwf-core"
    prefix.mkdir(parents=True)
    (prefix / "pipx_metadata.json").write_text("{}")
    method = install_method(str(prefix))
    assert install_line("demo", method) == "pipx inject uwf-core demo"
    assert repair_line("demo", method) == "pipx inject --force uwf-core demo"


def test_with_uv_tool_what_was_installed_beside_is_named_again(tmp_path: Path) -> None:
    """A second `uv tool install --with` drops what the first one had."""
    (tmp_path / "uv-receipt.toml").write_text(
        '[tool]\nrequirements = [\n    { name = "uwf-core" },\n    { name = "uwf-agent-hermes" },\n'
        '    { name = "demo" },\n]\nentrypoints = []\n'
    )
    method = install_method(str(tmp_path))
    line = "uv tool install uwf-core --with uwf-agent-hermes --with demo"
    assert install_line("demo", method) == line
    assert install_line("new", method) == f"{line} --with new"
    assert repair_line("demo", method) == "uv tool upgrade uwf-core"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('name = "a", specifier = ">=1,<2", extras = ["x", "y"]', ["--with", "a[x,y]>=1,<2"]),
        ('name = "a", marker = "os_name == \'posix\'"', ["--with", "a ; os_name == 'posix'"]),
        ('name = "a", path = "/w/a b-1.whl"', ["--with", "a @ file:///w/a%20b-1.whl"]),
        ('name = "a", directory = "/src/a"', ["--with", "a @ file:///src/a"]),
        ('name = "a", editable = "/src/a"', ["--with-editable", "/src/a"]),
        ('name = "a", url = "https://h/a.whl"', ["--with", "a @ https://h/a.whl"]),
        ('name = "a", git = "https://h/a"', ["--with", "a @ git+https://h/a"]),
        (
            'name = "a", git = "https://h/a?rev=v1&subdirectory=b%2Fc#0123abc"',
            ["--with", "a @ git+https://h/a@v1#subdirectory=b/c"],
        ),
    ],
)
def test_with_uv_tool_each_keeps_its_version_and_its_place(
    tmp_path: Path, entry: str, words: list[str]
) -> None:
    """As `uv tool install` of uv 0.13 writes it into its receipt."""
    (tmp_path / "uv-receipt.toml").write_text(
        f'[tool]\nrequirements = [{{ name = "uwf-core", editable = "/src/core" }}, {{ {entry} }}]\n'
    )
    method = install_method(str(tmp_path))
    core = ["uv", "tool", "install", "--editable", "/src/core"]
    assert shlex.split(install_line("demo", method)) == [*core, *words, "--with", "demo"]
    assert [*install_command(["a==3"], method)] == [*core, "--with", "a==3"]
    assert [*install_command(["/new/a-3.whl"], method)] == [*core, "--with", "/new/a-3.whl"]


def test_a_receipt_of_another_format_still_gives_a_command(tmp_path: Path) -> None:
    (tmp_path / "uv-receipt.toml").write_text("[tool]\n")
    assert install_line("demo", install_method(str(tmp_path))) == (
        "uv tool install uwf-core --with demo"
    )


@pytest.mark.parametrize(
    ("method", "line"),
    [
        (InstallMethod("pip", "python"), "python -m pip install --upgrade uwf-core demo"),
        (
            InstallMethod("uv", "/my env/python"),
            "uv pip install --python '/my env/python' --upgrade uwf-core demo",
        ),
        (
            InstallMethod("pipx", "python"),
            "pipx upgrade --include-injected uwf-core",
        ),
        (
            InstallMethod("uv-tool", "python", Required("uwf-core", "uwf-core[llm]")),
            "uv tool upgrade uwf-core",
        ),
    ],
)
def test_what_does_not_fit_is_brought_up_together_with_the_core(
    method: InstallMethod, line: str
) -> None:
    """A newer core alone, or a newer plugin alone, may leave both apart."""
    assert fit_line("demo", method) == line


def test_the_line_for_an_environment_of_uv_is_one_that_uv_takes() -> None:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        pytest.skip("uv is not installed")
    words = shlex.split(install_line("pluggy", InstallMethod("uv", sys.executable)))
    done = subprocess.run(
        [uv, *words[1:], "--dry-run", "--offline"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
