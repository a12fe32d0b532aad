"""Frozen types and ids that every room may use; standard library only."""

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
