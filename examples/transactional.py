"""A handler's writes and the end of its task are one commit: two runs, one receipt."""

import asyncio

from penstock import Context, Penstock, Table

app = Penstock()


@app.task()
async def send_receipt(payload: dict[str, int]) -> None:
    print(f"receipt for {payload['cents']} cents")


@app.task(retry=Table((0, 0)))
async def pay(payload: dict[str, int], ctx: Context) -> None:
    async with ctx.transaction() as connection:
        await send_receipt.enqueue(payload, conn=connection)  # or any write of yours
        if ctx.attempt == 1:
            raise ConnectionError("cut off before the commit: no receipt, and the task is not done")


async def main() -> None:
    async with app:
        await pay.enqueue({"cents": 4200})
        await app.run_worker(stop_when_empty=True)


asyncio.run(main())
