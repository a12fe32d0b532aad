"""Ids that must not be mixed up."""

from typing import NewType

TaskId = NewType("TaskId", int)
LeaseId = NewType("LeaseId", int)
WorkerId = NewType("WorkerId", int)
QueueName = NewType("QueueName", str)
