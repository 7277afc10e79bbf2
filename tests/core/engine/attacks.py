"""Bundles as an attacker would make them: what is wrong with each, by name."""

import json
import struct
import tarfile
from collections.abc import Callable
from typing import Any

from tests.core.engine.archives import Archive, File, node

from uwf_core.cas import node_file
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of

TEXT = PRIMITIVES["string"]
Attack = Callable[[Archive], bytes]


# -- attacks on the archive ------------------------------------------------------------------------


def header(name: str, **fields: Any) -> Attack:
    """One entry's header says something else."""

    def attack(archive: Archive) -> bytes:
        victim = archive.nodes[3].name

        def info(file: File) -> tarfile.TarInfo:
            info = file.info()
            if file.name == victim:
                info.name = name or info.name
                for key, value in fields.items():
                    setattr(info, key, value)
            return info

        return archive.data(info)

    return attack


def byte(offset: int, value: bytes, *, fix_checksum: bool = True) -> Attack:
    """Bytes in the header of the second node."""

    def attack(archive: Archive) -> bytes:
        data = bytearray(archive.data())
        start = 512 + len(archive.nodes[0].content) + (-len(archive.nodes[0].content) % 512)
        data[start + offset : start + offset + len(value)] = value
        if fix_checksum:
            block = data[start : start + 148] + b" " * 8 + data[start + 156 : start + 512]
            data[start + 148 : start + 156] = b"%06o\0 " % sum(block)
        return bytes(data)

    return attack


def cut(at: Callable[[bytes], int]) -> Attack:
    def attack(archive: Archive) -> bytes:
        data = archive.data()
        return data[: at(data)]

    return attack


def appended(more: bytes) -> Attack:
    return lambda archive: archive.data() + more


def extra(file: File, before: str = "vars.jsonl") -> Attack:
    def attack(archive: Archive) -> bytes:
        return archive.replace(before, file, archive[before]).data()

    return attack


def without(name: str) -> Attack:
    return lambda archive: archive.replace(name).data()


def swapped(archive: Archive) -> bytes:
    archive.files[0], archive.files[1] = archive.files[1], archive.files[0]
    return archive.data()


def twice(archive: Archive) -> bytes:
    return archive.replace(archive.nodes[2].name, archive.nodes[2], archive.nodes[2]).data()


def twice_apart(archive: Archive) -> bytes:
    archive.files.insert(len(archive.nodes), archive.nodes[0])
    return archive.data()


def between_blocks(archive: Archive) -> bytes:
    """Something is hidden in the padding of the first node."""
    data = bytearray(archive.data())
    data[512 + len(archive.nodes[0].content) + 1] = 7
    return bytes(data)


def compressed(archive: Archive) -> bytes:
    import gzip

    return gzip.compress(archive.data())


ARCHIVES: dict[str, Attack] = {
    "no file at all": lambda archive: b"",
    "zeros": lambda archive: bytes(10240),
    "text": lambda archive: b"hello " * 1000,
    "compressed": compressed,
    "path escape": header("../../../etc/passwd"),
    "absolute path": header("/etc/passwd"),
    "escape below cas": header("cas/../../x.bin"),
    "dot path": header("cas/./x.bin"),
    "backslashes": header("cas\\x.bin"),
    "line feed in a name": header("cas/a\nb.bin"),
    "wrong folder": header("nodes/0000000000000.bin"),
    "lower case name": header("cas/abcdefghjkmnp.bin"),
    "name of more than 64 bits": header("cas/ZZZZZZZZZZZZZ.bin"),
    "short name": header("cas/0.bin"),
    "other ending": header("cas/0000000000000.txt"),
    "symbolic link": header("", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    "hard link": header("", type=tarfile.LNKTYPE, linkname="vars.jsonl"),
    "character device": header("", type=tarfile.CHRTYPE, devmajor=1, devminor=5),
    "block device": header("", type=tarfile.BLKTYPE),
    "pipe": header("", type=tarfile.FIFOTYPE),
    "folder": header("", type=tarfile.DIRTYPE),
    "sparse file": header("", type=tarfile.GNUTYPE_SPARSE),
    "long name record": header("", type=tarfile.GNUTYPE_LONGNAME),
    "pax record": header("", type=tarfile.XHDTYPE),
    "old regular type": header("", type=tarfile.AREGTYPE),
    "link name on a file": header("", linkname="x"),
    "set-user-id": header("", mode=0o4755),
    "owner": header("", uid=1000),
    "owner's name": header("", uname="root"),
    "group": header("", gid=1000),
    "time of another": header("", mtime=5),
    "posix magic": byte(257, b"ustar\x0000"),
    "prefix field": byte(345, b"../../"),
    "base-256 size": byte(124, b"\x80" + bytes(10) + b"\x10"),
    "size in blanks": byte(124, b"         77 "),
    "negative size": byte(124, b"-0000000077\0"),
    "size beyond the end": byte(124, b"77777777777\0"),
    "wrong checksum": byte(148, b"000001\0 ", fix_checksum=False),
    "bytes behind the name": byte(60, b"hidden"),
    "one block": cut(lambda data: 512),
    "cut within a header": cut(lambda data: 700),
    "cut in the middle": cut(lambda data: len(data) // 2),
    "without its end": cut(lambda data: len(data) - 1024),
    "half its end": cut(lambda data: len(data) - 512),
    "a byte short": cut(lambda data: len(data) - 1),
    "a byte more": appended(b"\0"),
    "more zeros": appended(bytes(8192)),
    "something behind its end": appended(b"#!/bin/sh\n" * 100),
    "a second archive behind it": lambda archive: archive.data() + archive.data(),
    "entries out of order": swapped,
    "the same entry twice": twice,
    "the same entry later": twice_apart,
    "hidden in the padding": between_blocks,
    "a file more": extra(File("run.sh", b"#!/bin/sh\n")),
    "a second vars.jsonl": extra(File("vars.jsonl", b"")),
    "tags": lambda archive: archive.rewrite("tags.jsonl", b'{"target":"x"}\n').data(),
    "no vars.jsonl": without("vars.jsonl"),
    "no tags.jsonl": without("tags.jsonl"),
    "no manifest": without("manifest.json"),
    "a file behind the manifest": lambda archive: archive.replace(
        "manifest.json", archive["manifest.json"], File("more.json", b"{}")
    ).data(),
}


# -- attacks on what is in it ----------------------------------------------------------------------


def manifest(change: Callable[[Any], Any]) -> Attack:
    return lambda archive: archive.json("manifest.json", change).data()


def variable(change: Callable[[Any], Any]) -> Attack:
    """The first line of vars.jsonl, with all others left out: only the first fault counts."""
    return lambda archive: archive.json("vars.jsonl", change).data()


def line(change: Callable[[dict[str, Any]], Any], area: str = "@uwf/thread/") -> Attack:
    """One variable's line, all others as they are."""

    def attack(archive: Archive) -> bytes:
        lines = [json.loads(each) for each in archive["vars.jsonl"].content.splitlines()]
        for each in lines:
            if each["name"].startswith(area):
                change(each)
        text = "".join(
            json.dumps(each) + "\n" for each in sorted(lines, key=lambda e: str(e["name"]))
        )
        return archive.rewrite("vars.jsonl", text.encode()).data()

    return attack


def content(change: Callable[[bytes], bytes]) -> Attack:
    """Other bytes in a node's file."""

    def attack(archive: Archive) -> bytes:
        file = archive.nodes[5]
        return archive.rewrite(file.name, change(file.content)).data()

    return attack


def exchanged(
    *keys: str, change: Callable[[Any], None], type_: str | None = None, every: bool = False
) -> Attack:
    """A node with another payload under its own right reference, all who refer to it changed
    along, and a manifest that fits: only what the payload says is wrong. Without keys: the head.
    `every`: all nodes with the keys.
    """

    def attack(archive: Archive) -> bytes:
        head = json.loads(archive["manifest.json"].content)["head"]
        victim = archive.find(*keys) if keys else archive[f"cas/{head}.bin"]
        fresh: dict[str, File] = {}

        def renewed(ref: str) -> str:
            """The reference of a node after everything below it has changed."""
            if ref in fresh:
                return fresh[ref].name[4:17]
            file = archive[f"cas/{ref}.bin"]
            held = node_file.from_bytes(file.content)
            payload = archive.payload(file)
            kind = held.type if held.type == ref else renewed(held.type)
            has_keys = isinstance(payload, dict) and {*keys} <= {*payload}
            if file == victim or (every and has_keys):
                change(payload)
                kind = type_ or kind
            text = json.dumps(payload)
            for name in sorted(names):
                if name in text:
                    text = text.replace(name, renewed(name))
            fresh[ref] = file if ref == META else node(kind, json.loads(text), held.timestamp_ms)
            return fresh[ref].name[4:17]

        names = {file.name[4:17] for file in archive.nodes}
        for ref in sorted(names):
            renewed(ref)
        for name in ("vars.jsonl", "manifest.json"):
            text = archive[name].content.decode()
            for old in names:
                text = text.replace(old, fresh[old].name[4:17])
            archive.rewrite(name, text.encode())
        others = [file for file in archive.files if not file.name.startswith("cas/")]
        files = {file.name[4:17]: file for file in fresh.values()}
        reached = _reached(files, archive["vars.jsonl"].content)
        archive.files = [*(files[ref] for ref in reached), *others]
        return archive.reseal().data()

    return attack


def _reached(files: dict[str, File], text: bytes) -> set[str]:
    """The nodes that are named in a text or in what it leads to: nothing is left over."""
    reached, waiting = set[str](), [text]
    while waiting:
        content = waiting.pop()
        for ref in set(files) - reached:
            if ref.encode() in content:
                reached.add(ref)
                waiting.append(files[ref].content)
    return reached


def stowaway(archive: Archive) -> bytes:
    archive.files.insert(0, node(TEXT, "hidden"))
    return archive.reseal().data()


def under_its_name(archive: Archive) -> bytes:
    """Another text under the reference of the first one: every digest fits but the reference."""
    held = {file.name: node_file.from_bytes(file.content) for file in archive.nodes}
    name = next(name for name in held if held[name].type == TEXT)
    forged = held[name]._replace(data=encode("another text"))
    return archive.rewrite(name, node_file.to_bytes(forged)).reseal().data()


def missing(*keys: str) -> Attack:
    def attack(archive: Archive) -> bytes:
        return archive.replace(archive.find(*keys).name).reseal().data()

    return attack


def deep(archive: Archive) -> bytes:
    data = b"\x81" * 5000 + b"\xf6"
    content = node_file.to_bytes(node_file.NodeFile(TEXT, data, 0))
    archive.files.insert(0, File(f"cas/{ref_of(TEXT, data)}.bin", content))
    return archive.reseal().data()


def set_to(key: str, value: Any) -> Callable[[Any], None]:
    return lambda payload: payload.__setitem__(key, value)


CONTENTS: dict[str, Attack] = {
    "another version": manifest(set_to("version", 3)),
    "another thread": manifest(set_to("thread", "01JD8ZK3000000000000000000")),
    "no thread": manifest(set_to("thread", None)),
    "another head": manifest(set_to("head", "0" * 13)),
    "a head that is none": manifest(set_to("head", ["x"])),
    "another root": manifest(set_to("root", "0" * 64)),
    "a node less in the manifest": manifest(lambda document: document["nodes"].pop() and None),
    "another digest in the manifest": manifest(
        lambda document: document["nodes"][0].__setitem__(1, "0" * 64)
    ),
    "a manifest with more keys": manifest(set_to("more", 1)),
    "a manifest that is a list": manifest(lambda document: [document]),
    "a manifest that is no JSON": lambda archive: archive.rewrite("manifest.json", b"{").data(),
    "a manifest that is deep": lambda archive: archive.rewrite(
        "manifest.json", b"[" * 100_000
    ).data(),
    "names of another thread": line(
        lambda each: each.update(name="@uwf/attempt/01JD8ZK3000000000000000000/1.1"),
        "@uwf/attempt/",
    ),
    "a name of ours": line(lambda each: each.update(name="@uwf/ask/x"), "@uwf/attempt/"),
    "a name of nobody": line(lambda each: each.update(name="@evil/x"), "@uwf/attempt/"),
    "a name that is none": line(lambda each: each.update(name="../../x")),
    "a name that is a number": line(lambda each: each.update(name=5)),
    "a value that is not there": line(lambda each: each.update(value="0" * 13)),
    "a value that is none": line(lambda each: each.update(value={"a": 1})),
    "a head that is a schema": line(lambda each: each.update(value=META, schema=META)),
    "another type": line(lambda each: each.update(schema=TEXT)),
    "a tag that is no text": line(lambda each: each["tags"].update(steps=5)),
    "tags that are no mapping": line(lambda each: each.update(tags=["x"])),
    "labels": line(lambda each: each.update(labels=["x"])),
    "a time that is none": line(lambda each: each.update(created="now")),
    "a time before time": line(lambda each: each.update(updated=-1)),
    "more keys": line(lambda each: each.update(more=1)),
    "a line that is no JSON": lambda archive: archive.rewrite("vars.jsonl", b"{\n").data(),
    "a line that is cut": lambda archive: archive.rewrite(
        "vars.jsonl", archive["vars.jsonl"].content[:-1]
    ).data(),
    "a variable less": variable(lambda document: None),
    "another status": line(lambda each: each["tags"].update(status="completed")),
    "more steps": line(lambda each: each["tags"].update(steps="9")),
    "another folder": line(lambda each: each["tags"].update(cwd="/")),
    "another agent": line(lambda each: each["tags"].update(agent="/bin/sh -c id")),
    "a session of another": line(
        lambda each: each["tags"].update({"role.developer": '[1,null,{"mock":["x",1,false]}]'})
    ),
    "tags that are none": line(lambda each: each["tags"].update(attempt="[")),
    "a flipped bit": content(lambda data: data[:-20] + bytes([data[-20] ^ 1]) + data[-19:]),
    "a node that is cut": content(lambda data: data[:-1]),
    "a node that is longer": content(lambda data: data + b"\0"),
    "an empty node": content(lambda data: b""),
    "another time in a node": content(lambda data: data[:-8] + struct.pack(">Q", 5)),
    "a negative time in a node": content(lambda data: data[:-9] + b"\x20"),
    "another type in a node": content(lambda data: data[:7] + b"0" * 12 + data[19:]),
    "another text under a node's name": under_its_name,
    "a stowaway": stowaway,
    "a deep stowaway": deep,
    "a step without its details": missing("session", "turns"),
    "a thread without its workflow": missing("roles", "graph"),
    "a step of another number": exchanged(change=set_to("number", 7)),
    "a step of another start": exchanged(change=lambda step: step.update(start=step["prev"])),
    "a step that is its own": exchanged(change=set_to("thread", "01JD8ZK3000000000000000000")),
    "a step of another type": exchanged(
        "attempt", "output", change=set_to("number", 1), type_=PRIMITIVES["object"]
    ),
    "a step that its type refuses": exchanged(
        "attempt", "output", change=set_to("role", ["developer"])
    ),
    "a step whose prompt is its type": exchanged(
        "attempt", "output", change=lambda step: step["attempt"].update(prompt=META)
    ),
    "a step whose output is a text": exchanged(
        "attempt", "output", change=lambda step: step.update(output=step["attempt"]["prompt"])
    ),
    "a step without an output": exchanged("attempt", "output", change=set_to("output", None)),
    "a reference of more than 64 bits": exchanged(
        "attempt", "output", change=set_to("raw", "Z" * 13)
    ),
    "a workflow that leads nowhere": exchanged(
        "roles", "graph", change=lambda flow: flow["graph"]["developer"]["done"].update(role="x")
    ),
    "a workflow without a beginning": exchanged(
        "roles", "graph", change=lambda flow: flow["graph"].pop("$START")
    ),
    "an attempt of another thread": exchanged("marker", "attempt", change=set_to("step", None)),
    "a type that is no schema": exchanged("roles", "graph", change=lambda _: None, type_=TEXT),
    "a schema with a remote reference": exchanged(
        "properties", change=set_to("$ref", "http://127.0.0.1:9/x"), type_=META
    ),
    "a schema whose pattern hangs others": exchanged(
        "properties", change=set_to("pattern", "(?=x)^(a+)+$"), type_=META
    ),
}

ATTACKS = {
    **{f"archive: {name}": attack for name, attack in ARCHIVES.items()},
    **{f"content: {name}": attack for name, attack in CONTENTS.items()},
}
