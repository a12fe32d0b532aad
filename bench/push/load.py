"""Sends notifications at a fixed rate, whether answers come or not, and measures each from its due time."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from bench.push.plain_client import PlainClient

PATIENCE_SECONDS = 120


@dataclass(slots=True)
class Answers:
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def percentile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


async def notify(url: str, items: Sequence[dict[str, str]], rate: float, seconds: float) -> Answers:
    """`items` in turn, one per request."""
    answers = Answers()
    bodies = [json.dumps({"value": [item]}).encode() for item in items]
    client = PlainClient(url, "/webhooks/outlook")

    async def one(body: bytes, due: float) -> None:
        status = await client.post(body)
        answers.seconds.append(perf_counter() - due)
        answers.statuses[status] += 1

    try:
        began = perf_counter()
        async with asyncio.timeout(seconds + PATIENCE_SECONDS), asyncio.TaskGroup() as group:
            for number in range(int(rate * seconds)):
                due = began + number / rate
                if (wait := due - perf_counter()) > 0:
                    await asyncio.sleep(wait)
                group.create_task(one(bodies[number % len(bodies)], due))
    finally:
        client.close()
    return answers
