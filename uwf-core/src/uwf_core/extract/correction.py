"""The correction that an agent gets for a rejected output: the exact errors, and what to do."""

from collections.abc import Sequence

from uwf_core.api.extract import ExtractProblem

MAX_CORRECTIONS = 2
"""How often an agent may correct a rejected output of one attempt."""

_MOST_PROBLEMS = 20
_LONGEST_PROBLEM = 1_000
_LONGEST_REPLY = 32_000

_FORM = """\
Send the whole deliverable again: a line `---` first (nothing before it, no code fence), \
the fields as YAML, a line `---`, then your text."""
_OBJECT = "Deliver the whole object again."


def correction_text(
    problems: Sequence[ExtractProblem], attempt: int, of: int, *, typed: bool = False
) -> str:
    """The correction for an agent in the same session, which knows its reply.

    Args:
        problems: at least one; they are quoted with their places.
        attempt: the number of this correction, from 1.
        of: the maximum number of corrections.
        typed: the rejected reply was a typed object.
    """
    work = "Your work is kept, so do not repeat it; correct only the errors listed here."
    return f"{_refusal(problems, attempt, of)}\n\n{work} {_OBJECT if typed else _FORM}\n"


def correction_without_session(
    problems: Sequence[ExtractProblem], attempt: int, of: int, raw: str, *, typed: bool = False
) -> str:
    """The correction for an agent without memory, appended to the whole prompt.

    Args:
        problems, attempt, of, typed: as for `correction_text`.
        raw: the rejected reply; it is quoted, so that the agent need not repeat the work.
    """
    return (
        "\n\n".join(
            (
                _refusal(problems, attempt, of),
                "You have already worked on this instruction, and your changes are still "
                "present. Your reply was:",
                _quoted(raw),
                f"Correct only the errors listed above. {_OBJECT if typed else _FORM}",
            )
        )
        + "\n"
    )


def _refusal(problems: Sequence[ExtractProblem], attempt: int, of: int) -> str:
    shown = [f"- {_line(each)}" for each in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        shown.append(f"- and {len(problems) - _MOST_PROBLEMS} more")
    listed = "\n".join(shown)
    return f"# Your reply was rejected (correction {attempt} of {of})\n\nThe errors:\n\n{listed}"


def _line(problem: ExtractProblem) -> str:
    text = f"`{problem.path}`: {problem.message}" if problem.path else problem.message
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_PROBLEM else f"{text[:_LONGEST_PROBLEM]}…"


def _quoted(raw: str) -> str:
    """Quote the reply: every line is marked, so none can pose as another part."""
    text = raw.strip()
    cut = len(text) - _LONGEST_REPLY
    if cut > 0:
        text = f"{text[:_LONGEST_REPLY]}\n({cut} more characters)"
    return "\n".join(f"> {line}" if line else ">" for line in text.splitlines() or [""])
