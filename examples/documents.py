"""A folder becomes searchable, in ten lines."""

import asyncio
from pathlib import Path

from penstock import Penstock

app = Penstock()
Path("contracts").mkdir(exist_ok=True)
Path("contracts/delivery.md").write_text("# Delivery\n\nIf the delivery is late, the supplier pays.\n")


async def main() -> None:
    async with app:
        await app.ingest("contracts/")
        for hit in await app.search("who pays when the delivery is late?"):
            print(hit.title, hit.page, hit.snippet)


asyncio.run(main())
