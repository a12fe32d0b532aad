"""`penstock tenant delete` and `penstock tenant receipt`: delete a tenant for good, show what proves it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Final
from uuid import UUID

import typer

from penstock.accounts import AccountDeletions, Accounts, Deletion, DeletionRequested
from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.ingest_progress import stage_bar
from penstock.cli.product_session import as_operator, is_served
from penstock.cli.session import run
from penstock.db.addresses import Addresses
from penstock.model import TenantId
from penstock.product.queues import DELETE_ACCOUNT
from penstock.settings import Settings

LOOK_SECONDS: Final = 0.5

Slug = Annotated[str, typer.Argument(metavar="SLUG")]
AccountId = Annotated[UUID, typer.Argument(metavar="ACCOUNT_ID", help="What its deletion was answered with.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Wait = Annotated[bool, typer.Option("--wait", help="Stay until it is done, and print the receipt.")]


@dataclass(frozen=True, slots=True)
class _Desk:
    """What an operator needs to delete an account."""

    accounts: Accounts
    deletions: AccountDeletions
    addresses: Addresses
    settings: Settings


def delete(slug: Slug, yes: Yes = False, wait: Wait = False, as_json: output.AsJson = False) -> None:
    """Delete a tenant with all it owns, for good; its keys stop at once, the rest follows."""
    if not yes:
        _ask(slug)
    requested: DeletionRequested | None = None
    deletion: Deletion | None = None

    async def call() -> None:
        nonlocal requested, deletion
        async with _desk() as desk:
            tenant = await desk.accounts.find_tenant(slug)
            requested = await desk.deletions.request(tenant.tenant_id)
            if not await is_served(desk.addresses, desk.settings, DELETE_ACCOUNT):
                warn("No worker is there to do it: penstock worker starts one.")
            if wait:
                deletion = await _ended(desk.deletions, requested.account_id)

    try:
        run(call())
    except KeyboardInterrupt:
        if requested is not None:
            warn(f"It goes on. How far it is: penstock tenant receipt {requested.account_id}")
        raise
    assert requested is not None
    if as_json:
        told = None if deletion is None else deletion.model_dump(mode="json")
        output.document(requested.model_dump(mode="json") | {"deletion": told})
    else:
        _tell(requested, deletion)
    if deletion is not None and deletion.status == "failed":
        raise typer.Exit(Exit.REFUSED)


def receipt(account_id: AccountId, as_json: output.AsJson = False) -> None:
    """How far the deletion of an account is, and its receipt once it is done."""

    async def call() -> Deletion:
        async with _desk() as desk:
            return await desk.deletions.of(TenantId(account_id))

    found = run(call())
    output.document(found.model_dump(mode="json")) if as_json else _show(found)


@asynccontextmanager
async def _desk() -> AsyncIterator[_Desk]:
    settings = Settings()
    async with as_operator(settings) as (addresses, pool):
        yield _Desk(Accounts(pool, settings), AccountDeletions(pool, settings), addresses, settings)


def _ask(slug: str) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            "a deletion cannot be undone, and nobody is here to be asked", param_hint="--yes"
        )
    if typer.prompt(f"All that {slug} owns goes, for good. Type its slug to go on", err=True) != slug:
        warn("That is not its slug: nothing was deleted.")
        raise typer.Exit(Exit.REFUSED)


async def _ended(deletions: AccountDeletions, account_id: TenantId) -> Deletion:
    most = 0
    with stage_bar(quiet=False) as draw:
        while (found := await deletions.of(account_id)).status == "running":
            most = max(most, found.files_left)
            draw(most - found.files_left, most, f"{output.count(found.files_left, 'file')} left")
            await asyncio.sleep(LOOK_SECONDS)
    return found


def _tell(requested: DeletionRequested, deletion: Deletion | None) -> None:
    if requested.receipt_token is not None:
        output.write(requested.receipt_token)
        warn(
            f"Deletion {requested.account_deletion_task_id} of account {requested.account_id} is under way."
            " The token shows how far it is (GET /v1/deletions/TOKEN). Keep it: it is shown only this once."
        )
    else:
        warn(f"The deletion of account {requested.account_id} was requested before; its token stays good.")
    if deletion is None:
        warn(f"How far it is: penstock tenant receipt {requested.account_id}")
    else:
        _show(deletion)


def _show(found: Deletion) -> None:
    told = found.model_dump(mode="json", exclude={"receipt"})
    output.facts(told | (found.receipt or {}))
    if found.status == "failed":
        warn("It is stuck. Mend what the error says and request the deletion again.")
