"""`penstock login`: prints a link that signs in to the console once."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from penstock.accounts import Sessions
from penstock.accounts.sessions import LoginLink
from penstock.cli import output
from penstock.cli.auditing import audited, audited_for, user
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import as_operator
from penstock.db.migrator import assert_migrated
from penstock.db.reach import reach
from penstock.engine.operator_access import accounts_of
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool


class RoleName(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


Slug = Annotated[
    str | None,
    typer.Option("--tenant", metavar="SLUG", help="Sign in to this tenant only. Default: to all of them."),
]
Chosen = Annotated[RoleName, typer.Option("--role", help="What the person who opens the link may do.")]
Name = Annotated[
    str | None,
    typer.Option(
        "--name", help="Who signs in, as the audit shows it. Default: the name of this system's user."
    ),
]
Opened = Annotated[bool, typer.Option("--open/--print", help="Open a browser, or only print the link.")]


def command(
    tenant: Slug = None,
    role: Chosen = RoleName.ADMIN,
    name: Name = None,
    opened: Opened = False,
    as_json: output.AsJson = False,
) -> None:
    """Print a link that signs in to the console, once, within ten minutes.

    Needs the operator's login: that of the embedded server, or PENSTOCK_OPERATOR_URL. To give somebody
    permanent access to one tenant, create an API key for them instead.
    """
    settings = Settings()

    async def call() -> LoginLink:
        async with as_operator(settings) as (addresses, pool):
            if addresses.embedded is None:
                async with reach(addresses.operator, application_name="penstock login") as connection:
                    await assert_migrated(connection, folders=addresses.folders)
            who = name or user()
            async with _audited(pool, settings, tenant, who) as facts:
                made = await Sessions(pool).create_link(who, role.value, tenant)
                facts.update(role=made.role)
                return made

    made = run(call())
    url = console_url(settings)
    link = f"{url}/login/{made.token}"
    is_running = settings.public_url is not None or _answers(url)
    if as_json:
        output.document(
            {
                "url": link,
                "name": made.name,
                "role": made.role,
                "tenant": made.tenant,
                "expires_at": made.expires_at,
                "is_running": is_running,
            }
        )
        return
    output.write(link)
    whole = "the whole installation" if tenant is None else f"tenant {tenant}"
    warn(f"The link signs {made.name} in to {whole} as {made.role}. It works once, within ten minutes.")
    if not is_running:
        warn(f"No API answers at {url}. Start it within ten minutes: penstock up")
    elif opened:
        import webbrowser

        if not webbrowser.open(link):
            warn("No browser could be opened. Open the link yourself.")


@asynccontextmanager
async def _audited(
    pool: TenantPool, settings: Settings, tenant: str | None, who: str
) -> AsyncIterator[dict[str, Any]]:
    """A row about a link for this person: in its tenant's audit, or in the installation's."""
    if tenant is None:
        async with audited(pool.all_tenants, "login", who) as facts:
            yield facts
    else:
        owner = await accounts_of(pool, settings).find_tenant(tenant)
        async with audited_for(pool, owner, "login", who) as facts:
            yield facts


def console_url(settings: Settings) -> str:
    """Where browsers reach the console: as configured, or where `penstock up` of this folder listens."""
    prefix = settings.api_prefix or ""
    if settings.public_url is not None:
        known = settings.public_url.rstrip("/")
        return known if urlsplit(known).path.endswith(prefix) else known + prefix
    url = settings.api_url
    with suppress(OSError, ValueError):
        url = json.loads((settings.data_dir / "up.json").read_text()).get("url") or url
    return url + prefix


def _answers(url: str) -> bool:
    place = urlsplit(url)
    try:
        with socket.create_connection((place.hostname or "", place.port or 80), timeout=2):
            return True
    except OSError:
        return False
