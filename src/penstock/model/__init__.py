"""Frozen types and ids that every room may use; standard library only."""

from penstock.model.ids import LeaseId, QueueName, TaskId, WorkerId
from penstock.model.lease import Lease
from penstock.model.outcome import Cancel, Failure, Snooze
from penstock.model.retry import Exponential, NoRetry, RetryPolicy, Table

__all__ = [
    "Cancel",
    "Exponential",
    "Failure",
    "Lease",
    "LeaseId",
    "NoRetry",
    "QueueName",
    "RetryPolicy",
    "Snooze",
    "Table",
    "TaskId",
    "WorkerId",
]
