"""The settings of a source are changed by command and over HTTP, and a wrong one is named."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

from tests.integration.api_server import api_server, assert_problem, make_tenant
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database


def test_a_command_changes_shows_and_resets_settings_of_a_source(penstock: CommandLine) -> None:
    recorded = penstock.with_variables(PENSTOCK_INTEGRATIONS_USE_FIXTURES="true")
    added = recorded("source", "add", "gmail", "--no-wait")
    assert added.code == 0, added.err
    assert "defaults" in recorded("source", "configure", "gmail").out
    changed = recorded("source", "configure", "gmail", "mail_text=true", "threads=false", "--json")
    assert json.loads(changed.out)["config"] == {"mail_text": True, "threads": False}
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
