"""What happens after an error: by table, not at all for some classes, or when the other side says so."""

import asyncio

from penstock import Context, NoRetry, Penstock, Table

app = Penstock()


class RateLimited(Exception):
    retry_after = 0.1  # seconds, as the other side asked; it goes before the table


@app.task(retry=Table((0, 0.1, 0.2)), retry_errors={ValueError: NoRetry()})
async def fetch(payload: dict[str, str], ctx: Context) -> None:
    print(f"run {ctx.attempt} of {payload['url']}")
    if payload["url"] == "busy" and ctx.attempt == 1:
        raise RateLimited
    if payload["url"] == "nonsense":
        raise ValueError("not an address")  # dead at once: a retry does not help


async def main() -> None:
    async with app:
        await fetch.enqueue_many([{"url": "good"}, {"url": "busy"}, {"url": "nonsense"}])
        worker = app.worker()
        await worker.start()
        async with app.transaction() as connection:
            pending = "select sum(ready + waiting + running) from queues.stats()"
            while await connection.fetchval(pending):  # noqa: ASYNC110  # it is the database we wait for
                await asyncio.sleep(0.05)
            print(await connection.fetchval("select error_code from queues.dead_letters()"), "is kept")
        await worker.stop()


asyncio.run(main())
