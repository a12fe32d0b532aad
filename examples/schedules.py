"""A cron line: each tick enqueues one task, however many workers run. Missed ticks are not made up."""

import asyncio

from penstock import Penstock

app = Penstock()
done = asyncio.Event()


@app.task()
async def report(payload: dict[str, str]) -> None:
    print(f"report for {payload['office']}")
    done.set()


app.schedule("0 7 * * mon-fri", report, {"office": "Graz"}, timezone="Europe/Vienna")


async def main() -> None:
    async with app:
        worker = app.worker()
        await worker.start()
        async with app.transaction() as connection:
            print("next:", await connection.fetchval("select next_at from queues.schedules()"))
        await report.enqueue({"office": "Graz"})  # without waiting for Monday
        await done.wait()
        await worker.stop()


asyncio.run(main())
