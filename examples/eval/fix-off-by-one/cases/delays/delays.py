"""How long to wait before one tries again."""


def delays(attempts: int) -> list[int]:
    """Seconds to wait after each of `attempts` attempts: 2, 4, 8 and so on."""
    if attempts < 1:
        return []
    return [2**number for number in range(1, attempts)]
