"""Adds the parser and the model to the attempts of a document's task, which its timeline knows."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from penstock.db import Connection
from penstock.documents.figures import Figures
from penstock.model.queue_names import INGEST
from penstock.queue.look_rows import TaskDetail


async def with_versions(connection: Connection, task: TaskDetail) -> TaskDetail:
    """The task; of one that processes a document, each attempt says what it parsed and embedded with."""
    document_id = task.payload.get("document_id") if isinstance(task.payload, dict) else None
    if task.task_type != INGEST or not task.attempts or not isinstance(document_id, str):
        return task
    try:
        known = await Figures(connection).run_versions(UUID(document_id), task.task_id)
    except ValueError:  # somebody enqueued it with something else than an id
        return task
    return replace(
        task,
        attempts=[
            replace(attempt, versions={**attempt.versions, **known.get(attempt.attempt, {})})
            for attempt in task.attempts
        ],
    )
