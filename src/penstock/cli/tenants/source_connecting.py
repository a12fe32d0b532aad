"""`penstock source connect|disconnect`: sources that a user grants access to at their provider."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import UUID

import typer

from penstock.cli import completion, output
from penstock.cli.auditing import user
from penstock.cli.confirmation import DryRun, would
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, ProjectSlug, TenantSession, TenantSlug, tenant_session
from penstock.cli.tenants.callback_listener import callback_served
from penstock.cli.tenants.source_syncing import NO_WORKER, finished, jobs_of, report
from penstock.errors import InvalidArgument
from penstock.model import SourceId, TenantId
from penstock.model.queue_names import SYNC
from penstock.model.rows import plain
from penstock.sources.errors import ConnectFailed

if TYPE_CHECKING:
    from penstock.sources.oauth.connecting import ConnectRequest
    from penstock.sources.sources import Disconnected, IngestionJob, SourceDetails

TheProvider = Annotated[
    str,
    typer.Argument(
        metavar="PROVIDER", help="hubspot, google_drive, quickbooks, gmail, outlook, or your own."
    ),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Only print the address; do not open it.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the first sync has ended.")]
Named = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="The source's name, kind or id.", autocompletion=completion.sources
    ),
]
Keep = Annotated[
    bool | None,
    typer.Option("--keep-documents/--delete-documents", help="Keep or delete the source's documents."),
]

LOOK_SECONDS = 0.5


def connect(
    provider: TheProvider,
    no_browser: NoBrowser = False,
    project: ProjectSlug = DEFAULT,
    tenant: TenantSlug = DEFAULT,
    wait: Wait = True,
    as_json: output.AsJson = False,
) -> None:
    """Connect a source at its provider, in the browser.

    It opens the provider's consent page and waits until access is granted.

    The provider sends the browser back to PENSTOCK_PUBLIC_URL. If no API answers there and the address is
    on this machine, the command itself waits for the browser. Then it follows the first sync, if a worker is
    running or the database is Penstock's own. Connecting an account again keeps its source, documents and
    history.
    """

    async def call() -> tuple[SourceDetails, IngestionJob | None]:
        async with tenant_session(create=True) as session:
            session.engine.connecting.check(provider)
            tenant_id = await session.tenant(
                tenant, create=True, project=project, change="source connect", target=provider
            )
            await session.declare()
            before = await _earlier(session, tenant_id, provider) if wait else frozenset()
            asked = await session.engine.connecting.begin(
                tenant_id, provider, project=project, requested_by=f"cli:{user()}"
            )
            is_served = session.addresses.embedded is not None or await session.served(SYNC)
            follows = wait and is_served
            async with callback_served(session.engine, follows=follows):
                source_id = await _granted(session, tenant_id, asked, no_browser=no_browser)
                # The page in the browser follows the sync as well.
                job = await finished(session, tenant_id, source_id, before) if follows else None
            if not follows and not await session.served(SYNC):
                warn(NO_WORKER)
            return await session.engine.sources.show(tenant_id, source_id), job

    source, job = run(call())
    if as_json:
        output.document({"source": plain(source), "job": None if job is None else plain(job)})
        return
    output.write(f"Connected {source.name} ({source.kind}) as source {source.source_id}.")
    if job is None:
        output.write(
            f"The first sync has been started; to follow it: penstock source show {source.source_id}"
        )
    else:
        report(job)


def disconnect(
    source: Named,
    keep: Keep = None,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Disconnect a source, and keep or delete its documents.

    Its syncs stop and its tokens are revoked at the provider.
    """
    if dry_run:
        _would_disconnect(source, keep, tenant, as_json=as_json)
        return
    if keep is None and (as_json or not sys.stdin.isatty()):
        raise InvalidArgument(
            "say what happens to the documents of the source",
            "documents",
            "Add --keep-documents or --delete-documents",
        )

    async def call() -> Disconnected | None:
        async with tenant_session() as session:
            tenant_id = await session.tenant(tenant)
            found = await session.engine.sources.find(tenant_id, source)
            documents = (
                await asyncio.to_thread(_asked, f"{found.name} ({found.kind})") if keep is None else keep
            )
            if documents is None:
                return None
            await session.tenant(tenant, change="source disconnect", target=source)
            await session.declare()
            choice: Literal["keep", "delete"] = "keep" if documents else "delete"
            return await session.engine.sources.disconnect(tenant_id, found.source_id, documents=choice)

    done = run(call())
    if done is None:
        warn("Nothing was changed.")
        raise typer.Exit(Exit.REFUSED)
    if as_json:
        output.document(plain(done))
        return
    output.write(f"Disconnected {done.name} ({done.kind}).")
    documents = output.count(done.documents, "document")
    output.write(f"{documents} {'deleted' if done.deleted else 'kept'}.")
    if done.revoking or done.deleting:
        warn("The rest runs in the background: penstock up or a worker has to be running.")


def _would_disconnect(source: str, keep: bool | None, tenant: str, *, as_json: bool) -> None:
    async def call() -> SourceDetails:
        async with tenant_session() as session:
            tenant_id = await session.tenant(tenant)
            found = await session.engine.sources.find(tenant_id, source)
            return await session.engine.sources.show(tenant_id, found.source_id)

    found = run(call())
    what = {None: "keep or delete", True: "keep", False: "delete"}[keep]
    documents = output.count(found.documents, "document")
    would(
        f"disconnect {found.name} ({found.kind}) and {what} its {documents}",
        as_json=as_json,
        count=found.documents,
        source_id=found.source_id,
    )


def _asked(name: str) -> bool | None:
    """True to keep the documents, False to delete them, None to stop."""
    answer = typer.prompt(
        f"Disconnect {name}. Keep or delete its documents? [keep/delete/cancel]", default="cancel", err=True
    )
    return {"keep": True, "delete": False}.get(answer.strip().lower())


async def _earlier(session: TenantSession, tenant_id: TenantId, provider: str) -> frozenset[UUID]:
    """The syncs of sources that may be connected again."""
    known = [each for each in await session.engine.sources.list(tenant_id) if each.kind == provider]
    jobs = [await jobs_of(session, tenant_id, each.source_id) for each in known]
    return frozenset().union(*jobs)


async def _granted(
    session: TenantSession, tenant_id: TenantId, asked: ConnectRequest, *, no_browser: bool
) -> SourceId:
    """The source, once the user has been at the provider and is back."""
    warn(f"Grant access in the browser: {asked.url}")
    if not no_browser:
        import webbrowser

        if not await asyncio.to_thread(webbrowser.open, asked.url):
            warn("No browser could be opened: open the address yourself.")
    while True:
        progress = await session.engine.connecting.follow(tenant_id, asked.state)
        match progress.status:
            case "connected":
                assert progress.source_id is not None
                # The browser still loads the page that says so.
                await asyncio.sleep(LOOK_SECONDS)
                return progress.source_id
            case "failed":
                code = progress.error_code or "unknown"
                raise ConnectFailed(f"{asked.provider} was not connected: {code}", code)
            case "expired":
                raise ConnectFailed("nobody granted access within ten minutes", "expired")
            case _:
                await asyncio.sleep(LOOK_SECONDS)
