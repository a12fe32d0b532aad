"""The program of a worker process: task types that leave effects, take their time, or kill the worker."""

from __future__ import annotations

import asyncio
import os
import sys

from penstock import Context, Penstock, Table
from penstock.observe import configure

WRITE = "insert into public.effect (task_id, lease_id, worker_id, n, note) values ($1, $2, $3, $4, $5)"

app = Penstock()


@app.task("effect", retry=Table((0, 0, 0, 0, 0)), max_losses=100)
async def effect(payload: dict[str, float], ctx: Context) -> None:
    """Write once, in the transaction that completes the task."""
    async with ctx.transaction() as connection:
        await connection.execute(WRITE, ctx.task_id, ctx.lease_id, ctx.worker_id, int(payload["n"]), "effect")
        await asyncio.sleep(payload.get("seconds", 0))


@app.task("started", retry=Table((0, 0, 0, 0, 0)), max_losses=100)
async def started(payload: dict[str, float], ctx: Context) -> None:
    """Tell that it began, work a while, and complete in a group."""
    async with app.transaction() as connection:
        await connection.execute(
            WRITE, ctx.task_id, ctx.lease_id, ctx.worker_id, int(payload["n"]), "started"
        )
    await asyncio.sleep(payload.get("seconds", 0))


@app.task("plain", max_losses=100)
async def plain(payload: dict[str, float]) -> None:
    await asyncio.sleep(payload.get("seconds", 0))


@app.task("late", retry=Table((0, 0, 0, 0, 0)), max_losses=100)
async def late(payload: dict[str, float], ctx: Context) -> None:
    """Work first, and write once at the end."""
    await asyncio.sleep(payload.get("seconds", 0) if ctx.losses == 0 else 0)
    async with ctx.transaction() as connection:
        await connection.execute(WRITE, ctx.task_id, ctx.lease_id, ctx.worker_id, int(payload["n"]), "late")


@app.task("holding", retry=Table((0, 0, 0, 0, 0)), max_losses=100)
async def holding(payload: dict[str, float], ctx: Context) -> None:
    """Linger, in its first run, between closing the lease and committing: the lease's row is locked."""
    async with ctx.transaction() as connection:
        await connection.execute(
            WRITE, ctx.task_id, ctx.lease_id, ctx.worker_id, int(payload["n"]), "holding"
        )
        if ctx.losses == 0:
            await connection.execute("select queues.complete_here($1, $2)", ctx.worker_id, ctx.lease_id)
            async with app.transaction() as other:
                await other.execute(
                    WRITE, ctx.task_id, ctx.lease_id, ctx.worker_id, int(payload["n"]), "held"
                )
            await asyncio.sleep(60)


@app.task("innocent")
async def innocent(payload: dict[str, float], ctx: Context) -> None:
    """As `effect`, with the usual number of losses."""
    await asyncio.sleep(payload.get("seconds", 0))
    async with ctx.transaction() as connection:
        await connection.execute(WRITE, ctx.task_id, ctx.lease_id, ctx.worker_id, int(payload["n"]), "effect")


@app.task("poison")
async def poison(payload: dict[str, float]) -> None:
    os._exit(66)


async def main(concurrency: int) -> None:
    configure(app.settings.log_level, app.settings.log_format)
    async with app:
        await app.run_worker(["default"], concurrency=concurrency)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
