"""`python -m tests.core.workflow.real_workflows GIT_FOLDER`: check the workflows of a history.

Reads every version of every YAML file with roles and a graph that the git repository ever had, and
prints how many check without errors. An alarm is a warning of one of these that is not true: each
is verified by a second, simple reading of the file.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import yaml
from tests.core.workflow.checking import Checked, Problem, check_text

_OPTIONAL = re.compile(r"the status '(.+)' of '(.+)' does not require '(.+)'; it may")


class Version(NamedTuple):
    """A version of a file: its first commit, its path and its text."""

    commit: str
    path: str
    text: str


def versions(repository: str) -> Iterator[Version]:
    """Each distinct content of a workflow file in a history."""

    def git(*words: str) -> str:
        run = ["git", "-C", repository, *words]
        return subprocess.run(run, capture_output=True, check=True).stdout.decode(errors="replace")

    log = ("log", "--all", "--no-renames", "--diff-filter=AM", "--raw", "--no-abbrev")
    seen, commit = set[str](), ""
    for line in git(*log, "--format=@%H").splitlines():
        if line.startswith("@"):
            commit = line[1:]
        elif line.startswith(":") and re.search(r"\.ya?ml$", line):
            fields, path = line.split("\t", 1)
            blob = fields.split()[3]
            if blob not in seen:
                seen.add(blob)
                text = git("cat-file", "blob", blob)
                if re.search("^roles:", text, re.M) and re.search("^graph:", text, re.M):
                    yield Version(commit, path, text)


def checked(version: Version) -> Checked:
    """The check of a file under the name that it has."""
    name = re.search(r"^name:\s*[\"']?([\w.-]+)", version.text, re.M)
    return check_text(version.text, f"{name[1] if name else 'x'}.yaml")


def is_true(problem: Problem, text: str) -> bool:
    """Whether a warning holds, by a reading of the file apart from that of the check."""
    document = yaml.safe_load(text)
    if problem.code == "version-missing":
        return "version" not in document
    if problem.code == "template-at-start":
        starts = document["graph"]["$START"].values()
        return any("{{" in str(edge.get("prompt")) for edge in starts)
    found = _OPTIONAL.match(problem.message)
    if found is None:
        return False
    status, role, name = found.groups()
    schema = document["roles"][role]["frontmatter"]
    for variant in schema.get("oneOf", [schema]):
        if variant["properties"]["$status"].get("const") == status:
            return name.split(".")[0] not in variant.get("required", ())
    return False


def main(repository: str) -> int:
    """Print the table; exit code 1 with fewer than 30 accepted workflows, or with an alarm."""
    accepted, alarms, rejected, warned = 0, 0, 0, Counter[str]()
    for version in versions(repository):
        result = checked(version)
        if not result.valid:
            rejected += 1
            continue
        accepted += 1
        for problem in result.problems:
            warned[problem.code] += 1
            if not is_true(problem, version.text):
                alarms += 1
                print(f"alarm: {version.commit[:12]} {version.path}: {problem}")
    print(f"{accepted} accepted, {rejected} rejected, {alarms} alarms; warnings: {dict(warned)}")
    return 1 if accepted < 30 or alarms else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
