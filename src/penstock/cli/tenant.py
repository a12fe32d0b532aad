"""`penstock tenant`: make and list tenants, set their limits, and their API keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, cast
from uuid import UUID

import typer

from penstock.accounts import Accounts, ApiKey, NewKey, Scope, Tenant
from penstock.accounts.rows import SCOPES
from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.product_session import DEFAULT, operators
from penstock.cli.session import database, run
from penstock.db.addresses import prepare
from penstock.db.reach import reaching
from penstock.model import KeyId
from penstock.settings import Settings

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
keys = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make, list and revoke API keys.")
group.add_typer(keys, name="key")

Slug = Annotated[str, typer.Argument(metavar="SLUG")]
Owner = Annotated[str, typer.Argument(metavar="[TENANT]", help="Whose key.")]
Name = Annotated[str | None, typer.Option(help="What people call it.")]
Bytes = Annotated[str | None, typer.Option("--max-upload-bytes", metavar="N|none", help="Largest document.")]
Requests = Annotated[
    str | None,
    typer.Option("--requests-per-minute", metavar="N|none", help="What it may ask of one API process."),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--monthly-token-budget", metavar="N|none", help="Tokens embedded a month; what is over waits."
    ),
]
WebhookUrl = Annotated[
    str | None, typer.Option("--webhook-url", metavar="URL|none", help="Told when a document has ended.")
]
KeyName = Annotated[str, typer.Option("--name", help="What the key is for.")]
Scopes = Annotated[
    list[str] | None, typer.Option("--scope", help=f"May be repeated: {', '.join(SCOPES)}. Default: admin.")
]
Days = Annotated[
    int | None, typer.Option("--expires-in-days", min=1, max=36_500, help="Until when it works.")
]
TheKey = Annotated[UUID, typer.Argument(metavar="KEY", help="Its key_id.")]

LISTED = (
    "slug",
    "name",
    "status",
    "max_upload_bytes",
    "requests_per_minute",
    "monthly_token_budget",
    "created_at",
)
KEYS = ("key_id", "name", "prefix", "scopes", "created_at", "expires_at", "revoked_at", "used_at")


@asynccontextmanager
async def _accounts(*, create: bool = False) -> AsyncIterator[Accounts]:
    settings = Settings()
    async with database(settings, create=create) as addresses:
        with reaching():
            if addresses.embedded is not None:
                await prepare(addresses)
            async with operators(addresses, settings) as accounts:
                yield accounts


@group.command("create")
def create(
    slug: Slug,
    name: Name = None,
    max_upload_bytes: Bytes = None,
    requests_per_minute: Requests = None,
    monthly_token_budget: Budget = None,
    as_json: output.AsJson = False,
) -> None:
    """Make a tenant with a project "default"; penstock tenant key create SLUG then makes its key."""

    async def call() -> Tenant:
        async with _accounts(create=True) as accounts:
            return await accounts.create_tenant(
                slug,
                name,
                max_upload_bytes=_number("--max-upload-bytes", max_upload_bytes),
                requests_per_minute=_number("--requests-per-minute", requests_per_minute),
                monthly_token_budget=_number("--monthly-token-budget", monthly_token_budget),
            )

    _show(run(call()), as_json=as_json)


@group.command("list")
def list_tenants(as_json: output.AsJson = False) -> None:
    """Every tenant, the oldest first."""

    async def call() -> list[Tenant]:
        async with _accounts() as accounts:
            return await accounts.list_tenants()

    rows = run(call())
    if as_json:
        output.document({"tenants": [row.model_dump(mode="json") for row in rows]})
    else:
        output.records(LISTED, rows, empty="No tenants: penstock tenant create SLUG makes one.")


@group.command("set")
def set_tenant(
    slug: Slug,
    name: Name = None,
    max_upload_bytes: Bytes = None,
    requests_per_minute: Requests = None,
    monthly_token_budget: Budget = None,
    webhook_url: WebhookUrl = None,
    as_json: output.AsJson = False,
) -> None:
    """Change what is named; none takes a limit away, and the rest stays."""
    given: dict[str, str | int | None] = {} if name is None else {"name": name}
    for field, text in (
        ("max_upload_bytes", max_upload_bytes),
        ("requests_per_minute", requests_per_minute),
        ("monthly_token_budget", monthly_token_budget),
    ):
        if text is not None:
            given[field] = _number(f"--{field.replace('_', '-')}", text)
    if webhook_url is not None:
        given["webhook_url"] = None if webhook_url == "none" else webhook_url
    if not given:
        raise typer.BadParameter("name what to change", param_hint="--name, --max-upload-bytes, …")

    async def call() -> Tenant:
        async with _accounts() as accounts:
            return await accounts.set_tenant((await accounts.find_tenant(slug)).tenant_id, **given)

    _show(run(call()), as_json=as_json)


@keys.command("create")
def create_key(
    tenant: Owner = DEFAULT,
    name: KeyName = "made by penstock tenant key create",
    scope: Scopes = None,
    expires_in_days: Days = None,
    as_json: output.AsJson = False,
) -> None:
    """Make a key and print its secret, once: the database keeps only a hash of it."""
    until = None if expires_in_days is None else datetime.now(UTC) + timedelta(days=expires_in_days)

    async def call() -> NewKey:
        async with _accounts() as accounts:
            owner = await accounts.find_tenant(tenant)
            return await accounts.create_key(
                owner.tenant_id, name, cast("Sequence[Scope]", scope or ["admin"]), until
            )

    made = run(call())
    if as_json:
        output.document(made.model_dump(mode="json"))
        return
    output.write(made.secret)
    warn(f"Key {made.key_id} of tenant {tenant}. Keep it: it is shown only this once.")


@keys.command("list")
def list_keys(tenant: Owner = DEFAULT, as_json: output.AsJson = False) -> None:
    """A tenant's keys, without their secrets."""

    async def call() -> list[ApiKey]:
        async with _accounts() as accounts:
            return await accounts.list_keys((await accounts.find_tenant(tenant)).tenant_id)

    rows = run(call())
    if as_json:
        output.document({"keys": [row.model_dump(mode="json") for row in rows]})
    else:
        output.records(KEYS, rows, empty=f"No keys: penstock tenant key create {tenant} makes one.")


@keys.command("revoke")
def revoke_key(tenant: Slug, key_id: TheKey, as_json: output.AsJson = False) -> None:
    """Make a key useless from now on."""

    async def call() -> None:
        async with _accounts() as accounts:
            await accounts.revoke_key((await accounts.find_tenant(tenant)).tenant_id, KeyId(key_id))

    run(call())
    output.document({"key_id": key_id, "revoked": True}) if as_json else output.write("Revoked.")


def _number(option: str, text: str | None) -> int | None:
    if text is None or text == "none":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= 2**62:
        raise typer.BadParameter(f"{text!r} is neither a number from 1 on nor none", param_hint=option)
    return int(text)


def _show(tenant: Tenant, *, as_json: bool) -> None:
    found = tenant.model_dump(mode="json")
    output.document(found) if as_json else output.facts(found)
