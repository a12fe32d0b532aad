"""The provider of HubSpot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.errors import InvalidArgument
from penstock.source_settings import provider_settings
from penstock.sources.reading.provider import ConnectedProvider

if TYPE_CHECKING:
    from penstock.sources.hubspot.reader import HubSpotReader
    from penstock.sources.protocol import OpenSource


class HubSpotProvider(ConnectedProvider):
    """Companies, contacts and deals of one HubSpot account."""

    kind: ClassVar[str] = "hubspot"
    title: ClassVar[str] = "HubSpot"
    package: ClassVar[str] = __package__ or ""

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """`properties`: more properties to read, by stream, such as {"contacts": ["hs_lead_status"]}."""
        self._known(config, "bindings", "properties")
        return {**self._bindings_in(config), **_properties_in(config)}

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[HubSpotReader]:
        from penstock.sources.hubspot.reader import HubSpotReader

        version = provider_settings(source.settings, self.kind).api_version
        root = f"/crm/{version}/objects" if version.startswith("v") else f"/crm/objects/{version}"
        async with self.calls(source, root=root) as calls:
            yield HubSpotReader(calls, _properties_in(source.config).get("properties", {}))


def _properties_in(config: Mapping[str, Any]) -> Mapping[str, Any]:
    given = config.get("properties")
    if given is None:
        return {}
    streams = ("companies", "contacts", "deals")
    is_usable = isinstance(given, dict) and all(
        stream in streams and isinstance(names, list) and all(isinstance(name, str) for name in names)
        for stream, names in given.items()
    )
    if not is_usable:
        raise InvalidArgument(
            "properties must list names by stream", "properties", 'Such as {"contacts": ["hs_lead_status"]}'
        )
    return {"properties": given}
