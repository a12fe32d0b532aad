"""A producer that knows no Python: sql_producer.sql enqueues, this worker runs it."""

import asyncio
from pathlib import Path

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
        async with app.transaction() as connection:  # psql would do as well
            script = Path(__file__).with_suffix(".sql").read_text()
            await connection.execute(script.replace("begin;", "").replace("commit;", ""))
        await app.run_worker(stop_when_empty=True)


asyncio.run(main())
