"""The listener receives notifications, and receives them again after its connection was cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from penstock.db import Connection
from penstock.db.listener import Listener, ListenerState
from tests.plugins.database import Database

DEADLINE = 20


class Heard:
    """What the callbacks were told."""

    def __init__(self) -> None:
        self.notes: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.states: list[ListenerState] = []
        self.changed = asyncio.Condition()

    def note(self, channel: str, payload: str) -> None:
        self.notes.put_nowait((channel, payload))

    def state(self, state: ListenerState, _error: Exception | None) -> None:
        self.states.append(state)

    async def next(self) -> tuple[str, str]:
        return await asyncio.wait_for(self.notes.get(), DEADLINE)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110  # the listener's states are told by a plain callback
            await asyncio.sleep(0.01)


async def cut(connection: Connection, name: str) -> None:
    await connection.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name = $1 and datname = current_database()",
        name,
    )


async def test_a_killed_backend_is_replaced_and_the_next_notification_arrives(database: Database) -> None:
    heard = Heard()
    listener = Listener(
        database.runtime_url, ["gate"], heard.note, heard.state, application_name="ears", first_delay=0.01
    )
    async with database.connect() as connection:
        await listener.start()
        try:
            await asyncio.wait_for(listener.connected.wait(), DEADLINE)
            await connection.execute("select pg_notify('gate', 'one')")
            assert await heard.next() == ("gate", "one")

            await cut(connection, "ears")
            await until(lambda: heard.states.count(ListenerState.CONNECTED) == 2)
            await connection.execute("select pg_notify('gate', 'two')")
            assert await heard.next() == ("gate", "two")
        finally:
            await listener.stop()
    assert heard.states == [
        ListenerState.CONNECTED,
        ListenerState.LOST,
        ListenerState.CONNECTED,
        ListenerState.STOPPED,
    ]
    assert not listener.connected.is_set()


async def test_an_unreachable_server_is_tried_until_it_is_there(empty_database: Database) -> None:
    heard = Heard()
    url = empty_database.login_url("ghost", "boo")
    listener = Listener(url, ["gate"], heard.note, heard.state, first_delay=0.01, longest_delay=0.05)
    async with empty_database.connect() as connection:
        await listener.start()
        try:
            await until(lambda: heard.states.count(ListenerState.LOST) >= 3)
            await connection.execute("create role ghost login password 'boo'")
            await asyncio.wait_for(listener.connected.wait(), DEADLINE)
        finally:
            await listener.stop()
            await connection.execute("drop role ghost")


async def test_a_connection_that_no_longer_responds_is_detected(database: Database) -> None:
    """A proxy stops carrying bytes without closing: the half-open line of a dead peer."""
    heard = Heard()
    frozen = asyncio.Event()
    socket_path = database.server.url().split("host=")[1].split("&")[0] + "/.s.PGSQL.5432"
    open_lines: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stop: asyncio.Event) -> None:
        try:
            while data := await reader.read(65536):
                if not stop.is_set():
                    writer.write(data)
                    await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(socket_path)
        stop = asyncio.Event() if frozen.is_set() else frozen  # only lines opened before the freeze freeze
        for task in (
            asyncio.create_task(carry(reader, back, stop)),
            asyncio.create_task(carry(there, writer, stop)),
        ):
            open_lines.add(task)
            task.add_done_callback(open_lines.discard)

    proxy = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = proxy.sockets[0].getsockname()[1]
    listener = Listener(
        f"postgresql://penstock_runtime@127.0.0.1:{port}/{database.name}?sslmode=disable"
        f"&passfile={database.server.password_file}",
        ["gate"],
        heard.note,
        heard.state,
        check_seconds=0.05,
        check_timeout=0.3,
        first_delay=0.01,
    )
    try:
        await listener.start()
        await asyncio.wait_for(listener.connected.wait(), DEADLINE)
        frozen.set()
        await until(lambda: heard.states.count(ListenerState.CONNECTED) == 2)
    finally:
        await listener.stop()
        proxy.close()
        for task in list(open_lines):
            task.cancel()
        await asyncio.gather(*open_lines, return_exceptions=True)
    assert ListenerState.LOST in heard.states
