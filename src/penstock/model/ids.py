"""Distinct types for ids, and time-ordered UUIDs."""

from __future__ import annotations

import os
import time
from typing import NewType
from uuid import UUID

TaskId = NewType("TaskId", int)
LeaseId = NewType("LeaseId", int)
WorkerId = NewType("WorkerId", int)
QueueName = NewType("QueueName", str)
TenantId = NewType("TenantId", UUID)
ProjectId = NewType("ProjectId", UUID)
SourceId = NewType("SourceId", UUID)
DocumentId = NewType("DocumentId", UUID)
IngestionId = NewType("IngestionId", UUID)
KeyId = NewType("KeyId", UUID)


def uuid7() -> UUID:
    """A UUID version 7: 48 bits of milliseconds, then random bits, so that an index grows at its end."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    return UUID(int=(value & ~(0x3 << 62)) | (0x2 << 62))
