"""`dev.py` on a machine that lacks something says what, and what helps."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path):
    """A folder that looks like a fresh clone, as far as dev.py is concerned."""
    shutil.copy(ROOT / "dev.py", tmp_path)
    return tmp_path


def run(checkout: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    program = f"import runpy, sys\n{before}\nsys.argv = ['dev.py', 'tests']\n"
    program += f"runpy.run_path({str(checkout / 'dev.py')!r}, run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "HOME": str(checkout / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_an_old_python_is_told_which_one_is_needed(checkout):
    done = run(checkout, "sys.version_info = (3, 9, 2)")
    assert done.returncode == 2
    assert "this is Python 3.9.2, and 3.11 or newer is needed" in done.stderr
    assert "fix: call it with another one" in done.stderr
    assert not (checkout / ".venv").exists()


def test_a_python_without_ensurepip_is_told_the_package_that_brings_it(checkout):
    """Debian and Ubuntu leave it out of their `python3`."""
    done = run(checkout, "sys.modules['ensurepip'] = None")
    assert done.returncode == 2
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"apt install python{version}-venv" in done.stderr
    assert "Traceback" not in done.stderr


def test_windows_is_told_to_use_wsl(checkout):
    done = run(checkout, "sys.platform = 'win32'")
    assert done.returncode == 2
    assert "use WSL" in done.stderr


def test_an_index_that_cannot_be_reached_is_no_traceback(checkout):
    done = run(
        checkout,
        "import os\n"
        "os.environ.update(PIP_INDEX_URL='file:///nowhere', PIP_CONFIG_FILE=os.devnull,\n"
        "                  PIP_NO_INDEX='1', PIP_RETRIES='0')",
    )
    assert done.returncode == 2
    assert "cannot install nox" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_ci_script_is_bash_that_can_be_read():
    subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=True)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
