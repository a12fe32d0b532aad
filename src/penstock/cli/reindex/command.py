"""`penstock reindex`: start a re-index and follow it, show, stop and resume it."""

from __future__ import annotations

import getpass
from typing import Annotated
from uuid import UUID

import typer

from penstock.cli import output
from penstock.cli.confirmation import DryRun, would
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.reindex.following import follow, progress_text
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, ProjectSlug, TenantSession, TenantSlug, tenant_session
from penstock.documents.reindexes import ReindexEngine, ReindexPage, ReindexRun
from penstock.errors import InvalidArgument, InvalidMove
from penstock.model import TenantId
from penstock.model.rows import plain
from penstock.observe.formats import escape

group = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

RunId = Annotated[UUID, typer.Argument(metavar="RUN", help="The re-index's id; see penstock reindex status.")]
AnyRun = Annotated[UUID | None, typer.Argument(metavar="RUN", help="The re-index's id; default: list all.")]
EngineName = Annotated[
    str, typer.Option("--engine", help="What runs the shards: queue (the workers) or ray.")
]
AnyEngine = Annotated[
    str | None, typer.Option("--engine", help="queue or ray; default: the engine it was started with.")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Address of a Ray cluster, or auto; default: Ray on this machine alone.",
    ),
]
Cpus = Annotated[float, typer.Option("--cpus", min=0.01, help="Processors that Ray reserves for a shard.")]
Gpus = Annotated[float, typer.Option("--gpus", min=0.0, help="GPUs that Ray reserves for a shard.")]
EmbedderName = Annotated[
    str | None,
    typer.Option("--embedder", metavar="MODEL", help="Switch to this model; see penstock model list."),
]
ShardDocuments = Annotated[
    int | None,
    typer.Option("--shard-documents", min=1, max=10_000, help="Documents in a shard; default: 200."),
]
WithWorker = Annotated[
    bool | None,
    typer.Option(
        "--worker/--no-worker",
        help="Run a worker in this command. Default: on the embedded database if none is running.",
    ),
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every document is indexed again.")]

LISTED = ("run_id", "state", "project", "embedder", "engine", "documents", "done", "failed", "started_at")


@group.callback()
def reindex(
    ctx: typer.Context,
    project: ProjectSlug = DEFAULT,
    embedder: EmbedderName = None,
    engine: EngineName = "queue",
    address: Address = None,
    cpus: Cpus = 0.5,
    gpus: Gpus = 0.0,
    shard_documents: ShardDocuments = None,
    worker: WithWorker = None,
    wait: Wait = True,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Index every document of a project again, on the workers or on a Ray cluster.

    Searches find the old version of a document until its shard is done. With another embedder, they use the
    old index until the new one is complete.
    """
    if ctx.invoked_subcommand is not None:
        return
    chosen = _engine(engine, address)
    if chosen == "ray" and not wait:
        raise InvalidArgument(
            "Ray is driven by this command, which therefore has to wait", "wait", "Omit --no-wait"
        )

    async def call() -> ReindexRun:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="reindex", target=project)
            if chosen == "ray":
                await _connect_ray(address)
            shown = await session.engine.accounts.show_project(owner, project)
            await session.engine.embedders.embedder(embedder or shown.embedder)  # raises if it is not ready
            await session.declare()
            started = await session.engine.reindexes.start(
                owner,
                project,
                by=getpass.getuser(),
                embedder=embedder,
                engine=chosen,
                shard_documents=shard_documents,
            )
            if not wait:
                return started
            return await _drive(session, owner, started, chosen, cpus, gpus, worker=worker, quiet=as_json)

    _ended(run(call()), as_json=as_json, waited=wait)


@group.command("status")
def status(run_id: AnyRun = None, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Show a re-index; without an id, list all.

    Its progress, rate, cost, estimated end, and who works on it.
    """

    async def one(run_id: UUID) -> ReindexRun:
        async with tenant_session() as session:
            return await session.engine.reindexes.show(await session.tenant(tenant), run_id)

    async def every() -> ReindexPage:
        async with tenant_session() as session:
            return await session.engine.reindexes.list(await session.tenant(tenant))

    if run_id is not None:
        _show(run(one(run_id)), as_json=as_json)
        return
    page = run(every())
    if as_json:
        output.document({"reindexes": [plain(each) for each in page.items], "cursor": page.cursor})
    else:
        output.records(LISTED, page.items, empty="No re-indexes.")


@group.command("stop")
def stop(
    run_id: RunId, dry_run: DryRun = False, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False
) -> None:
    """Stop a re-index.

    Documents already done stay done; resume does the rest.
    """

    async def look() -> ReindexRun:
        async with tenant_session() as session:
            return await session.engine.reindexes.show(await session.tenant(tenant), run_id)

    if dry_run:
        found = run(look())
        left = found.documents - found.done if found.is_open else 0
        told = f"stop the re-index of {found.project} with {output.count(left, 'document')} left to do"
        would(
            told if found.is_open else f"stop nothing: the re-index is {found.state}",
            as_json=as_json,
            count=left,
            run_id=run_id,
        )
        return

    async def call() -> ReindexRun:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="reindex stop", target=str(run_id))
            return await session.engine.reindexes.stop(owner, run_id, getpass.getuser())

    _show(run(call()), as_json=as_json)


@group.command("resume")
def resume(
    run_id: RunId,
    engine: AnyEngine = None,
    address: Address = None,
    cpus: Cpus = 0.5,
    gpus: Gpus = 0.0,
    worker: WithWorker = None,
    wait: Wait = True,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Continue a re-index that was stopped or failed.

    On one that is in progress it adds one more driver.
    """

    async def call() -> ReindexRun:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="reindex resume", target=str(run_id))
            found = await session.engine.reindexes.show(owner, run_id)
            chosen = _engine(engine or ("ray" if address else found.engine), address)
            if chosen == "ray":
                await _connect_ray(address)
            await session.declare()
            resumed = await session.engine.reindexes.resume(owner, run_id, chosen)
            if not wait and chosen == "queue":
                return resumed
            return await _drive(session, owner, resumed, chosen, cpus, gpus, worker=worker, quiet=as_json)

    _ended(run(call()), as_json=as_json, waited=wait)


def _engine(name: str, address: str | None) -> ReindexEngine:
    if name not in ("queue", "ray"):
        raise InvalidArgument(f"{name!r} is not an engine", "engine", "Use --engine queue or --engine ray")
    if name == "queue" and address is not None:
        raise InvalidArgument(
            "the workers need no --address: they find their tasks in the database",
            "address",
            "Omit --address, or add --engine ray",
        )
    return "ray" if name == "ray" else "queue"


async def _connect_ray(address: str | None) -> None:
    """Before a run is started: an address that leads nowhere must not leave one behind."""
    from penstock.engine.ray_engine import connect

    await connect(address)


async def _drive(
    session: TenantSession,
    owner: TenantId,
    started: ReindexRun,
    engine: ReindexEngine,
    cpus: float,
    gpus: float,
    *,
    worker: bool | None,
    quiet: bool,
) -> ReindexRun:
    if not quiet:
        warn(f"Re-index {started.run_id}; to stop it: penstock reindex stop {started.run_id}")
    if engine == "queue":
        return await follow(session, owner, started.run_id, worker=worker, quiet=quiet)
    from penstock.cli.reindex.ray_driving import drive

    return await drive(session, owner, started.run_id, cpus=cpus, gpus=gpus, quiet=quiet)


def _ended(shown: ReindexRun, *, as_json: bool, waited: bool) -> None:
    if as_json:
        output.document(plain(shown))
    elif not waited and shown.is_open:
        output.write(
            f"Re-index {shown.run_id} is in progress; to follow it: penstock reindex status {shown.run_id}"
        )
    elif shown.state == "done":
        output.write(
            f"{shown.project} is indexed with {shown.embedder}: {output.count(shown.indexed, 'document')}"
            f" re-indexed, {shown.newer:,} newer, {shown.gone:,} deleted meanwhile, {shown.failed:,} failed;"
            f" {output.count(shown.embedded, 'text')} embedded, {shown.reused:,} reused."
        )
    elif shown.waits_for_a_person:
        output.write(f"Re-index {shown.run_id} {shown.reason}")
    if waited and shown.waits_for_a_person:
        raise typer.Exit(Exit.REFUSED)
    if not shown.is_open and shown.state != "done":
        raise InvalidMove(
            f"re-index {shown.run_id} is {shown.state}: {shown.reason}",
            "run_id",
            f"To continue: penstock reindex resume {shown.run_id}",
        )
    if shown.failed:
        # Those that had failed before, too, and they have no version to keep.
        failed = f"{output.count(shown.failed, 'document')} could not be re-indexed"
        kept = "if it was indexed, it keeps" if shown.failed == 1 else "those that were indexed keep"
        warn(f"{failed}; {kept} the old version: penstock reindex status {shown.run_id}")
        raise typer.Exit(Exit.REFUSED)


def _show(shown: ReindexRun, *, as_json: bool) -> None:
    if as_json:
        output.document(plain(shown))
        return
    facts = plain(shown, without=("holders", "failures", "gate"))
    output.facts({name: value for name, value in facts.items() if value is not None})
    if text := progress_text(shown):
        output.write(text)
    for holder in shown.holders:
        output.write(f"shard {holder.shard} is held by {holder.holder} since {holder.since:%H:%M:%S}")
    for worse in [] if shown.gate is None else shown.gate.worse[:10]:
        output.write(f"got worse: {worse.before:.2f} -> {worse.after:.2f}  {escape(worse.question)}")
    for failure in shown.failures:
        output.write(f"document {failure.document_id} failed: {failure.reason}: {failure.message}")
