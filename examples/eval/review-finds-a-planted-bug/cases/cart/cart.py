"""A shopping cart. Prices are whole cents."""

FREE_SHIPPING_FROM = 5000
SHIPPING = 490


def add(price: int, cart: list[int] = []) -> list[int]:
    """The cart with a further price; a new cart if there is none yet."""
    cart.append(price)
    return cart


def total(cart: list[int]) -> int:
    """What has to be paid: the prices, and the shipping below 50 euros."""
    prices = sum(cart)
    return prices if prices >= FREE_SHIPPING_FROM else prices + SHIPPING


def cheapest(cart: list[int]) -> int | None:
    """The lowest price, None for an empty cart."""
    return min(cart, default=None)
