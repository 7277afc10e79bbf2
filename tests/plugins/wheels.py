"""Tiny wheels, built and installed as any other: a zip of modules with metadata beside them."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

VERSION = "1.2"


def build_wheel(
    folder: Path,
    name: str,
    entry_points: Mapping[str, Mapping[str, str]],
    files: Mapping[str, str],
    *,
    requires: Sequence[str] = ("uwf-core>=0.1,<1",),
    version: str = VERSION,
) -> Path:
    """Write the wheel of a distribution; its path."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    sections = (
        f"[{group}]\n" + "".join(f"{entry} = {target}\n" for entry, target in entries.items())
        for group, entries in entry_points.items()
    )
    demands = "".join(f"Requires-Dist: {each}\n" for each in requires)
    contents = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{demands}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(sections),
    }
    record = "".join(
        f"{path},{_hash(text)},{len(text.encode())}\n" for path, text in contents.items()
    )
    wheel = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return wheel


def install(wheel: Path, site: Path) -> None:
    """What an installer does with a wheel of pure Python."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
