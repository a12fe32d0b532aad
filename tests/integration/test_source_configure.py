"""The settings of a source are changed by command and over HTTP, and a wrong one is named."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from uuid import uuid4

from tests.integration.api_server import api_server, assert_problem, make_tenant
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import works_on

BLOCKED = "select exists (select from pg_stat_activity a where $1 = any (pg_blocking_pids(a.pid)))"


def test_a_command_changes_shows_and_resets_settings_of_a_source(penstock: CommandLine) -> None:
    recorded = penstock.with_variables(PENSTOCK_INTEGRATIONS_USE_FIXTURES="true")
    added = recorded("source", "add", "gmail", "--no-wait")
    assert added.code == 0, added.err
    assert "defaults" in recorded("source", "configure", "gmail").out
    changed = recorded("source", "configure", "gmail", "mail_text=true", "threads=false", "--json")
    told = json.loads(changed.out)
    assert told["config"] == {"mail_text": True, "threads": False}
    assert told["classifier"] == "local"
    assert "classified by default: local" in recorded("source", "configure", "gmail").out
    off = recorded("source", "configure", "gmail", "classifier=off", "--json")
    assert json.loads(off.out)["classifier"] == "off"
    assert "off" in recorded("source", "show", "gmail").out
    recorded("source", "configure", "gmail", "classifier=null")
    assert "mail_text" in recorded("source", "configure", "gmail").out
    reset = recorded("source", "configure", "gmail", "threads=null", "--json")
    assert json.loads(reset.out)["config"] == {"mail_text": True}
    for wrong, named in (
        ("mail_text=often", "mail_text"),
        ("colour=blue", "colour"),
        ("threads", "NAME=VALUE"),
    ):
        refused = recorded("source", "configure", "gmail", wrong)
        assert refused.code != 0
        assert named in refused.err


async def test_settings_of_a_source_are_changed_over_http_by_its_own_tenant_only(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, integrations_use_fixtures=True) as server:
        source = await server.engine.sources.add(server.tenant.tenant_id, "gmail", {})
        path = f"/v1/sources/{source.source_id}/config"
        async with server.client() as client:
            answer = await client.put(path, json={"changes": {"mail_text": True}})
            assert answer.status_code == 200, answer.text
            assert answer.json()["config"] == {"mail_text": True}
            wrong = await client.put(path, json={"changes": {"rules": {"off": ["none_such"]}}})
            assert_problem(wrong, 422, "rules.off")
            missing = await client.put(f"/v1/sources/{uuid4()}/config", json={"changes": {}})
            assert missing.status_code == 404
        _, key = await make_tenant(database, server.engine.settings, "other")
        async with server.client(key) as other:
            assert (await other.put(path, json={"changes": {}})).status_code == 404


async def test_two_changes_of_a_source_at_a_time_both_hold(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path, integrations_use_fixtures=True) as works:
        sources, tenant_id = works.engine.sources, works.tenant_id
        source_id = (await sources.add(tenant_id, "gmail", {})).source_id
        async with database.connect("admin") as first, database.connect("admin") as watcher:
            async with first.transaction():
                await first.execute(
                    "update ingest.source set config = '{\"threads\": false}' where source_id = $1", source_id
                )
                second = asyncio.create_task(sources.configure(tenant_id, source_id, {"mail_text": True}))
                while not await watcher.fetchval(BLOCKED, first.get_server_pid()):
                    assert not second.done(), "it did not wait for the other change"
                    await asyncio.sleep(0.01)
            changed = await second
        assert changed.config == {"threads": False, "mail_text": True}
