"""`penstock tenant delete` and `penstock tenant receipt`: delete a tenant, and prove that it is gone."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Final
from uuid import UUID

import typer

from penstock.accounts import AccountDeletions, Accounts, Deletion, DeletionRequested
from penstock.cli import completion, output
from penstock.cli.auditing import audited
from penstock.cli.confirmation import DryRun, would
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.ingest.progress import stage_bar
from penstock.cli.session import run
from penstock.cli.tenant_session import as_operator
from penstock.db.addresses import Addresses
from penstock.db.pause import pause
from penstock.db.tenancy import TenantPool
from penstock.engine.operator_access import is_served
from penstock.model import TenantId
from penstock.model.queue_names import DELETE_ACCOUNT
from penstock.model.rows import plain
from penstock.settings import Settings

LOOK_SECONDS: Final = 0.5

Slug = Annotated[str, typer.Argument(metavar="SLUG", autocompletion=completion.tenants)]
AccountId = Annotated[
    UUID, typer.Argument(metavar="ACCOUNT_ID", help="The account id that penstock tenant delete printed.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the deletion is done and print the receipt.")]


@dataclass(frozen=True, slots=True)
class _OperatorSession:
    """What an operator needs to delete an account."""

    accounts: Accounts
    deletions: AccountDeletions
    addresses: Addresses
    settings: Settings
    pool: TenantPool


def delete(
    slug: Slug,
    yes: Yes = False,
    dry_run: DryRun = False,
    wait: Wait = False,
    as_json: output.AsJson = False,
) -> None:
    """Delete a tenant and everything it owns.

    Its keys stop working at once; the rest is deleted in the background.
    """
    if dry_run:
        _would_delete(slug, as_json=as_json)
        return
    if not yes:
        _ask(slug)
    requested: DeletionRequested | None = None
    deletion: Deletion | None = None

    async def call() -> None:
        nonlocal requested, deletion
        async with _operator_session() as operator:
            tenant = await operator.accounts.find_tenant(slug)
            async with audited(operator.pool.all_tenants, "tenant delete", slug):
                requested = await operator.deletions.request(tenant.tenant_id)
            if not await is_served(operator.addresses, operator.settings, DELETE_ACCOUNT):
                warn("No worker is running to delete it; start one with penstock worker.")
            if wait:
                deletion = await _ended(operator.deletions, requested.account_id)

    try:
        run(call())
    except KeyboardInterrupt:
        if requested is not None:
            warn(f"The deletion continues. To follow it: penstock tenant receipt {requested.account_id}")
        raise
    assert requested is not None
    if as_json:
        told = None if deletion is None else plain(deletion)
        output.document(plain(requested) | {"deletion": told})
    else:
        _tell(requested, deletion)
    if deletion is not None and deletion.status == "failed":
        raise typer.Exit(Exit.REFUSED)


def _would_delete(slug: str, *, as_json: bool) -> None:
    async def call() -> int:
        async with _operator_session() as operator:
            tenant = await operator.accounts.find_tenant(slug)
            projects = await operator.accounts.list_projects(tenant.tenant_id)
            return sum(sum(project.documents.values()) for project in projects)

    count = run(call())
    told = f"delete tenant {slug} with {output.count(count, 'document')} and everything else it owns"
    would(told, as_json=as_json, count=count, tenant=slug)


def receipt(account_id: AccountId, as_json: output.AsJson = False) -> None:
    """Show the progress or the receipt of a tenant's deletion."""

    async def call() -> Deletion:
        async with _operator_session() as operator:
            return await operator.deletions.of(TenantId(account_id))

    found = run(call())
    output.document(plain(found)) if as_json else _show(found)


@asynccontextmanager
async def _operator_session() -> AsyncIterator[_OperatorSession]:
    settings = Settings()
    async with as_operator(settings) as (addresses, pool):
        yield _OperatorSession(
            Accounts(pool, settings), AccountDeletions(pool, settings), addresses, settings, pool
        )


def _ask(slug: str) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("a deletion cannot be undone and needs confirmation", param_hint="--yes")
    if (
        typer.prompt(f"This permanently deletes everything {slug} owns. Type its slug to continue", err=True)
        != slug
    ):
        warn("That is not its slug. Nothing was deleted.")
        raise typer.Exit(Exit.REFUSED)


async def _ended(deletions: AccountDeletions, account_id: TenantId) -> Deletion:
    most = 0
    with stage_bar(quiet=False) as draw:
        while (found := await deletions.of(account_id)).status == "running":
            most = max(most, found.files_left)
            draw(most - found.files_left, most, f"{output.count(found.files_left, 'file')} left")
            await pause(LOOK_SECONDS)
    return found


def _tell(requested: DeletionRequested, deletion: Deletion | None) -> None:
    if requested.receipt_token is not None:
        output.write(requested.receipt_token)
        warn(
            f"Deletion {requested.account_deletion_task_id} of account {requested.account_id} has "
            "started. Its progress is at GET /v1/deletions/TOKEN. Keep this token: it is shown only "
            "once."
        )
    else:
        warn(
            f"The deletion of account {requested.account_id} was already requested; the token you "
            "have is still valid."
        )
    if deletion is None:
        warn(f"To follow it: penstock tenant receipt {requested.account_id}")
    else:
        _show(deletion)


def _show(found: Deletion) -> None:
    told = plain(found, without={"receipt"})
    output.facts(told | (found.receipt or {}))
    if found.status == "failed":
        warn("The deletion failed. Fix the error shown above and request the deletion again.")
