"""Bundles taken apart and put together again, with care or with malice."""

import io
import json
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.cas import node_file
from uwf_core.cas.codec import decode, encode
from uwf_core.cas.hashing import ref_of, sha256_of


class File(NamedTuple):
    name: str
    content: bytes
    mtime: int = 0

    def info(self) -> tarfile.TarInfo:
        """Its header as Python's own library writes it."""
        info = tarfile.TarInfo(self.name)
        info.size, info.mtime, info.mode = len(self.content), self.mtime, 0o644
        return info


class Archive:
    """The files of a bundle in their order; `change` rewrites, `data` gives the bytes."""

    def __init__(self, path: Path) -> None:
        with tarfile.open(path) as archive:
            self.files = [
                File(each.name, archive.extractfile(each).read(), int(each.mtime))  # type: ignore[union-attr]
                for each in archive
            ]

    def __getitem__(self, name: str) -> File:
        return next(file for file in self.files if file.name == name)

    @property
    def nodes(self) -> list[File]:
        return [file for file in self.files if file.name.startswith("cas/")]

    @property
    def objects(self) -> list[File]:
        """Those of recorded files."""
        return [file for file in self.files if file.name.startswith("files/")]

    def with_objects(self, *objects: File) -> "Archive":
        """Only these objects of recorded files, in their order and in the manifest."""
        kept = [file for file in self.files if not file.name.startswith("files/")]
        self.files = [*kept[:-1], *sorted({*objects}), *kept[-1:]]
        names = [file.name[6:] for file in self.objects]
        return self.json("manifest.json", lambda manifest: manifest.update(files=names))

    def replace(self, name: str, *files: File) -> "Archive":
        """Other files in the place of one."""
        at = self.files.index(self[name])
        self.files[at : at + 1] = files
        return self

    def rewrite(self, name: str, content: bytes) -> "Archive":
        return self.replace(name, self[name]._replace(content=content))

    def json(self, name: str, change: Callable[[Any], Any]) -> "Archive":
        """Change the document in a JSON file, or in the first line of vars.jsonl."""
        document = json.loads(self[name].content.splitlines()[0])
        changed = change(document)
        document = document if changed is None else changed
        return self.rewrite(name, json.dumps(document, separators=(",", ":")).encode() + b"\n")

    def find(self, *keys: str) -> File:
        """The first node whose payload is an object with these keys, none of them null."""
        for file in self.nodes:
            payload = decode(node_file.from_bytes(file.content).data)
            if isinstance(payload, dict) and all(payload.get(key) is not None for key in keys):
                return file
        raise AssertionError(keys)

    def payload(self, file: File) -> Any:
        return decode(node_file.from_bytes(file.content).data)

    def reseal(self) -> "Archive":
        """A manifest (and a sort order) that fit what is there by now."""
        others = [file for file in self.files if not file.name.startswith("cas/")]
        nodes = sorted(self.nodes, key=lambda file: file.name)
        self.files = [*nodes, *others]
        pairs = []
        for file in nodes:
            node = node_file.from_bytes(file.content)
            pairs.append([file.name[4:17], sha256_of(node.type, node.data).hex()])

        def seal(manifest: Any) -> None:
            digest = sha256(f"{manifest['head']}\n".encode())
            for ref, each in pairs:
                digest.update(f"{ref} {each}\n".encode())
            manifest["nodes"], manifest["root"] = pairs, digest.hexdigest()

        return self.json("manifest.json", seal)

    def data(self, info: Callable[[File], tarfile.TarInfo] = File.info) -> bytes:
        """The archive, written without the code under test."""
        out = io.BytesIO()
        for file in self.files:
            out.write(info(file).tobuf(tarfile.GNU_FORMAT))
            out.write(file.content + bytes(-len(file.content) % 512))
        return out.getvalue() + bytes(1024)


def recorded(kind: str, content: bytes) -> File:
    """An object of recorded files as a file of a bundle."""
    data = f"{kind} {len(content)}\0".encode() + content
    return File(f"files/{sha256(data).hexdigest()}", data)


def node(type_: str, payload: Any, timestamp_ms: int = 1_780_000_000_000) -> File:
    """A node as a file of a bundle."""
    data = encode(payload)
    content = node_file.to_bytes(node_file.NodeFile(type_, data, timestamp_ms))
    return File(f"cas/{ref_of(type_, data)}.bin", content, timestamp_ms // 1000)
