"""A task with a typed payload, enqueued in the caller's own transaction, and a worker until it is empty."""

import asyncio

from pydantic import BaseModel

from penstock import Penstock

app = Penstock()


class Welcome(BaseModel):
    email: str


@app.task()
async def send_welcome(payload: Welcome) -> None:
    print(f"Welcome, {payload.email}!")


async def main() -> None:
    async with app:
        async with app.transaction() as connection:
            await connection.execute("create temporary table customer (email text) on commit drop")
            await connection.execute("insert into customer values ('ada@example.com')")
            await send_welcome.enqueue(Welcome(email="ada@example.com"), conn=connection)
        await app.run_worker(stop_when_empty=True)


asyncio.run(main())
