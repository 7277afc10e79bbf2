"""What an agent is told when its output was refused: the exact errors, and what to do."""

from collections.abc import Sequence

from uwf_core.api.extract import ExtractProblem

_MOST_PROBLEMS = 20
_LONGEST_PROBLEM = 1_000
_LONGEST_REPLY = 32_000

_FORM = """\
Reply with the whole deliverable again: a line `---` first (nothing before it, no code fence), \
the fields as YAML, a line `---`, then your text."""


def correction_text(problems: Sequence[ExtractProblem], attempt: int, of: int) -> str:
    """The correction for an agent in its own session, which knows what it said.

    Args:
        problems: at least one; they are quoted with their places.
        attempt: which correction this is, from 1.
        of: how many there are at most.
    """
    work = "Your work stands, so do not do it again; correct what is named here and nothing else."
    return "\n\n".join((_refusal(problems, attempt, of), f"{work} {_FORM}")) + "\n"


def correction_without_session(
    problems: Sequence[ExtractProblem], attempt: int, of: int, raw: str
) -> str:
    """The correction for an agent that remembers nothing, to be put after the whole prompt.

    Args:
        problems, attempt, of: as for `correction_text`.
        raw: the reply that was refused; it is quoted, so that the work need not be done again.
    """
    return (
        "\n\n".join(
            (
                _refusal(problems, attempt, of),
                "You have already worked on this instruction, and what you changed is still "
                "there. Your reply then was:",
                _quoted(raw),
                f"Correct what is named above and nothing else. {_FORM}",
            )
        )
        + "\n"
    )


def _refusal(problems: Sequence[ExtractProblem], attempt: int, of: int) -> str:
    shown = [f"- {_line(each)}" for each in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        shown.append(f"- and {len(problems) - _MOST_PROBLEMS} more")
    listed = "\n".join(shown)
    return (
        f"# Your reply was not accepted (correction {attempt} of {of})\n\n"
        f"What is wrong with it:\n\n{listed}"
    )


def _line(problem: ExtractProblem) -> str:
    text = f"`{problem.path}`: {problem.message}" if problem.path else problem.message
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_PROBLEM else f"{text[:_LONGEST_PROBLEM]}…"


def _quoted(raw: str) -> str:
    """The reply as a block quote: every line is marked, so none can pose as another part."""
    text = raw.strip()
    cut = len(text) - _LONGEST_REPLY
    if cut > 0:
        text = f"{text[:_LONGEST_REPLY]}\n({cut} more characters)"
    return "\n".join(f"> {line}" if line else ">" for line in text.splitlines() or [""])
