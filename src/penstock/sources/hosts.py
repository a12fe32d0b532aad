"""Refuses a literal address that no request may reach when it is set, not when the first sync fails."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidArgument
from penstock.net.addresses import OPENED, OPENING, refusal
from penstock.sources.protocol import HostProvider

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.protocol import Provider


def refuse_host(
    provider: Provider, config: Mapping[str, Any], settings: Settings, before: Mapping[str, Any] | None = None
) -> None:
    """InvalidArgument names the field. A name is judged when it is resolved, each time.

    With `before`, the settings that are changed, a host that stays is not judged again: a change of
    a rule is not about it.
    """
    if not isinstance(provider, HostProvider):
        return
    host = provider.host_of(config)
    if before is not None and host == before.get("host"):
        return
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return
    kind = refusal(address, allow_private=settings.allow_private_addresses)
    if kind is not None:
        remedy = OPENING if kind in OPENED else "Name the server by its public address"
        raise InvalidArgument(f"{host} is a {kind} address, which sources may not reach", "host", remedy)
