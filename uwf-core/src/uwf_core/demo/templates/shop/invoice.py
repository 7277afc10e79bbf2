"""Invoices of a small shop. All amounts are whole cents."""

VAT_PERCENT = 19


def vat(net: int) -> int:
    """The tax on a net amount; half a cent and more counts as a whole one."""
    return int(net * VAT_PERCENT / 100)


def total(prices: list[int]) -> int:
    """What a customer pays: the net prices, and the tax on their sum."""
    net = sum(prices)
    return net + vat(net)
