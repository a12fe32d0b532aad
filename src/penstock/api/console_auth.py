"""The console without sign-in, on this machine only: everybody who can reach it is its admin."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from penstock.accounts import Caller
from penstock.accounts.caller import SCOPES_OF, TENANT_HEADER, CallerTenant
from penstock.api.problem import HttpRefused
from penstock.errors import SettingInvalid, TenantClosed

if TYPE_CHECKING:
    from fastapi import Request

    from penstock.engine.engine import Engine
    from penstock.settings import Settings

VARIABLE = "PENSTOCK_CONSOLE_AUTH"


def assert_loopback(settings: Settings, host: str) -> None:
    """Refuse to serve a console without sign-in to other machines; raises SettingInvalid."""
    if settings.console_auth == "off" and not is_loopback(host):
        raise SettingInvalid(
            VARIABLE,
            f"it is off, which makes everybody who reaches the API an admin, but it would listen on {host}."
            " Listen on 127.0.0.1, or remove the setting and sign in with penstock login",
        )


def is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


async def local_admin(engine: Engine, request: Request, named: str | None) -> Caller:
    """The installation's admin, for a program or browser on this machine; a proxy's clients are not."""
    address = None if request.client is None else request.client.host
    if not is_loopback(address) or "x-forwarded-for" in request.headers or "forwarded" in request.headers:
        raise HttpRefused(
            "forbidden",
            f"{VARIABLE} is off, so that only this machine may use the console",
            f"Remove {VARIABLE} and sign in",
            field=VARIABLE,
        )
    tenant = None
    if named is not None:
        found = await engine.accounts.find_tenant(named)
        if found.status != "active":
            raise TenantClosed(f"the tenant {found.slug} is deleted", TENANT_HEADER)
        tenant = CallerTenant(
            tenant_id=found.tenant_id,
            slug=found.slug,
            name=found.name,
            requests_per_minute=found.requests_per_minute,
            max_upload_bytes=found.max_upload_bytes,
        )
    return Caller(
        name="local", role="admin", scopes=list(SCOPES_OF["admin"]), tenant=tenant, is_installation=True
    )
