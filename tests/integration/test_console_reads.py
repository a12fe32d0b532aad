"""Whatever the console reads ends in time: a slow statement is stopped, and the answer says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.accounts.caller import TENANT_HEADER
from penstock.api import reading
from tests.integration.api_server import api_server, assert_problem
from tests.integration.console_client import signed_in
from tests.integration.console_routes import SAFE, guarded_calls
from tests.plugins.database import Database

if TYPE_CHECKING:
    import pytest

NOT_LIMITED = {"followChanges", "searchByAddress", "connectSource"}
"""A stream without an end, what has a limit of its own, and what leads to a provider."""
PATHS = {
    "showTask": "/v1/tasks/9",
    "showFailure": "/v1/failures/task-abcdefabcdef",
    "showProcess": "/v1/processes/comms.send_email/9",
}
AUTHENTICATE = ("accounts.tenant", "accounts.api_key", "accounts.session", "internal.operator_session")
"""What a request reads before anybody knows that it only reads."""
NOTHING_ELSE = {"listKeys", "showContact", "showSession", "listSourceKinds", "listSessions"}
"""Calls that read no other table."""


async def test_no_read_of_the_console_waits_for_a_slow_database(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "SECONDS", 0.05)
    reads: list[tuple[str, str, str, Any]] = [
        (call.operation_id, "GET", PATHS.get(call.operation_id, call.path), None)
        for call in guarded_calls()
        if call.method in SAFE and call.operation_id not in NOT_LIMITED
    ]
    reads.append(("previewOperation", "POST", "/v1/operations/preview", {"action": "tasks.cancel"}))
    async with (
        api_server(database, tmp_path) as server,
        server.client() as tenant,
        signed_in(server) as installation,
    ):
        assert (await installation.get("/v1/session")).status_code == 200
        async with locked(database):
            for client in (tenant, installation):
                for name, method, path, body in reads:
                    answer = await client.request(method, path, json=body)
                    if answer.status_code == 503:
                        assert "too long" in assert_problem(answer, 503)["detail"], path
                    elif client is installation and answer.status_code == 422:
                        assert_problem(answer, 422, TENANT_HEADER)
                    elif client is tenant and answer.status_code == 403:
                        assert_problem(answer, 403, "role")
                    else:
                        assert name in NOTHING_ELSE, f"{path}: {answer.text}"


@asynccontextmanager
async def locked(database: Database) -> AsyncIterator[None]:
    """Nobody can read a table, except what is read to know who asks."""
    async with database.connect("admin") as admin, admin.transaction():
        found = await admin.fetch(
            "select format('%I.%I', n.nspname, c.relname) as name from pg_class c"
            " join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p')"
            " and not c.relispartition and n.nspname = any ($1)",
            ["accounts", "comms", "files", "ingest", "internal", "queues", "search", "vault"],
        )
        names = [row["name"] for row in found if row["name"] not in AUTHENTICATE]
        await admin.execute(f"lock table {', '.join(names)} in access exclusive mode")
        yield
