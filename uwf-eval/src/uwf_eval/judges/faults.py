"""What is wrong with a judge of the house before it is asked: its name, its options."""

from collections.abc import Iterator

from uwf_core.definitions import suggestion
from uwf_core.errors import ConfigError
from uwf_eval.judges.api import JudgeFault
from uwf_eval.judges.house import house_judges, house_options
from uwf_eval.task.model import JudgeSpec


def faults_of(spec: JudgeSpec) -> list[JudgeFault]:
    """All that keeps the judge from being asked; of others, only asking them shows it."""
    return [] if spec.builtin is None else list(_house_faults(spec, spec.builtin))


def _house_faults(spec: JudgeSpec, name: str) -> Iterator[JudgeFault]:
    known = house_judges()
    if name not in known:
        hint = suggestion(name, known) or f"there are: {', '.join(known)}"
        yield JudgeFault("builtin", f"there is no builtin judge {name!r}", hint)
        return
    try:
        house_options(name, spec.options, where="options")
    except ConfigError as fault:
        yield JudgeFault("options", str(fault), fault.hint or "")
