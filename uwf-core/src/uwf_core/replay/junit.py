"""Replays as JUnit XML: a suite for each thread, a case for each attempt."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from uwf_core.replay.words import difference_text, headline

if TYPE_CHECKING:
    from uwf_core.replay.replay import ReplayDocument, ReplayedDocument

_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(replays: "Sequence[ReplayDocument]", allow: Collection[str] = ()) -> str:
    """The XML; `allow` are the verdicts that pass besides `same`."""
    root = Element("testsuites", name="uwf replay")
    for replay in replays:
        _suite(root, replay, {"same", *allow})
    indent(root)
    text = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(root: Element, replay: "ReplayDocument", passing: Collection[str]) -> None:
    failures = sum(each["verdict"] not in passing for each in replay["steps"])
    name = f"{replay['workflowName']} {replay['thread']}"
    count = str(len(replay["steps"]))
    suite = SubElement(root, "testsuite", name=name, tests=count, failures=str(failures))
    for each in replay["steps"]:
        title = f"{each['number']} {each['path']} {each['step']}"
        case = SubElement(suite, "testcase", classname=name, name=title)
        if each["verdict"] not in passing:
            _failure(case, each)


def _failure(case: Element, each: "ReplayedDocument") -> None:
    failure = SubElement(case, "failure", message=_clean(headline(each)), type=each["verdict"])
    failure.text = _clean("\n\n".join(map(difference_text, each["differences"])))


def _clean(text: str) -> str:
    """The text with U+FFFD for the characters that XML 1.0 cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)
