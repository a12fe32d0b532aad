"""Finds the provider of a kind of source: built in, or offered by an installed package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from penstock.entry_points import SOURCES, Offered, offered
from penstock.errors import InvalidArgument, NotFound
from penstock.sources.errors import ClientMissing

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.settings import Settings
    from penstock.sources.protocol import Provider

BUILT_IN: Final[Mapping[str, str]] = {
    "folder": "penstock.sources.folder.provider:FolderProvider",
    "gmail": "penstock.sources.gmail.provider:GmailProvider",
    "google_drive": "penstock.sources.google_drive.provider:GoogleDriveProvider",
    "imap": "penstock.sources.imap.provider:ImapProvider",
    "hubspot": "penstock.sources.hubspot.provider:HubSpotProvider",
    "outlook": "penstock.sources.outlook.provider:OutlookProvider",
    "quickbooks": "penstock.sources.quickbooks.provider:QuickBooksProvider",
    "s3": "penstock.sources.s3.provider:S3Provider",
}
"""Where each provider is; imported when it is first needed."""


RESERVED: Final = frozenset({*BUILT_IN, "webhook"})
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
_NEEDED: Final = ("check_config", "kind", "maps", "oauth", "open", "title")
DECLARE: Final = "select all_tenants.declare_source_kind($1, $2)"


class Providers:
    """Providers by kind, made once per process; `own` are the caller's and come first."""

    def __init__(self, settings: Settings, own: Mapping[str, Provider] | None = None) -> None:
        self._settings = settings
        self._made: dict[str, Provider] = dict(own or {})
        self._own = tuple(self._made)

    @cached_property
    def offered(self) -> Mapping[str, Offered]:
        """What installed packages offer, not imported; EntryPointFailed for a kind that cannot be one."""
        found: dict[str, Offered] = {}
        for point in offered(SOURCES):
            if NAME.fullmatch(point.name) is None:
                allowed = "lower-case letters, digits and underscores, at most 63"
                raise point.failed(f"{point.name!r} cannot be a kind of source: {allowed}")
            if point.name in RESERVED or point.name in found:
                raise point.failed(f"there is another provider of the kind {point.name}")
            found[point.name] = point
        return found

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted({*self._own, *BUILT_IN, *self.offered}))

    def get(self, kind: str) -> Provider:
        """The provider of a kind; NotFound names the kinds there are."""
        if kind not in self._made:
            self._made[kind] = self._make(kind)
        return self._made[kind]

    def addable(self, kind: str) -> Provider:
        """A provider whose sources need no grant; InvalidArgument says how to connect the others."""
        provider = self.get(kind)
        if needs_grant(provider, self._settings):
            raise InvalidArgument(
                f"{provider.title} needs its user's consent, so it cannot be added like a folder",
                "kind",
                f"Connect it: penstock source connect {kind}",
            )
        return provider

    async def declare(self, tenants: TenantPool) -> None:
        """Tell the database the kinds that did not come with Penstock, so that sources can be of them."""
        kinds = [kind for kind in self.kinds if kind not in RESERVED]
        providers = [self.get(kind) for kind in kinds]
        if providers:
            async with tenants.all_tenants() as conn:
                for provider in providers:
                    await conn.execute(DECLARE, provider.kind, provider.title)

    def _make(self, kind: str) -> Provider:
        if kind in BUILT_IN:
            module, _, name = BUILT_IN[kind].partition(":")
            return cast("Provider", getattr(import_module(module), name)())
        point = self.offered.get(kind)
        if point is None:
            raise NotFound(f"there is no provider {kind!r}", "kind", f"Use one of: {', '.join(self.kinds)}")
        found = point.load()
        try:
            made = found() if isinstance(found, type) else found
        except Exception as error:
            raise point.failed(f"{point.value} cannot be made without arguments: {error}") from error
        if (reason := why_no_provider(kind, made)) is not None:
            raise point.failed(reason)
        return cast("Provider", made)


def needs_grant(provider: Provider, settings: Settings) -> bool:
    """Whether its sources are read with a token; recorded responses are not."""
    try:
        return provider.oauth(settings) is not None
    except ClientMissing:
        return True


def why_no_provider(kind: str, made: Any) -> str | None:
    """Why an object cannot be the provider of a kind; None if it can."""
    if missing := [name for name in _NEEDED if not hasattr(made, name)]:
        return f"{type(made).__name__} has no {missing[0]}"
    if made.kind != kind:
        return f"its kind is {made.kind!r}, but the entry point is named {kind!r}"
    return None if isinstance(made.title, str) and made.title else "its title is not a text"
