"""`penstock tenant`: create, list and delete tenants; set their limits, keys and completion webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import completion, output
from penstock.cli.auditing import audited
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import accounts_of_operators, accounts_with_pool, tenant_session
from penstock.cli.tenants.deletion import delete, receipt
from penstock.cli.tenants.keys import keys
from penstock.model.rows import items, plain

if TYPE_CHECKING:
    from penstock.accounts import NewKey, Quota, Tenant
    from penstock.webhooks.completion import CompletionWebhook

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
group.add_typer(keys, name="key")
group.command("delete")(delete)
group.command("receipt")(receipt)

NewSlug = Annotated[str, typer.Argument(metavar="SLUG")]
Slug = Annotated[str, typer.Argument(metavar="SLUG", autocompletion=completion.tenants)]
Name = Annotated[str | None, typer.Option(help="Display name.")]
Bytes = Annotated[
    str | None,
    typer.Option("--max-upload-bytes", metavar="N|none", help="Maximum size of one document in bytes."),
]
Requests = Annotated[
    str | None,
    typer.Option(
        "--requests-per-minute", metavar="N|none", help="Maximum requests per minute to one API process."
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--monthly-token-budget",
        metavar="N|none",
        help="Maximum tokens embedded per month; documents over the limit wait.",
    ),
]
MaxDocuments = Annotated[
    str | None,
    typer.Option(
        "--max-documents",
        metavar="N|none",
        help="Maximum number of documents; 0: no quota, none: use the setting.",
    ),
]
MaxStoredBytes = Annotated[
    str | None,
    typer.Option(
        "--max-stored-bytes",
        metavar="N|none",
        help="Maximum total size of documents in bytes; 0: no quota, none: use the setting.",
    ),
]
MaxKeys = Annotated[
    str | None,
    typer.Option(
        "--max-keys",
        metavar="N|none",
        help="Maximum number of API keys; 0: no quota, none: use the setting.",
    ),
]
Contact = Annotated[
    str | None,
    typer.Option(
        "--contact",
        metavar="EMAIL|none",
        help="Who is told by email when a source must be connected again.",
    ),
]
WithKey = Annotated[
    bool, typer.Option("--key", help="Also create an API key and print it; it is shown only once.")
]
WebhookUrl = Annotated[str, typer.Argument(metavar="URL|none")]

LISTED = (
    "slug",
    "name",
    "status",
    "max_upload_bytes",
    "requests_per_minute",
    "monthly_token_budget",
    "created_at",
)


@group.command("create")
def create(
    slug: NewSlug,
    name: Name = None,
    max_upload_bytes: Bytes = None,
    requests_per_minute: Requests = None,
    monthly_token_budget: Budget = None,
    max_documents: MaxDocuments = None,
    max_stored_bytes: MaxStoredBytes = None,
    max_keys: MaxKeys = None,
    key: WithKey = False,
    as_json: output.AsJson = False,
) -> None:
    """Create a tenant with a project "default".

    With --key it also creates its first API key, which is shown only once.
    """

    async def call() -> tuple[Tenant, NewKey | None]:
        async with (
            accounts_with_pool(create=True) as (accounts, pool),
            audited(pool.all_tenants, "tenant create", slug),
        ):
            made = await accounts.create_tenant(
                slug,
                name,
                max_upload_bytes=_number("--max-upload-bytes", max_upload_bytes),
                requests_per_minute=_number("--requests-per-minute", requests_per_minute),
                monthly_token_budget=_number("--monthly-token-budget", monthly_token_budget),
                max_documents=_number("--max-documents", max_documents, least=0),
                max_stored_bytes=_number("--max-stored-bytes", max_stored_bytes, least=0),
                max_keys=_number("--max-keys", max_keys, least=0),
            )
            return made, await accounts.create_key(made.tenant_id, "first key", ["admin"]) if key else None

    tenant, made_key = run(call())
    if as_json:
        output.document(plain(tenant) | {"api_key": made_key and made_key.secret})
        return
    _show(tenant, as_json=False)
    if made_key is None:
        warn(
            f'It has a project "default" and no API key yet. To create one: penstock tenant key create {slug}'
        )
    else:
        output.write(f"api_key: {made_key.secret}")
        warn("The key has full access to this tenant. Keep it: it is shown only once.")


@group.command("list")
def list_tenants(as_json: output.AsJson = False) -> None:
    """List tenants, oldest first."""

    async def call() -> list[Tenant]:
        async with accounts_of_operators() as accounts:
            return await accounts.list_tenants()

    rows = run(call())
    if as_json:
        output.document({"tenants": [plain(row) for row in rows]})
        return
    table = [
        [
            *(getattr(row, name) for name in LISTED),
            *([] if row.holdings is None else [_held(holding) for _, holding in items(row.holdings)]),
        ]
        for row in rows
    ]
    empty = "No tenants. To create one: penstock tenant create SLUG"
    output.table((*LISTED, "documents", "stored_bytes", "keys"), table, empty=empty)


@group.command("show")
def show_tenant(slug: Slug, as_json: output.AsJson = False) -> None:
    """Show one tenant: its limits and its usage."""

    async def call() -> Tenant:
        async with accounts_of_operators() as accounts:
            return await accounts.show_tenant((await accounts.find_tenant(slug)).tenant_id)

    _show(run(call()), as_json=as_json)


@group.command("set")
def set_tenant(
    slug: Slug,
    name: Name = None,
    max_upload_bytes: Bytes = None,
    requests_per_minute: Requests = None,
    monthly_token_budget: Budget = None,
    max_documents: MaxDocuments = None,
    max_stored_bytes: MaxStoredBytes = None,
    max_keys: MaxKeys = None,
    contact: Contact = None,
    as_json: output.AsJson = False,
) -> None:
    """Change a tenant's settings.

    'none' removes a limit or the contact; settings you leave out keep their value.
    """
    given: dict[str, str | int | None] = {} if name is None else {"name": name}
    if contact is not None:
        given["contact_email"] = None if contact == "none" else contact
    for field, text, least in (
        ("max_upload_bytes", max_upload_bytes, 1),
        ("requests_per_minute", requests_per_minute, 1),
        ("monthly_token_budget", monthly_token_budget, 1),
        ("max_documents", max_documents, 0),
        ("max_stored_bytes", max_stored_bytes, 0),
        ("max_keys", max_keys, 0),
    ):
        if text is not None:
            given[field] = _number(f"--{field.replace('_', '-')}", text, least=least)
    if not given:
        raise typer.BadParameter("nothing to change", param_hint="--name, --max-upload-bytes, …")

    async def call() -> Tenant:
        async with (
            accounts_with_pool() as (accounts, pool),
            audited(pool.all_tenants, "tenant set", slug) as facts,
        ):
            facts["changed"] = sorted(given)
            return await accounts.set_tenant((await accounts.find_tenant(slug)).tenant_id, **given)

    _show(run(call()), as_json=as_json)


@group.command("webhook")
def webhook(slug: Slug, url: WebhookUrl, as_json: output.AsJson = False) -> None:
    """Set the URL that is notified of finished documents.

    It prints the secret that signs the requests, which is shown only once. 'none' turns notifications off.
    """

    async def call() -> CompletionWebhook:
        async with tenant_session() as session:
            owner = await session.tenant(slug, change="tenant webhook", target=slug)
            return await session.engine.completion_webhooks.put(owner, None if url == "none" else url)

    put = run(call())
    if as_json:
        output.document({"url": put.url, "secret": put.secret})
    elif put.secret is None:
        output.write("Notifications are off.")
    else:
        output.write(put.secret)
        warn(f"Requests to {put.url} are signed with this secret. Keep it: it is shown only once.")


def _number(option: str, text: str | None, *, least: int = 1) -> int | None:
    if text is None or text == "none":
        return None
    if not text.isdecimal() or not least <= int(text) <= 2**62:
        raise typer.BadParameter(f"{text!r} must be a number, {least} or more, or 'none'", param_hint=option)
    return int(text)


def _held(holding: Quota) -> str:
    return f"{holding.used:,}" if holding.limit is None else f"{holding.used:,} of {holding.limit:,}"


def _show(tenant: Tenant, *, as_json: bool) -> None:
    if as_json:
        output.document(plain(tenant))
        return
    found = plain(tenant, without={"holdings"})
    holdings = [] if tenant.holdings is None else items(tenant.holdings)
    held = {name: _held(holding) for name, holding in holdings}
    output.facts(found | held)
