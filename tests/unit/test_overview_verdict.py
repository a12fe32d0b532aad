"""The verdict of the overview: in words what stands still and what needs somebody, with where to click."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from penstock.documents.figures import (
    DocumentCounts,
    DocumentFigures,
    MonthUsage,
    OldestWaiting,
    SourceNeeding,
)
from penstock.engine.overview import WorkerCounts, verdict
from penstock.queue.look_rows import QueueFigures

SOME = UUID(int=7)
FINE = DocumentFigures(
    at=datetime(2026, 1, 1, tzinfo=UTC),
    documents=DocumentCounts(
        pending=0, processing=0, embedding=0, indexed=9, skipped=0, failed=0, approximate=False
    ),
    oldest_waiting=None,
    sources_needing=[],
    usage=MonthUsage(month="2026-01", tokens=0, calls=0, texts=0, reused=0),
)
QUEUE = QueueFigures(
    queue="email",
    paused=False,
    paused_by=None,
    paused_at=None,
    ready=0,
    running=0,
    waiting=0,
    parked=0,
    dead=0,
    approximate=False,
    oldest_ready_seconds=None,
    max_running=None,
    rate=None,
    workers=1,
    idle_workers=0,
    per_minute=0.0,
    p95_wait_seconds=None,
    p95_run_seconds=None,
)
ALIVE = WorkerCounts(alive=1, silent=0, lost=0)


def test_nothing_to_say_is_well() -> None:
    found = verdict(FINE, [QUEUE], ALIVE)
    assert (found.state, found.sentences) == ("well", [])


def test_tasks_that_nobody_serves_stand_still() -> None:
    found = verdict(FINE, [replace(QUEUE, ready=2, workers=0)], ALIVE)
    assert found.state == "failing"
    assert (found.sentences[0].text, found.sentences[0].link) == (
        "No worker serves the queue email, where 2 tasks are ready.",
        "/queues/email",
    )
    nobody = verdict(FINE, [replace(QUEUE, ready=2, workers=0)], WorkerCounts(alive=0, silent=0, lost=0))
    assert [sentence.link for sentence in nobody.sentences] == ["/workers"]


def test_what_needs_somebody_is_said_with_where_to_click() -> None:
    documents = replace(FINE.documents, failed=1)
    needing = SourceNeeding(
        source_id=SOME, kind="gmail", name="Mail", sentence="it needs you", action="do it"
    )
    found = verdict(
        replace(
            FINE,
            documents=documents,
            sources_needing=[needing],
            oldest_waiting=OldestWaiting(document_id=SOME, name="a.pdf", seconds=7_200),
        ),
        [replace(QUEUE, dead=12_000), replace(QUEUE, queue="sms", paused=True, paused_by="ada", ready=1)],
        WorkerCounts(alive=1, silent=0, lost=1),
    )
    assert found.state == "attention"
    assert {sentence.link: sentence.text for sentence in found.sentences} == {
        f"/sources/{SOME}": "Mail: it needs you",
        "/documents?status=failed": "1 document failed.",
        "/failures?kind=task": "12,000 tasks are dead letters.",
        "/workers": "1 worker stopped answering within the last day.",
        "/queues/sms": "The queue sms was paused by ada; 1 task is ready in it.",
        f"/documents/{SOME}": "A document has waited for 120 minutes.",
    }
