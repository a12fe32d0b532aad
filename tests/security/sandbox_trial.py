"""Run as a program, as root or not: attacks from inside a sandbox, and what came of each as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
from pathlib import Path

from penstock.sandbox import Sandbox, process
from tests.security.hostile import ATTACKS, Target, attempt


async def trial(left_out: tuple[str, ...]) -> dict[str, str]:
    process.LEFT_OUT = left_out
    os.environ["SECRET"] = "SECRET"
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        key = Path(folder, "vault.key")
        key.write_text("key")
        unix_socket = str(Path(folder, "s"))
        abstract = f"penstock-{os.getpid()}"
        for address in (unix_socket, "\0" + abstract):
            server = opened.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(address)
            server.listen()
        tcp = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        target = Target(str(key), folder, os.getpid(), tcp.getsockname()[1], unix_socket, abstract)
        box = Sandbox(1, memory_mb=256)
        await box.start()
        outcomes = {"layers": repr(box.layers)}
        try:
            for name in ATTACKS:
                try:
                    outcomes[name] = await box.run(attempt, name, target, seconds=20)
                except Exception as error:  # noqa: BLE001  # shown by the test
                    outcomes[name] = f"broke: {error}"
        finally:
            await box.close()
        outcomes["the key"] = key.read_text()
        outcomes["the folder"] = " ".join(sorted(os.listdir(folder)))
        return outcomes


if __name__ == "__main__":
    print(json.dumps(asyncio.run(trial(tuple(sys.argv[1:])))))
