"""The identity of a judge: what it asks, which model answers, with which options."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from uwf_core.api import Model
from uwf_core.client import Client
from uwf_eval.records import JudgeIdentity
from uwf_eval.task.model import JudgeSpec
from uwf_eval.task.tree import CACHE, digest_of_file, digest_of_tree

_PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "rubric": ("ask_model.py", "material.py", "rubric.py"),
    "hallucination": ("ask_model.py", "material.py", "stepwise.py"),
    "upstream-consumption": ("ask_model.py", "material.py", "stepwise.py"),
}
"""The built-in judges that ask a model, and the modules that write their prompts."""
_JUDGES: Final = "uwf.judges"
_DIGITS: Final = 16


def asks_a_model(spec: JudgeSpec) -> bool:
    """Whether a judge may ask a model: a plugin gets one; a script is taken to if it has a
    calibration set.
    """
    if spec.builtin is not None:
        return spec.builtin in _PROMPTS
    return spec.plugin is not None or spec.calibration is not None


def identity_of(spec: JudgeSpec, client: Client, folder: Path) -> JudgeIdentity:
    """What the scores of a judge depend on.

    The prompt of a script is the digest of its folder, or of itself if it is beside task.yaml;
    that of a plugin is its version.

    Args:
        client: knows the model and the plugins. folder: of the task.
    """
    model = None if spec.entry is not None else client.judge_model
    options = json.dumps(spec.options, sort_keys=True, default=str)
    return JudgeIdentity(
        judge=spec.judge,
        prompt=_prompt(spec, client, folder),
        model="" if model is None else _model(model),
        options=hashlib.sha256(options.encode()).hexdigest()[:_DIGITS],
    )


def _prompt(spec: JudgeSpec, client: Client, folder: Path) -> str:
    if spec.plugin is not None:
        return client.installation.origin(_JUDGES, spec.plugin)
    if spec.builtin is not None:
        return _source(spec.builtin)
    file = folder / (spec.entry or "")
    if file.parent == folder:
        return digest_of_file(file)[:_DIGITS]
    return digest_of_tree(file.parent, without=frozenset((CACHE,)))[:_DIGITS]


@cache
def _source(builtin: str) -> str:
    places = [Path(__file__).with_name("builtin") / name for name in _PROMPTS[builtin]]
    content = b"\0".join(each.read_bytes() for each in places)
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _model(model: Model) -> str:
    extra: dict[str, Any] = dict(model.extra)
    more = f" {json.dumps(extra, sort_keys=True, default=str)}" if extra else ""
    place = urlsplit(model.base_url)
    host = place.netloc.rpartition("@")[2]  # without a user and a password
    return f"{model.name} of {model.provider} ({host}{place.path}){more}"
