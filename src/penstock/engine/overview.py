"""The whole installation, or one tenant, at one look: stages, queues, workers, and in words what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from penstock.db import Connection
from penstock.documents.figures import (
    DocumentCounts,
    DocumentFigures,
    Figures,
    MonthUsage,
    OldestWaiting,
    SourceNeeding,
    StageFigures,
    StageMinute,
    StageName,
)
from penstock.embed.price import cost_of
from penstock.queue.look_rows import QueueFigures, WorkerItem
from penstock.queue.looks import Looks

VerdictState = Literal["well", "attention", "failing"]

LONG_WAIT_SECONDS = 900.0
"""A document that waits longer than this is worth a look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewStage:
    """A stage of the way of documents, with the last hour minute by minute."""

    stage: StageName
    waiting: int
    running: int
    done_hour: int
    failed_hour: int
    rate_per_minute: float
    p95_seconds: float | None
    history: list[StageMinute]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCounts:
    alive: int
    silent: int
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictSentence:
    """What is wrong, and the console's page about it."""

    text: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewVerdict:
    state: VerdictState
    sentences: list[VerdictSentence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    at: datetime
    stages: list[OverviewStage]
    documents: DocumentCounts
    oldest_waiting: OldestWaiting | None
    sources_needing: list[SourceNeeding]
    dead: int
    failed_documents: int
    workers: WorkerCounts
    usage: MonthUsage
    verdict: OverviewVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSnapshot:
    """The overview with the queues and workers it was made from."""

    overview: Overview
    queues: list[QueueFigures]
    workers: list[WorkerItem]


async def look(connection: Connection, price: float | None = None) -> SystemSnapshot:
    """What is going on, for the tenant of this transaction, or for an operator everywhere.

    `price` is that of a million tokens, for the cost of this month's embedding.
    """
    looks, figures = Looks(connection), Figures(connection)
    queues = await looks.queues()
    workers = await looks.workers()
    found = await figures.documents()
    if price is not None:
        cost = cost_of(found.usage.tokens, price)
        found = replace(found, usage=replace(found.usage, cost=cost))
    stages = await figures.stages()
    return SystemSnapshot(overview=_overview(found, stages, queues, workers), queues=queues, workers=workers)


def _overview(
    found: DocumentFigures,
    stages: Sequence[StageFigures],
    queues: Sequence[QueueFigures],
    workers: Sequence[WorkerItem],
) -> Overview:
    counts = found.documents
    waiting = {"received": counts.pending}
    running = {"parsing": counts.processing, "embedding": counts.embedding}
    by_state = WorkerCounts(
        alive=sum(worker.state == "alive" for worker in workers),
        silent=sum(worker.state == "silent" for worker in workers),
        lost=sum(worker.state == "lost" for worker in workers),
    )
    return Overview(
        at=found.at,
        stages=[
            OverviewStage(
                stage=stage.stage,
                waiting=waiting.get(stage.stage, 0),
                running=running.get(stage.stage, 0),
                done_hour=stage.done,
                failed_hour=stage.failed,
                rate_per_minute=stage.per_minute,
                p95_seconds=stage.p95_seconds,
                history=stage.history,
            )
            for stage in stages
        ],
        documents=counts,
        oldest_waiting=found.oldest_waiting,
        sources_needing=found.sources_needing,
        dead=sum(queue.dead for queue in queues),
        failed_documents=counts.failed,
        workers=by_state,
        usage=found.usage,
        verdict=verdict(found, queues, by_state),
    )


def verdict(found: DocumentFigures, queues: Sequence[QueueFigures], workers: WorkerCounts) -> OverviewVerdict:
    """In plain sentences what stands still (`failing`) and what needs a person (`attention`)."""
    failing = [*_standing_still(found, queues, workers)]
    attention = [*_needing_somebody(found, queues, workers)]
    state: VerdictState = "failing" if failing else "attention" if attention else "well"
    return OverviewVerdict(state=state, sentences=failing + attention)


def _standing_still(
    found: DocumentFigures, queues: Sequence[QueueFigures], workers: WorkerCounts
) -> list[VerdictSentence]:
    unserved = [queue for queue in queues if queue.ready and not queue.workers and not queue.paused]
    sentences = []
    if not workers.alive and (unserved or found.documents.pending):
        sentences.append(
            VerdictSentence(
                text="No worker is running, so nothing is processed. Start one: penstock worker",
                link="/workers",
            )
        )
    elif unserved:
        sentences += [
            VerdictSentence(
                text=f"No worker serves the queue {queue.queue}, where"
                f" {_count(queue.ready, 'task is', 'tasks are')} ready.",
                link=f"/queues/{queue.queue}",
            )
            for queue in unserved
        ]
    return sentences


def _needing_somebody(
    found: DocumentFigures, queues: Sequence[QueueFigures], workers: WorkerCounts
) -> list[VerdictSentence]:
    sentences = [
        VerdictSentence(text=f"{source.name}: {source.sentence}", link=f"/sources/{source.source_id}")
        for source in found.sources_needing[:5]
    ]
    if len(found.sources_needing) > 5:
        more = len(found.sources_needing) - 5
        sentences.append(
            VerdictSentence(
                text=f"{_count(more, 'more source needs', 'more sources need')} attention.", link="/sources"
            )
        )
    if failed := found.documents.failed:
        sentences.append(
            VerdictSentence(
                text=f"{_count(failed, 'document', 'documents')} failed.", link="/documents?status=failed"
            )
        )
    if dead := sum(queue.dead for queue in queues):
        sentences.append(
            VerdictSentence(
                text=f"{_count(dead, 'task is a dead letter', 'tasks are dead letters')}.",
                link="/failures?kind=task",
            )
        )
    if workers.lost or workers.silent:
        sentences.append(
            VerdictSentence(
                text=f"{_count(workers.lost + workers.silent, 'worker', 'workers')} stopped answering"
                " within the last day.",
                link="/workers",
            )
        )
    for queue in queues:
        if queue.paused and (queue.ready or queue.waiting):
            by = f" by {queue.paused_by}" if queue.paused_by else ""
            sentences.append(
                VerdictSentence(
                    text=f"The queue {queue.queue} was paused{by};"
                    f" {_count(queue.ready, 'task is', 'tasks are')} ready in it.",
                    link=f"/queues/{queue.queue}",
                )
            )
    oldest = found.oldest_waiting
    if oldest is not None and oldest.seconds > LONG_WAIT_SECONDS:
        sentences.append(
            VerdictSentence(
                text=f"A document has waited for {round(oldest.seconds / 60):,} minutes.",
                link=f"/documents/{oldest.document_id}",
            )
        )
    return sentences


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
