"""Points as a grade."""


def grade(points: int) -> str:
    """A from 90 points on, B from 75, C from 60, else D."""
    if points > 90:
        return "A"
    if points >= 75:
        return "B"
    if points >= 60:
        return "C"
    return "D"
