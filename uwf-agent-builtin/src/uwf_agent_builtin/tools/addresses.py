"""Which addresses are public: the ones that fetch_url may connect to. Pure."""

import ipaddress

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST = ipaddress.IPv6Network("2000::/3")
_DOCUMENTS = ipaddress.IPv6Network("3fff::/20")
# Anycast relays, benchmarks, the metadata services of clouds that lie in public space.
_SPECIAL_4 = tuple(
    map(
        ipaddress.IPv4Network,
        ("192.88.99.0/24", "198.18.0.0/15", "192.0.0.0/24", "168.63.129.16/32", "100.64.0.0/10"),
    )
)


def is_public(address: str) -> bool:
    """Whether an address, as text without a zone, is one of the public internet, and every IPv4
    address that it carries within is as well.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv4Address):
        return _is_public_4(parsed)
    carried = _carried(parsed)
    if carried is not None:
        return _is_public_4(carried)
    return parsed in _UNICAST and parsed not in _DOCUMENTS and parsed.is_global


def _is_public_4(address: ipaddress.IPv4Address) -> bool:
    if any(address in network for network in _SPECIAL_4):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address embeds."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None
