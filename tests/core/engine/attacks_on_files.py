"""Bundles whose recorded files are as an attacker would make them, by what is wrong with each."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from tests.core.engine.archives import Archive, File, recorded
from tests.core.engine.attacks import Attack, exchanged, manifest, set_to
from tests.step_parts import workspace_of


def entry(mode: str, name: bytes, file: File) -> bytes:
    """An entry of a tree."""
    return mode.encode() + b" " + name + b"\0" + bytes.fromhex(file.name[6:])


def sized(data: bytes) -> tuple[str, bytes]:
    """The name and the content of an object that is not in the form of git."""
    return f"files/{sha256(data).hexdigest()}", data


def tree(*entries: bytes) -> File:
    return recorded("tree", b"".join(entries))


def planted(root: File, *others: File) -> Attack:
    """Another tree in place of every one that a step names, with a manifest that fits."""

    def change(payload: Any) -> None:
        for snapshot in filter(None, ((workspace_of(payload) or {}).get(at) for at in MOMENTS)):
            snapshot["tree"] = root.name[6:]

    def attack(archive: Archive) -> bytes:
        archive.with_objects(root, *others)
        return exchanged("files", "attempt", change=change, every=True)(archive)

    return attack


def objects(change: Callable[[list[File]], Any]) -> Attack:
    """Other objects of recorded files, with a manifest that fits."""

    def attack(archive: Archive) -> bytes:
        found = archive.objects
        change(found)
        return archive.with_objects(*found).data()

    return attack


def altered(kind: bytes) -> Attack:
    """The last byte of an object differs, and so not its size."""

    def attack(archive: Archive) -> bytes:
        found = next(each for each in archive.objects if each.content.startswith(kind))
        return archive.rewrite(found.name, found.content[:-1] + b"!").data()

    return attack


def named(name: str) -> Attack:
    """The last object has another name, and the manifest has that name too."""

    def attack(archive: Archive) -> bytes:
        return archive.with_objects(*archive.objects[:-1], File(name, b"blob 1\0x")).data()

    return attack


def git_names(**fields: str) -> Attack:
    """A step names something else to git, and the bundle has no files."""

    def attack(archive: Archive) -> bytes:
        archive.files = [file for file in archive.files if not file.name.startswith("files/")]
        archive.json("manifest.json", lambda each: each.pop("files") and each.update(version=1))
        change = exchanged(
            *("files", "attempt"),
            change=lambda payload: payload["files"]["workspace"]["before"].update(fields),
        )
        return change(archive)

    return attack


def many_times(levels: int, file: File) -> tuple[File, ...]:
    """A tree that names the tree below it ten times, and so on: small, with 10^levels files."""
    found = [file]
    for _ in range(levels):
        mode = "100644" if len(found) == 1 else "40000"
        found.insert(0, tree(*(entry(mode, b"%d" % at, found[0]) for at in range(10))))
    return tuple(found)


def nested(levels: int, name: bytes) -> tuple[File, ...]:
    found = [BLOB]
    for _ in range(levels):
        mode = "100644" if len(found) == 1 else "40000"
        found.insert(0, tree(entry(mode, name, found[0])))
    return tuple(found)


def links(target: bytes, *folders: bytes) -> Attack:
    """A link with a target, in a folder within others."""
    to = recorded("blob", target)
    found = [tree(entry("120000", b"link", to))]
    for name in folders:
        found.insert(0, tree(entry("40000", name, found[0])))
    return planted(*found, to)


MOMENTS = ("before", "after")
BLOB = recorded("blob", b"content")
FILE = entry("100644", b"file", BLOB)

FILE_ATTACKS: dict[str, Attack] = {
    "an object less": objects(lambda found: found.pop(0)),
    "no object but one": objects(lambda found: found.__delitem__(slice(1, None))),
    "an object more": objects(lambda found: found.append(recorded("blob", b"hidden"))),
    "a tree more": objects(lambda found: found.append(tree())),
    "an altered file": altered(b"blob"),
    "an altered tree": altered(b"tree"),
    "an object that is not in the manifest": lambda archive: archive.replace(
        "manifest.json", recorded("blob", b"x"), archive["manifest.json"]
    ).data(),
    "objects out of order": lambda archive: archive.replace(
        archive.objects[0].name, archive.objects[1], archive.objects[0]
    ).data(),
    "an object with a time": lambda archive: archive.replace(
        archive.objects[0].name, archive.objects[0]._replace(mtime=5)
    ).data(),
    "objects before vars.jsonl": lambda archive: archive.replace(
        "vars.jsonl", archive.objects[0], archive["vars.jsonl"]
    ).data(),
    "an old version with files": manifest(set_to("version", 1)),
    "a new version without": lambda archive: archive.with_objects().data(),
    "a name that climbs": named("files/../../../x"),
    "a name in capitals": named("files/" + "A" * 64),
    "a short name": named("files/aa"),
    "a name with an ending": named("files/" + "a" * 64 + ".bin"),
    "a commit": planted(tree(FILE), BLOB, recorded("commit", b"tree x\n")),
    "a pack": planted(tree(FILE), BLOB, File("files/" + "a" * 64, b"PACK\0\0\0\2" + bytes(40))),
    "a size that is wrong": planted(File(*sized(b"tree 9\0"))),
    "a size in another form": planted(File(*sized(b"tree 00\0"))),
    "an object that is empty": planted(File(*sized(b""))),
    "a tree that is a blob": planted(BLOB),
    "a file that is a tree": planted(tree(entry("100644", b"file", tree())), tree()),
    "a folder that is a blob": planted(tree(entry("40000", b"folder", BLOB)), BLOB),
    "a tree that is cut": planted(recorded("tree", FILE[:-1]), BLOB),
    "a tree without a name's end": planted(recorded("tree", b"100644 file"), BLOB),
    "a tree without a mode": planted(recorded("tree", b"file\0" + bytes(32)), BLOB),
    "entries that are out of order": planted(
        tree(entry("100644", b"b", BLOB), entry("100644", b"a", BLOB)), BLOB
    ),
    "a file and a folder of one name": planted(
        tree(FILE, entry("100644", b"file.x", BLOB), entry("40000", b"file", tree(FILE))),
        *(tree(FILE), BLOB),
    ),
    "a link and a folder of one name": planted(
        tree(entry("120000", b"a", BLOB), entry("40000", b"a", tree(FILE))), tree(FILE), BLOB
    ),
    **{
        f"the mode {mode}": planted(tree(entry(mode, b"file", BLOB)), BLOB)
        for mode in ("160000", "100664", "104755", "0100644", "040000", "100600", "20666", "")
    },
    **{
        f"the name {name!r}": planted(tree(entry("100644", name, BLOB)), BLOB)
        for name in (
            *(b"", b".", b"..", b".git", b".GIT", b".Git", ".g\u200cit".encode()),
            *(b"a/b", b"/etc/passwd", b"../x", b"a/../../b", b"n" * 256),
        )
    },
    "a folder called .git": planted(tree(entry("40000", b".git", tree(FILE))), tree(FILE), BLOB),
    "a folder called ..": planted(tree(entry("40000", b"..", tree(FILE))), tree(FILE), BLOB),
    "an empty file 10^9 times": planted(*many_times(9, recorded("blob", b""))),
    "a file 10^300 times": planted(*many_times(300, BLOB)),
    "a file of 1 MB 10^4 times": planted(*many_times(4, recorded("blob", bytes(1_000_000)))),
    "a path of 6,000 bytes": planted(*nested(30, b"n" * 200)),
    "a path of 3,000 folders": planted(*nested(3_000, b"n")),
    "a link to an absolute path": links(b"/etc/passwd"),
    "a link above the folder": links(b".."),
    "a link above the folder, from a folder": links(b"../../x", b"inner"),
    "a link over another one": links(b"a/../../x", b"inner"),
    "a link that comes back": links(b"a/../b"),
    "a link into a repository": links(b"../.git/hooks", b"inner"),
    "a link without a target": links(b""),
    "a link with a long target": links(b"a/" * 2_100),
    "a tree that is an option": git_names(tree="--output=/tmp/uwf-owned"),
    "a tree that is a name": git_names(tree="HEAD"),
    "a commit that is an option": git_names(commit="--upload-pack=x"),
}
