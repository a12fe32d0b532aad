"""Declares the tasks of documents and sources."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from penstock.model import Exponential, NoRetry, Snooze
from penstock.model.queue_names import (
    DELIVER,
    EVALUATE,
    INGEST,
    MAINTAIN,
    OPERATE,
    READ,
    REINDEX,
    SHARD,
    SUBSCRIBE,
    SYNC,
)
from penstock.pipeline.job import MAX_ATTEMPTS, IngestDocument
from penstock.pipeline.maintenance import MaintainDocuments
from penstock.pipeline.operating import Operate, Operating
from penstock.pipeline.project_deletion import DeleteProject
from penstock.pipeline.reindexing import (
    ReindexFailed,
    Reindexing,
    ReindexingShard,
    ReindexProject,
    ReindexShard,
)
from penstock.pipeline.run_limit import within
from penstock.search.gate import EvaluateGate, GateEvaluating
from penstock.sources.deletion import DeleteSource, SourceDeletion
from penstock.sources.mail.subscribing import MAX_ATTEMPTS as SUBSCRIBE_ATTEMPTS
from penstock.sources.mail.subscribing import SubscribeSource
from penstock.sources.oauth.revoking import MAX_ATTEMPTS as REVOKE_ATTEMPTS
from penstock.sources.oauth.revoking import REVOKE, RevokeTokens
from penstock.sources.sync.job import MAX_ATTEMPTS as SYNC_ATTEMPTS
from penstock.sources.sync.job import SyncSource
from penstock.sources.sync.looking import MAX_ATTEMPTS as LOOK_ATTEMPTS
from penstock.sources.sync.looking import ItemToRead
from penstock.webhooks.deliver_task import DeliverWebhook
from penstock.worker import Context

if TYPE_CHECKING:
    from penstock.engine.engine import Engine

RUN_MARGIN_SECONDS = 30.0
"""A run ends itself and records why; only if it does not, its worker ends it this much later."""
SHARD_SECONDS = 6 * 3600.0
SYNC_LOSSES = 10_000


def declare_documents(engine: Engine) -> None:
    """Declare the tasks of documents and sources, each with how often and for how long it is tried."""
    task = engine.tasks.task
    backoff = Exponential(base=1, factor=4)
    run_limit = engine.settings.run_seconds + RUN_MARGIN_SECONDS
    # What keeps its position, so that any number of lost workers may continue it.
    lasting = partial(task, max_attempts=10, max_losses=SYNC_LOSSES, retry=backoff, on_duplicate="coalesce")

    @task(
        INGEST,
        queue=INGEST,
        max_attempts=MAX_ATTEMPTS,
        retry=backoff,
        on_duplicate="coalesce",
        time_limit=run_limit,
    )
    async def ingest(payload: IngestDocument, ctx: Context) -> Snooze | None:
        return await (await engine.ingest_run())(payload, ctx)

    # A run and its shards keep their position, so any number of lost workers may continue them.
    @task(
        REINDEX,
        queue=REINDEX,
        max_attempts=10,
        max_losses=SYNC_LOSSES,
        retry=backoff,
        retry_errors={ReindexFailed: NoRetry()},
        on_duplicate="coalesce",
    )
    async def reindex(payload: ReindexProject, ctx: Context) -> Snooze | None:
        return await Reindexing(engine.tenants, engine.bulk_calls)(payload, ctx)

    # A document that ends its worker is given up after three times, before its shard is.
    @task(
        SHARD,
        queue=SHARD,
        priority=7,
        max_attempts=10,
        max_losses=SYNC_LOSSES,
        retry=backoff,
        on_duplicate="coalesce",
        time_limit=SHARD_SECONDS,
    )
    async def reindex_shard(payload: ReindexShard, ctx: Context) -> Snooze | None:
        return await ReindexingShard(await engine.shard_runner())(payload, ctx)

    @lasting(EVALUATE, queue=REINDEX)
    async def evaluate(payload: EvaluateGate, ctx: Context) -> Snooze | None:
        return await GateEvaluating(engine.tenants, engine.search)(payload, ctx)

    @task("delete-project", queue=REINDEX, max_attempts=20, retry=backoff, on_duplicate="coalesce")
    async def delete_project(payload: DeleteProject, ctx: Context) -> None:
        await engine.project_deletion(payload, ctx)

    @task(DELIVER, queue=DELIVER, max_attempts=8, retry=Exponential(base=5, factor=4))
    async def deliver(payload: DeliverWebhook, ctx: Context) -> None:
        await engine.delivering(payload, ctx)

    @task(
        REVOKE,
        queue=DELIVER,
        max_attempts=REVOKE_ATTEMPTS,
        retry=Exponential(base=5, factor=4, cap=86_400),
    )
    async def revoke(payload: RevokeTokens, ctx: Context) -> Snooze | None:
        return await engine.revoking(payload, ctx)

    @task("delete-source", queue=REINDEX, max_attempts=20, retry=backoff, on_duplicate="coalesce")
    async def delete_source(payload: DeleteSource, ctx: Context) -> None:
        await SourceDeletion(engine.tenants)(payload, ctx)

    @lasting(OPERATE, queue=OPERATE)
    async def operate(payload: Operate, ctx: Context) -> Snooze | None:
        return await Operating(engine.tenants)(payload, ctx)

    # A sync that gets on may lose any number of workers; ingest.begin_sync() ends one that does not.
    @task(
        SYNC,
        queue=SYNC,
        max_attempts=SYNC_ATTEMPTS,
        max_losses=SYNC_LOSSES,
        retry=backoff,
        on_duplicate="coalesce",
    )
    async def sync(payload: SyncSource, ctx: Context) -> Snooze | None:
        return await engine.source_sync(payload, ctx)

    # One at a time per item; a change that is heard of during a look causes exactly one more.
    @task(
        READ,
        queue=READ,
        max_attempts=LOOK_ATTEMPTS,
        retry=Exponential(base=2, factor=3),
        on_duplicate="coalesce",
        time_limit=run_limit,
    )
    async def read(payload: ItemToRead, ctx: Context) -> Snooze | None:
        async with within(engine.settings.run_seconds):
            return await engine.source_sync.look(payload, ctx)

    @task(
        SUBSCRIBE,
        queue=SUBSCRIBE,
        max_attempts=SUBSCRIBE_ATTEMPTS,
        retry=Exponential(base=5, factor=4),
        on_duplicate="coalesce",
    )
    async def subscribe(payload: SubscribeSource, ctx: Context) -> None:
        await engine.subscribing(payload, ctx)

    @task(MAINTAIN, queue=MAINTAIN, max_attempts=1, retry=NoRetry())
    async def maintain(payload: MaintainDocuments) -> None:
        await engine.maintenance(payload)
        await engine.outages.maintain()
        await engine.source_sync.maintain()
        await engine.push_maintenance.run_once()
        await engine.vault_maintenance.run_once()
        await engine.connecting.forget_old()

    engine.tasks.schedule("* * * * *", maintain)
