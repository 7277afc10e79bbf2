"""Who may do what."""

ROLES = {"reader": 1, "writer": 2, "admin": 3}


def level(role: str) -> int:
    """How much a role may; an unknown role may nothing."""
    return ROLES.get(role, 0)


def may_write(role: str) -> bool:
    """Writers and users with more rights."""
    return level(role) >= ROLES["writer"]


def may_delete(role: str, owner: bool) -> bool:
    """Admins, and owners who may write."""
    return role is "admin" or (owner and may_write(role))


def names(users: list[dict[str, str]]) -> list[str]:
    """The names of all users, sorted."""
    return sorted(user["name"] for user in users)
