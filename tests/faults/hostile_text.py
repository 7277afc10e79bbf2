"""Hostile YAML: as a workflow file, as an included one, as the frontmatter of a reply.

Whatever it is, it is read or refused within seconds and within memory; nothing of it is run, and
nothing outside of its folder is read. A new case is a line in one of the functions below.
"""

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.faults.forked import run, spread
from tests.faults.table import Case, Effort
from tests.faults.workflows import WORKFLOW

from uwf_core.errors import DefinitionError, UwfError

MEMORY = 1 << 30
SECONDS = 10.0
OUTSIDE = "what-is-outside-stays-outside"
"""The content of a file that no text may get at."""

Text = tuple[str, str]
SCHEMA = {
    "properties": {"$status": {"const": "done"}, "note": {"type": "string"}},
    "required": ["$status"],
}
_MANY = 200_000


def hostile_text(folder: Path, effort: Effort) -> Iterator[Case]:
    """Every text in every place where YAML of others is read."""
    folder.mkdir()
    surroundings(folder)
    texts = [*_nesting(), *_bombs(), *_tags(folder), *_characters(), *_numbers(), *_structure()]
    many = "\n".join(f"k{n}: !include one.txt" for n in range(20_000))
    places: list[tuple[str, str, str]] = [
        *(("workflow", name, text) for name, text in [*texts, ("includes without end", many)]),
        *(("frontmatter", name, text) for name, text in [*texts, *_fences()]),
    ]
    always = [("include", name, text) for name, text in _includes()]
    for (place, name, _), fault in spread(
        [*always, *effort.sample(places, 120)],
        lambda each: _read(folder, each[0], each[1], each[2]),
        effort.workers,
    ):
        yield Case(f"{name}, as {place}", fault)


# -- the texts ------------------------------------------------------------------------------------


def _nesting() -> Iterator[Text]:
    for opening in (
        "[",
        "{",
        "{a: ",
        "[{",
        "- ",
        "? ",
        "a: [",
        "!!map {",
        "&a [",
        "'",
        '"',
        "|\n ",
    ):
        for count in (100, 30_000, _MANY):
            yield f"{count} of {opening.strip()}", opening * count
    yield "deep by indentation", "".join(f"{' ' * depth}a:\n" for depth in range(1_000))
    yield "deep and closed", "[" * 5_000 + "]" * 5_000


def _bombs() -> Iterator[Text]:
    for width, depth in ((10, 10), (2, 40), (100, 5), (1_000, 3)):
        lines = ["a0: &a0 [x, x]"]
        for level in range(1, depth):
            lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]")
        yield f"laughs {width}^{depth}", "\n".join(lines)
        merges = ["m0: &m0 {k: v}"]
        for level in range(1, depth):
            sources = ", ".join([f"*m{level - 1}"] * width)
            merges.append(f"m{level}: &m{level} {{<<: [{sources}], k{level}: v}}")
        yield f"merges {width}^{depth}", "\n".join(merges)
    yield "an alias into itself", "a: &a [*a]"
    yield "a merge of itself", "a: &a {<<: *a}"
    yield "two into each other", "a: &a [*b]\nb: &b [*a]"
    yield "an alias of nothing", "a: *nowhere"
    yield "one long text, many aliases", "a: &a " + "x" * 500_000 + "\nb: [" + "*a, " * 50_000 + "]"
    yield "as many aliases as there is room", "a: &a x\nb: [" + "*a, " * 150_000 + "]"
    yield "anchors without end", "\n".join(f"k{n}: &a{n} x" for n in range(60_000))
    yield "a long anchor", f"a: &{'a' * 500_000} x"
    yield "an alias as key", "a: &a x\n*a : y"


def _tags(folder: Path) -> Iterator[Text]:
    mark = folder / "mark"
    for tag in (
        f"!!python/object/apply:os.system ['touch {mark}']",
        f"!!python/object/new:os.system ['touch {mark}']",
        f"!!python/object/apply:subprocess.check_output [['touch', '{mark}']]",
        f"!!python/object/apply:builtins.open ['{mark}', 'w']",
        f"!!python/object/apply:builtins.eval [\"open('{mark}','w')\"]",
        "!!python/name:os.system",
        "!!python/module:os",
        "!!python/object:uwf_core.client.Client {}",
        "!!python/tuple [1, 2]",
        "!!python/bytes aGFja2Vk",
        "!!binary aGFja2Vk",
        "!!set {a, b}",
        "!!omap [a: b]",
        "!!timestamp 2001-01-01",
        "!!str 1",
        "!!int '1'",
        "!!float '1'",
        "!!null ''",
        "!<tag:yaml.org,2002:python/name:os.system> x",
        "!ruby/object:Gem::Installer {i: x}",
        "!!javax.script.ScriptEngineManager [!!java.net.URL ['http://127.0.0.1/']]",
        "!local x",
        "! x",
        "!e!x y",
    ):
        yield f"the tag {tag[:40]}", f"a: {tag}"
        yield f"the tag {tag[:40]} as a key", f"? {tag}\n: a"
    yield "a tag of a declared prefix", "%TAG !p! tag:yaml.org,2002:python/\n---\na: !p!name:os x"


def _characters() -> Iterator[Text]:
    for name, character in (
        ("NUL", "\0"), ("escape", "\x1b[2J"), ("bell", "\a"), ("next line", "\x85"),
        ("line separator", "\u2028"), ("right to left", "\u202e"), ("a byte order mark", "\ufeff"),
        ("a non-character", "\uffff"), ("a private one", "\ue000"), ("a tab", "\t"),
        ("a carriage return", "\r"), ("zero width", "\u200b"), ("beyond 16 bits", "\U0001f600"),
        ("a delete", "\x7f"),
    ):  # fmt: skip
        yield f"{name} in a value", f"a: x{character}y"
        yield f"{name} in a key", f"x{character}y: a"
        yield f"{name} in quotes", f'a: "x{character}y"'
        yield f"{name} as indentation", f"a:\n{character}b: c"
    for escape in (r"\0", r"\x00", r"\ud800", r"\U00110000", r"\uFFFE", r"\q", "\\"):
        yield f"the escape {escape}", f'a: "x{escape}y"'


def _numbers() -> Iterator[Text]:
    for number in (
        "1e999999", "-1e999999", ".inf", "-.inf", ".nan", "9" * 5_000, "0x" + "F" * 5_000,
        "0o" + "7" * 5_000, "1" + "0" * 400_000, "1e-999999", "0." + "0" * 300_000 + "1",
        "18446744073709551616", "9007199254740993", "-0", "1_000", "12:30:45", "010", "2024-01-01",
    ):  # fmt: skip
        yield f"the number {number[:20]}", f"note: {number}\n$status: done"
        yield f"the number {number[:20]} as a key", f"{number}: x"


def _structure() -> Iterator[Text]:
    yield "nothing", ""
    yield "blanks", " \n" * 1_000
    yield "a comment", "# nothing"
    yield "1 MB and more", "a: " + "x" * 1_100_000
    yield "a million lines", "- a\n" * 250_000
    yield "a hundred thousand keys", "\n".join(f"k{n}: v" for n in range(60_000))
    yield "a key twice", "a: 1\na: 2"
    yield "a key twice, in two spellings", 'a: 1\n"a": 2\n"\\x61": 3'
    yield "a key a hundred times", "a: 1\n" * 100
    yield "a number and a text as keys", "1: a\n'1': b"
    yield "no key", ": x"
    yield "null as a key", "~: x\nnull: y"
    yield "a list as a key", "? [a, b]\n: c"
    yield "a mapping as a key", "? {a: b}\n: c"
    yield "a key of 100,000 characters", "k" * 100_000 + ": x"
    yield "several documents", "a: 1\n---\nb: 2\n---\nc: 3"
    yield "an end and more", "a: 1\n...\nb: 2"
    yield "another version", "%YAML 9.9\n---\na: 1"
    yield "a directive twice", "%YAML 1.2\n%YAML 1.2\n---\na: 1"
    yield "a directive without end", "%" + "x" * 100_000
    yield "quotes without end", 'a: "' + "x" * 100_000
    yield "a text of a million escapes", 'a: "' + r"\x41" * 200_000 + '"'
    yield "an attribute of Python", "__class__: x\n__proto__: y\n$status: done"
    yield "the status of a list", "$status: [done]"
    yield "the status of a mapping", "$status: {done: done}"
    yield "a status with a newline", '$status: "done\\n"'
    yield "a body of its own", "$status: done\n_body: forged"
    yield "the suspend status", "$status: $SUSPEND\nreason: 5"


INCLUDES = {
    "include-outside": (
        "/etc/passwd", "../outside.txt", "a/../../outside.txt", "./../outside.txt", "link.txt",
        "linked/outside.txt", "zero", "/proc/self/environ", "nested.yaml",
    ),
    "include-cycle": ("self.yaml", "one.yaml"),
    "include-missing": (
        "pipe", "missing.txt", ".", "", "folder", "~/.ssh/id_rsa", "file:///etc/passwd",
        "http://127.0.0.1:9/x.yaml", "%2e%2e/outside.txt", "outside.txt\\0.txt",
        "..\\\\outside.txt",
    ),
    "too-large": ("big.txt",),
    "duplicate-key": ("bad.json",),
    "too-deep": ("deep.json",),
    "not-utf-8": ("latin.txt",),
    "": ("one.txt", "./one.txt"),
}  # fmt: skip
"""Paths to include by what the check must call them; nothing where they are to be read."""


def _includes() -> Iterator[Text]:
    """Whole workflows, right but for what they include where a text must stand."""
    for code, names in INCLUDES.items():
        for name in names:
            yield f"{code or 'right'}: {name or 'nothing'}", name


def _fences() -> Iterator[Text]:
    """Whole replies (they begin with a NUL here) that must not be taken for an approval."""
    good = "---\n$status: done\n---\n"
    for name, text in (
        ("prose before it", f"Sure!\n{good}"), ("a space before it", f" {good}"),
        ("a fourth dash", f"-{good}"),
        ("a dash of another kind", good.replace("-", "\u2014")), ("quoted", f"> {good}"),
        ("after a first block", f"---\n$status: other\n---\n{good}"),
        ("after an empty block", f"---\n---\n{good}"), ("no end", "---\n$status: done\n"),
        ("an indented end", "---\n$status: done\n ---\n"),
        ("dots as its end", "---\n$status: done\n...\n"),
        ("within a text", f"---\nnote: |\n  {good.replace(chr(10), chr(10) + '  ')}\n---\n"),
        ("in a comment", "---\n# $status: done\n---\n"),
        ("a zero-width space before it", f"\u200b{good}"),
        ("a NUL before it", f"\0{good}"), ("an escape before it", f"\x1b[0m{good}"),
        ("in a code block after prose", f"I approve:\n```\n{good}```"),
        ("as JSON with prose", 'Yes: {"$status": "done"}'), ("in HTML", f"<!--\n{good}-->"),
        ("in capitals", good.replace("done", "DONE")),
        ("with a tail", good.replace("done", "done; rm")),
    ):  # fmt: skip
        yield name, "\0" + text


def surroundings(folder: Path) -> None:
    """What includes could reach for."""
    project = folder / "project"
    (project / "folder").mkdir(parents=True)
    (folder / "outside.txt").write_text(OUTSIDE)
    (project / "link.txt").symlink_to(folder / "outside.txt")
    (project / "linked").symlink_to(folder)
    (project / "zero").symlink_to("/dev/zero")
    os.mkfifo(project / "pipe")
    (project / "self.yaml").write_text("a: !include self.yaml")
    (project / "one.yaml").write_text("a: !include two.yaml")
    (project / "two.yaml").write_text("a: !include one.yaml")
    (project / "nested.yaml").write_text("a: !include ../outside.txt")
    (project / "one.txt").write_text("x")
    (project / "big.txt").write_text("x" * 3_000_000)
    (project / "bad.json").write_text('{"a": 1, "a": NaN}')
    (project / "deep.json").write_text("[" * 100_000)
    (project / "latin.txt").write_bytes(b"\xff\xfe\x00caf\xe9")


# -- reading them ---------------------------------------------------------------------------------


def _read(folder: Path, place: str, name: str, text: str) -> str | None:
    """Read a text in a child that may use little: what is wrong with that, None if nothing."""
    ways = {"workflow": _as_workflow, "frontmatter": _as_reply}

    def work(_gift: int) -> int:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if place == "include":
            fault = _as_include(folder, name.partition(":")[0], text)
        else:
            fault = ways[place](folder, text)
        print(fault or "", end="")
        return 0

    ended = run(work)
    if ended.code != 0:
        return f"ended with {ended.code}: {ended.err[-300:]}"
    if ended.seconds > SECONDS:
        return f"took {ended.seconds:.1f} s of computing"
    if (folder / "mark").exists():
        return "code of the text was run"
    return ended.out or None


def _as_workflow(folder: Path, text: str) -> str | None:
    from uwf_core.workflow.check import check_file
    from uwf_core.yaml.source import parse_yaml

    file = folder / "project" / f"hostile-{os.getpid()}.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        checked = check_file(str(file))
    except UwfError as error:
        return None if OUTSIDE not in str(error) else "the error shows a file outside"
    finally:
        file.unlink()
    told = "\n".join(map(str, checked.problems))
    if OUTSIDE in told or OUTSIDE in repr(checked.workflow):
        return "a file outside of the folder was read"
    if checked.valid:
        return "it passes the check of workflows"
    if not checked.problems or any(each.line < 1 for each in checked.problems):
        return "no problem with a place is told"
    return _parsed(parse_yaml, text)


def _as_include(folder: Path, code: str, path: str) -> str | None:
    from uwf_core.workflow.check import check_file

    file = folder / "project" / f"including-{os.getpid()}.yaml"
    text = WORKFLOW.replace("name: loop", f"name: {file.stem}")
    file.write_text(text.replace("goal: Write it.", f'goal: !include "{path}"'))
    try:
        checked = check_file(str(file))
    finally:
        file.unlink()
    if OUTSIDE in f"{checked.problems}{checked.workflow}":
        return "a file outside of the folder was read"
    if code == "right":
        goal = checked.workflow["roles"]["writer"]["goal"] if checked.workflow else checked.problems
        return None if goal == "x" else f"its goal is not the file's text: {goal}"
    if checked.valid or code not in {each.code for each in checked.problems}:
        return f"no {code} is told: {checked.problems}"
    return None


def _parsed(parse_yaml: Any, text: str) -> str | None:
    try:
        value = parse_yaml(text, file="hostile")
    except DefinitionError as error:
        return None if error.problems else "an error without a place"
    allowed = (dict, list, str, int, float, bool, type(None))
    return None if isinstance(value, allowed) else f"a value of the type {type(value)}"


def _as_reply(_folder: Path, text: str) -> str | None:
    from uwf_core.api.extract import ExtractRequest
    from uwf_core.extract.frontmatter import FrontmatterExtractor

    whole = text[:1] == "\0"
    raw = text[1:] if whole else f"---\n{text}\n---\nThe body.\n"
    reply = FrontmatterExtractor().extract(ExtractRequest(raw, SCHEMA))
    if reply.output is None:
        return None if reply.errors else "neither an output nor an error"
    if whole:
        return f"taken for an approval: {reply.output}"
    known = {"done": {"note"}, "$SUSPEND": {"reason", "form"}}.get(reply.output["$status"], set())
    if not reply.output.keys() <= known | {"$status"}:
        return f"an output that its schema does not allow: {str(reply.output)[:200]}"
    return None
