"""`penstock operation --wait` ends with the operation; its exit code says whether all went well."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.api_server import api_server
from tests.integration.test_operations import many_failed
from tests.plugins.busy import stretched
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.workers import eventually, working

pytestmark = pytest.mark.timeout(240)
DELETE = ("operation", "start", "documents.delete", "status=failed", "--tenant", "acme", "--yes", "--json")
FAILING = """
create function public.refuse() returns trigger language plpgsql as
$$ begin raise exception 'the disk is full'; end $$;
create trigger refuse before insert on ingest.document_event for each row execute function public.refuse();
"""


async def started(database: Database) -> str:
    """The operation, as soon as it is there."""
    found: list[str] = []

    async def is_there() -> bool:
        async with database.connect("admin") as admin:
            found[:] = [str(row[0]) for row in await admin.fetch("select operation_id from ingest.operation")]
        return bool(found)

    await eventually(is_there, within=stretched(60), every=0.1, what="an operation")
    return found[0]


async def ended(child: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    out, err = await asyncio.to_thread(child.communicate, timeout=stretched(60))
    assert out, err
    return child.returncode, json.loads(out)


async def test_with_wait_a_command_ends_with_the_operation_and_without_error_if_all_is_done(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        await many_failed(server, 3)
        with penstock.running(*DELETE, "--wait") as child:
            operation_id = await started(database)
            with penstock.running("operation", "show", operation_id, "--wait", "--json") as second:
                assert (child.poll(), second.poll()) == (None, None), "nobody has done it yet"
                async with working(server.engine.tasks, {"operate": 1}):
                    both = [await ended(child), await ended(second)]
    for code, shown in both:
        assert (code, shown["operation_id"], shown["state"]) == (0, operation_id, "done")
        assert (shown["total"], shown["done"], shown["failed"]) == (3, 3, 0)


async def test_with_wait_the_exit_code_tells_of_items_that_failed_and_of_a_cancelled_operation(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, database.connect("admin") as admin:
        await many_failed(server, 2)
        with penstock.running(*DELETE, "--wait") as child:
            cancelled = await started(database)
            assert penstock("operation", "cancel", cancelled).code == 0
            code, shown = await ended(child)
        assert (code, shown["operation_id"], shown["state"]) == (1, cancelled, "stopped")

        await admin.execute(FAILING)
        async with working(server.engine.tasks, {"operate": 1}):
            done = await asyncio.to_thread(penstock, *DELETE, "--wait")
    assert (done.code, done.json["done"], done.json["failed"]) == (1, 0, 2), done.err
    assert done.json["failed_reasons"] == [{"reason": "the disk is full", "count": 2}]
    failed = done.json["operation_id"]
    assert penstock("operation", "show", failed, "--wait").code == 1
    assert penstock("operation", "show", failed).code == 0, "it only looks"
