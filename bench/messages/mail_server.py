"""A mail server in a process of its own: says its port, then, whenever asked by a line, what it has taken."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from email.parser import BytesHeaderParser
from typing import TYPE_CHECKING

from aiosmtpd.smtp import SMTP

if TYPE_CHECKING:
    from aiosmtpd.smtp import Envelope, Session


class Box:
    """Counts messages by their Message-ID and keeps nothing else."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802  # aiosmtpd's name
        assert isinstance(envelope.content, bytes)
        self.taken[str(BytesHeaderParser().parsebytes(envelope.content)["Message-ID"])] += 1
        return "250 taken"


def tell(**figures: int) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


async def serve() -> None:
    box = Box()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(box, hostname="bench", loop=loop), "127.0.0.1", 0)
    tell(port=server.sockets[0].getsockname()[1])
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        tell(taken=box.taken.total(), distinct=len(box.taken))
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
