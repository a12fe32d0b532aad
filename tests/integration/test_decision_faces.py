"""What was not kept, over HTTP, by the client and by `penstock source`: listed, restored, rules changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from penstock.client import ApiProblem, Client
from penstock.model import uuid7
from penstock.simulators.llm import KEY, LlmSimulator
from penstock.simulators.serving import serving
from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.plugins.command_line import CommandLine, Ended
from tests.plugins.database import Database

pytestmark = pytest.mark.timeout(180)

NEWS = b"Our newsletter of this week. Unsubscribe from this newsletter at any time."


@asynccontextmanager
async def classifying(database: Database, folder: Path) -> AsyncIterator[ApiServer]:
    """An API whose classifier skips newsletters, with a worker."""
    async with serving(LlmSimulator().app) as url:
        settings = {
            "classifier": "llm",
            "classifier_url": f"{url}/v1",
            "classifier_api_key": KEY,
            "classifier_model": "simulated",
        }
        async with api_server(database, folder, **settings) as server, server.working():
            yield server


async def mailbox(server: ApiServer) -> UUID:
    """A mailbox that is not connected: its rules can be set all the same."""
    async with server.engine.tenants.transaction(server.tenant.tenant_id) as conn:
        row = await conn.fetchval(
            "select ingest.add_source($1, 'outlook', 'Office', 'default', $2, '{}', $3)",
            uuid7(),
            "office@northmill.example",
            timedelta(days=1),
        )
    return UUID(json.loads(row)["source_id"])


async def test_what_was_skipped_is_listed_and_restored_over_http(database: Database, tmp_path: Path) -> None:
    async with (
        classifying(database, tmp_path) as server,
        Client(server.url, server.key) as client,
        server.client() as plain,
    ):
        for number in range(3):
            await client.upload(NEWS + str(number).encode(), filename=f"news-{number}.txt", wait=60)
        first = await client.skipped(limit=2)
        assert first.cursor is not None
        rest = await client.skipped(cursor=first.cursor)
        found = [*first.items, *rest.items]
        assert [each.filename for each in found] == ["news-2.txt", "news-1.txt", "news-0.txt"]
        assert {(each.stage, each.name, each.state) for each in found} == {(2, "newsletter", "skipped")}

        restored = await client.restore(found[0].decision_id)
        assert (restored.state, await client.restore(found[0].decision_id)) == ("restored", restored)
        assert restored.document_id is not None
        assert (await client.wait(restored.document_id)).status == "indexed"

        source_id = await mailbox(server)
        elsewhere = f"/v1/sources/{source_id}/decisions/{found[1].decision_id}/restore"
        assert_problem(await plain.post(elsewhere), 404, "decision_id")
        assert_problem(await plain.post(f"/v1/decisions/{uuid4()}/restore"), 404, "decision_id")
        assert_problem(await plain.get("/v1/decisions", params={"cursor": "x"}), 422, "cursor")
        assert (await client.skipped(source_id)).items == []

        _, other = await server.another_tenant("other")
        async with Client(server.url, other) as stranger:
            assert (await stranger.skipped()).items == []
            for call in (stranger.restore(found[1].decision_id), stranger.skipped(source_id)):
                with pytest.raises(ApiProblem) as refused:
                    await call
                assert refused.value.status == 404
        key = await server.another_key("search")
        async with server.client(key) as reader:
            assert (await reader.get("/v1/decisions")).status_code == 403


async def test_rules_are_shown_and_changed_over_http(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        Client(server.url, server.key) as client,
        server.client() as plain,
    ):
        source_id = await mailbox(server)
        changed = await client.set_source_rules(
            source_id, off=["spam"], weights={"amount": 0.5}, block=["shop.example"]
        )
        assert {each.name: (each.action, each.weight) for each in changed.items if each.is_changed} == {
            "spam": ("off", None),
            "amount": ("on", 0.5),
        }
        assert await client.source_rules(source_id) == changed
        assert changed.block_senders == ("shop.example",)
        path = f"/v1/sources/{source_id}/rules"
        assert_problem(await plain.patch(path, json={"off": ["nonsense"]}), 422, "rules")
        assert_problem(await plain.patch(path, json={"weights": {"amount": -1}}), 422, "rules.weights.amount")
        assert await client.source_rules(source_id) == changed


async def test_the_commands_list_restore_and_change(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    async with (
        classifying(database, tmp_path) as server,
        Client(server.url, server.key) as client,
    ):
        await client.upload(NEWS, filename="news.txt", wait=60)
        await mailbox(server)

        async def source(*words: str) -> Ended:
            return await asyncio.to_thread(penstock, "source", *words, "--tenant", "acme")

        listed = await source("skipped", "--json")
        [decision] = listed.json["decisions"]
        assert (decision["name"], decision["filename"], decision["state"]) == (
            "newsletter",
            "news.txt",
            "skipped",
        )
        shown = await source("skipped")
        assert "news.txt" in shown.out
        for _ in range(2):
            done = await source("restore", decision["decision_id"])
            assert (done.code, done.out) == (0, "Restored news.txt: it is kept.\n"), done.err
        assert (await client.wait(decision["document_id"])).status == "indexed"

        rules = await source("rules", "outlook", "--off", "spam", "--weight", "amount=0.5", "--json")
        assert {each["name"] for each in rules.json["items"] if each["is_changed"]} == {"spam", "amount"}
        shown = await source("rules")
        counted = next(line for line in shown.out.splitlines() if " newsletter " in line)
        assert counted.split() == ["2", "newsletter", "skip", "-", "1", "1", "1"]
        wrong = await source("rules", "outlook", "--weight", "amount")
        assert "is not RULE=NUMBER" in wrong.err
        assert "per source" in (await source("rules", "--off", "spam")).err
        assert "there is no decision" in (await source("restore", str(uuid4()))).err
