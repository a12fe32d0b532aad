"""Frozen types and ids that every package may use; standard library only."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.model.document import Attachment, Block, Chunk, DocumentStatus, IngestionStatus, Parsed
    from penstock.model.embedder import Embedded, Embedder, Purpose, Vector
    from penstock.model.ids import (
        DocumentId,
        IngestionId,
        KeyId,
        LeaseId,
        ProjectId,
        QueueName,
        SourceId,
        TaskId,
        TenantId,
        WorkerId,
        uuid7,
    )
    from penstock.model.lease import Lease
    from penstock.model.outcome import Cancel, Failure, Snooze
    from penstock.model.retry import Exponential, NoRetry, RetryPolicy, Table

__all__ = [
    "Attachment",
    "Block",
    "Cancel",
    "Chunk",
    "DocumentId",
    "DocumentStatus",
    "Embedded",
    "Embedder",
    "Exponential",
    "Failure",
    "IngestionId",
    "IngestionStatus",
    "KeyId",
    "Lease",
    "LeaseId",
    "NoRetry",
    "Parsed",
    "ProjectId",
    "Purpose",
    "QueueName",
    "RetryPolicy",
    "Snooze",
    "SourceId",
    "Table",
    "TaskId",
    "TenantId",
    "Vector",
    "WorkerId",
    "uuid7",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "document": ["Attachment", "Block", "Chunk", "DocumentStatus", "IngestionStatus", "Parsed"],
        "embedder": ["Embedded", "Embedder", "Purpose", "Vector"],
        "ids": [
            "DocumentId",
            "IngestionId",
            "KeyId",
            "LeaseId",
            "ProjectId",
            "QueueName",
            "SourceId",
            "TaskId",
            "TenantId",
            "WorkerId",
            "uuid7",
        ],
        "lease": ["Lease"],
        "outcome": ["Cancel", "Failure", "Snooze"],
        "retry": ["Exponential", "NoRetry", "RetryPolicy", "Table"],
    },
)
