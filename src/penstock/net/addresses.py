"""Decides which IP addresses outgoing requests may reach."""

from __future__ import annotations

import ipaddress
from typing import Final, TypeAlias

from penstock.net.errors import AddressRefused

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


# Spelled out, because what ipaddress calls private or global changed between patch releases of Python.
LOOPBACK: Final = _networks("127.0.0.0/8", "::1/128")
PRIVATE: Final = _networks(
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10"
)
METADATA: Final = _networks(
    "169.254.169.254/32", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::/64",
    "fd20:ce::/64",
)  # fmt: skip
LINK_LOCAL: Final = _networks("169.254.0.0/16", "fe80::/10")
MULTICAST: Final = _networks("224.0.0.0/4", "ff00::/8")
RESERVED: Final = _networks(
    "0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "240.0.0.0/4", "::/128", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20",
    "5f00::/16", "64:ff9b:1::/48",  # the last is local-use NAT64: only that network knows where it leads
)  # fmt: skip
_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")

OPENED: Final = ("loopback", "private")
OPENING: Final = (
    "Use a public address, or set PENSTOCK_ALLOW_PRIVATE_ADDRESSES=true if you mean to reach private networks"
)


def judge(host: str, address: Address, *, allow_private: bool) -> None:
    """Raise AddressRefused if requests must not reach the host's address."""
    kind = refusal(address, allow_private=allow_private)
    if kind in OPENED:
        raise AddressRefused(host, f"it resolves to a {kind} address", OPENING)
    if kind is not None:
        raise AddressRefused(host, f"it resolves to a {kind} address")


def refusal(address: Address, *, allow_private: bool) -> str | None:
    """The kind of a forbidden address; None if requests may go there."""
    kinds = [kind for each in (address, *_carried(address)) if (kind := _kind(each)) is not None]
    if allow_private:
        kinds = [kind for kind in kinds if kind not in OPENED]
    return kinds[0] if kinds else None


def _kind(address: Address) -> str | None:
    for kind, networks in (
        ("loopback", LOOPBACK),
        ("metadata", METADATA),  # checked first, since it overlaps private and link-local
        ("private", PRIVATE),
        ("link-local", LINK_LOCAL),
        ("multicast", MULTICAST),
        ("reserved", RESERVED),
    ):
        if any(address in network for network in networks if network.version == address.version):
            return kind
    if address.version == 6 and address not in _GLOBAL_UNICAST and not _carried(address):
        return "reserved"  # everything else is for translation, experiments or unassigned
    return None


def _carried(address: Address) -> tuple[ipaddress.IPv4Address, ...]:
    """IPv4 addresses that a packet to this IPv6 address may be delivered to."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    if address in _NAT64 or (
        address in _COMPATIBLE and int(address) > 1  # :: and ::1 are not IPv4-compatible addresses
    ):
        return (ipaddress.IPv4Address(int(address) & 0xFFFFFFFF),)
    return ()
