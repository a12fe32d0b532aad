"""A tenant that sends messages through a provider on loopback, and what the database has on each."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, cast

from penstock.db import Connection
from penstock.processes.messages import Sent
from penstock.simulators import Fault, SmsGatewaySimulator, serving
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.smtp import STALL, MailServer, mail_server
from tests.plugins.workers import eventually

Kind: TypeAlias = Literal["email", "sms"]
KINDS: tuple[Kind, ...] = ("email", "sms")

OVER = """
select not exists (select from internal.open_root)
  and not exists (select from queues.waiting) and not exists (select from queues.ready)
  and not exists (select from queues.lease) and not exists (select from queues.parked)
"""


class Provider(Protocol):
    """Somebody else's server: what it took, and how it fails next."""

    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def taken(self) -> list[str]:
        """The text of each message it took, in order."""

    def fail(self, times: int = 1) -> None:
        """Fail the next calls in a way that may pass."""

    def stall(self) -> None:
        """Never answer the next call."""

    @property
    def stalled(self) -> bool: ...
    @property
    def nobody(self) -> str:
        """A recipient it refuses for good."""


@dataclass(slots=True)
class Mail:
    server: MailServer
    nobody: str = "nobody@example.org"

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.server.settings

    @property
    def taken(self) -> list[str]:
        return [str(each.message["Subject"]) for each in self.server.received]

    def fail(self, times: int = 1) -> None:
        self.server.answer("DATA", "451 4.3.0 try later", times)

    def stall(self) -> None:
        self.server.answer("DATA", STALL)

    @property
    def stalled(self) -> bool:
        return self.server.stalled.is_set()


@dataclass(slots=True)
class Gateway:
    simulator: SmsGatewaySimulator
    address: str
    nobody: str = "+123456"
    _calls_before: int = field(default=-1)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "sms_base_url": self.address,
            "sms_account_sid": self.simulator.account,
            "sms_auth_token": self.simulator.token,
            "sms_from": "+15005550006",
        }

    @property
    def taken(self) -> list[str]:
        return [each.body for each in self.simulator.messages]

    def fail(self, times: int = 1) -> None:
        self.simulator.faults.add(Fault("status", 503), times)

    def stall(self) -> None:
        self.simulator.faults.add(Fault("slow"))
        self._calls_before = self.simulator.calls

    @property
    def stalled(self) -> bool:
        return self.simulator.calls > self._calls_before >= 0


@asynccontextmanager
async def provider_of(kind: Kind) -> AsyncIterator[Provider]:
    if kind == "email":
        async with mail_server() as server:
            mail = Mail(server)
            server.refused[mail.nobody] = "550 5.1.1 no such user"
            yield mail
    else:
        simulator = SmsGatewaySimulator()
        async with serving(simulator.app) as address:
            yield Gateway(simulator, address)


@dataclass(frozen=True, slots=True)
class Facts:
    """What was written about one process."""

    attempts: int
    failed: int
    succeeded: int
    retriable: tuple[bool, ...] = ()


@dataclass(slots=True)
class Messaging:
    """The engine with one provider; the administrator reads the facts."""

    kind: Kind
    provider: Provider
    works: Works
    admin: Connection

    @property
    def process(self) -> str:
        return f"comms.send_{self.kind}"

    def handler(self, part: Literal["get", "success", "failure"]) -> str:
        return f"comms.get_{self.kind}_payload" if part == "get" else f"comms.record_{self.kind}_{part}"

    async def send(self, text: str = "The sluice is open", *, to: str | None = None) -> Sent:
        messages = self.works.engine.messages
        if self.kind == "email":
            to = to or "miller@example.org"
            return await messages.send_email(self.works.tenant_id, to=[to], subject=text, text="As it says.")
        return await messages.send_sms(self.works.tenant_id, to=to or "+4930123456", text=text)

    async def facts(self, sent: Sent) -> Facts:
        row = await self.admin.fetchrow(
            f"select count(*), count(f.created_at), count(s.created_at),"
            f" array_remove(array_agg(f.retriable order by a.send_{self.kind}_attempt_id), null)"
            f" from comms.send_{self.kind}_attempt a"
            f" left join comms.send_{self.kind}_attempt_failed f using (send_{self.kind}_attempt_id)"
            f" left join comms.send_{self.kind}_attempt_succeeded s using (send_{self.kind}_attempt_id)"
            f" where a.send_{self.kind}_task_id = $1",
            root_id(sent),
        )
        assert row is not None
        return Facts(row[0], row[1], row[2], tuple(row[3] or ()))

    async def state(self, sent: Sent) -> str:
        return (await self.works.engine.messages.show(self.works.tenant_id, sent.process_id)).state

    async def error(self, sent: Sent) -> str:
        shown = await self.works.engine.messages.show(self.works.tenant_id, sent.process_id)
        return shown.error_message or ""

    async def is_over(self) -> bool:
        """No process is open and nothing is left in the queue."""
        return cast("bool", await self.admin.fetchval(OVER))

    async def over(self, within: float = 15) -> None:
        await eventually(self.is_over, within=within, what="every process is over and the queue is empty")

    async def supervise(self, sent: Sent) -> str:
        """The status or outcome of a supervisor that is run by hand, out of turn."""
        async with self.works.engine.tenants.transaction(self.works.tenant_id) as conn:
            return cast(
                "str",
                await conn.fetchval(
                    "select coalesce(a -> 'payload' ->> 'outcome', a ->> 'status')"
                    " from internal.run_function($1, $2) as a",
                    f"{self.process}_supervisor",
                    f'{{"send_{self.kind}_task_id": {root_id(sent)}}}',
                ),
            )

    async def channel_task(self, sent: Sent) -> int:
        """The queue's task of the newest attempt."""
        return cast(
            "int",
            await self.admin.fetchval(
                f"select max(task_id) from comms.send_{self.kind}_attempt"
                f" where send_{self.kind}_task_id = $1",
                root_id(sent),
            ),
        )

    @asynccontextmanager
    async def replaced(self, function: str, body: str) -> AsyncIterator[None]:
        """Another body for a function of (jsonb) while the block runs."""
        name = f"{function}(jsonb)"
        written: str = await self.admin.fetchval("select pg_get_functiondef($1::regprocedure)", name)
        await self.admin.execute(
            f"create or replace function {function}(_payload jsonb) returns jsonb language plpgsql"
            f" security definer set search_path = pg_catalog, pg_temp as $$ begin {body} end $$"
        )
        yield
        await self.admin.execute(written)

    async def back_off(self, interval: str) -> None:
        """How long every process waits after a failure."""
        await self.admin.execute(
            "create or replace function internal.exponential(_first interval, _factor double precision,"
            " _most interval, _failures integer) returns interval language sql"
            f" immutable parallel safe as $$ select interval '{interval}' $$"
        )

    async def retry_at_once(self, task_type: str, attempts: int) -> None:
        """So often the queue itself runs a task again, without a pause."""
        retry = {"default": {"kind": "table", "delays": [0] * attempts}}  # a table's end is the last attempt
        await self.admin.execute(
            "update queues.task_type set max_attempts = $2, retry = $3 where task_type = $1",
            task_type,
            attempts,
            json.dumps(retry),
        )


def root_id(sent: Sent) -> int:
    return int(sent.process_id.partition("/")[2])


@asynccontextmanager
async def messaging(
    kind: Kind, database: Database, folder: Path, **settings: Any
) -> AsyncIterator[Messaging]:
    """A tenant and its provider; a failed attempt is made again after 50 ms."""
    async with (
        provider_of(kind) as provider,
        works_on(database, folder, **{"poll_interval": 0.2, **provider.settings, **settings}) as works,
        database.connect("admin", name="books") as admin,
    ):
        made = Messaging(kind, provider, works, admin)
        await made.back_off("50 milliseconds")
        yield made
