"""Asks SQS whether an inlet's queue has a place for dead letters, where a person looks at the inlet."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from penstock.errors import PenstockError
from penstock.inlets.sqs_queue import queue_of
from penstock.settings import Settings

KINDS: Final = frozenset({"s3", "sqs"})
ASK_SECONDS: Final = 5.0
REMEDY: Final = (
    "Give the queue a dead-letter queue: set its RedrivePolicy (deadLetterTargetArn, maxReceiveCount)"
)


async def missing_redrive(settings: Settings, kind: str, config: Mapping[str, Any]) -> str | None:
    """What follows from the queue's lack of a redrive policy; None if it has one, or nobody can tell here.

    The process that reads the inlet may be the only one with the credentials: then its log says it.
    """
    if kind not in KINDS:
        return None
    try:
        queue = queue_of(settings, config)
        if await asyncio.wait_for(queue.has_redrive(), ASK_SECONDS):
            return None
    except (PenstockError, TimeoutError):
        return None
    blocks = " and blocks its group" if queue.is_fifo else ""
    return (
        "its queue has no redrive policy: a refused message comes again every"
        f" {queue.visibility} s{blocks}, until SQS expires it"
    )
