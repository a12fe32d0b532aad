"""Clients by Python, HTTP and the command line: one client of several sources, each fact with its source."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InvalidArgument, NotFound
from penstock.model import SourceId
from penstock.search import SearchQuery
from penstock.sources.clients.embedding import ClientEmbedding
from tests.integration.api_server import api_server, assert_problem
from tests.integration.known_clients import RECORDS, know_clients, put_records
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.unit.golden_records import COMPANY


async def test_golden_records_become_one_client_with_its_facts(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works, database.connect("admin") as admin:
        await know_clients(admin, works.tenant_id)
        clients = works.engine.clients
        (listed,) = (await clients.list(works.tenant_id)).items
        assert (listed.name, listed.record_count, listed.sources) == (
            "Acme Inc.",
            3,
            ["hubspot", "quickbooks"],
        )
        client = await clients.show(works.tenant_id, await clients.find(works.tenant_id, "acme inc"))
        assert client.client_id == listed.client_id
        assert (client.industry, client.summary) == ("MACHINERY", "Makes anvils & rockets")
        facts = {fact.name: (fact.value, fact.source, list(fact.items)) for fact in client.facts}
        assert facts["deal_amount"] == (12000.1, "hubspot", ["deals/9"])
        assert facts["deal_stage"] == ("contractsent", "hubspot", ["deals/9"])
        assert facts["open_deals"][0][0]["name"] == "Anvil renewal"
        assert facts["employees"] == (250, "hubspot", ["companies/42"])
        assert facts["contact_role"] == ("CTO", "hubspot", ["contacts/7"])
        assert facts["total_lifetime_value"] == (99.95, "quickbooks", ["invoices/8"])
        assert facts["ar_balance"] == (310.7, "quickbooks", ["customers/3"])
        assert {reason.key for reason in client.reasons} == {"domain", "name"}
        with pytest.raises(NotFound, match="Bolt"):
            await clients.find(works.tenant_id, "Bolt")
        with pytest.raises(InvalidArgument, match="not a cursor"):
            await clients.list(works.tenant_id, cursor="x")


async def test_a_clients_text_is_embedded_once_and_again_only_when_it_changes(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, database.connect("admin") as admin:
        source_id = SourceId((await know_clients(admin, works.tenant_id))["hubspot"])
        embedding = ClientEmbedding(works.engine.tenants, works.engine.embedders)
        assert await embedding.refresh(works.tenant_id, source_id) == 2
        assert await embedding.refresh(works.tenant_id, source_id) == 0
        (hit, *_) = await works.find("who makes anvils", mode="vector", limit=1)
        assert hit.kind == "client"

        changed: dict[str, Any] = copy.deepcopy(COMPANY)
        changed["properties"]["description"] = "Grows tulips"
        await put_records(admin, works.tenant_id, source_id, {"hubspot.company": changed})
        assert await embedding.refresh(works.tenant_id, source_id) == 1
        # The text it had before is in the cache.
        await put_records(admin, works.tenant_id, source_id, {"hubspot.company": COMPANY})
        assert await embedding.refresh(works.tenant_id, source_id) == 0
        rows = await admin.fetch(
            "select embedding_model, embedding_text_sha256 = sha256(convert_to(ingest.client_embedding_text("
            "client_name, industry, summary, key_facts), 'utf8')) as fresh"
            " from ingest.client_intelligence where source_id = $1",
            source_id,
        )
        assert [row["fresh"] for row in rows] == [True, True]


async def test_a_text_that_changed_meanwhile_keeps_its_old_embedding(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, database.connect("admin") as admin:
        await know_clients(admin, works.tenant_id)
        client_id = await admin.fetchval("select client_id from ingest.client_intelligence limit 1")
        async with works.engine.tenants.transaction(works.tenant_id) as conn:
            stale = "select ingest.put_client_embeddings('m', $1, $2, $3)"
            assert await conn.fetchval(stale, [client_id], [b"other"], [b"\0\0"]) == 0
        assert await admin.fetchval("select count(embedding) from ingest.client_intelligence") == 0


async def test_the_budget_is_kept_and_the_sync_goes_on(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works, database.connect("admin") as admin:
        source_id = SourceId((await know_clients(admin, works.tenant_id))["hubspot"])
        await admin.execute("update accounts.tenant set monthly_token_budget = 1")
        embedding = ClientEmbedding(works.engine.tenants, works.engine.embedders)
        assert await embedding.refresh(works.tenant_id, source_id) == 0
        assert await admin.fetchval("select count(embedding) from ingest.client_intelligence") == 0
        assert len((await works.engine.clients.list(works.tenant_id)).items) == 1


async def test_clients_over_http(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as http,
        database.connect("admin") as admin,
    ):
        await know_clients(admin, server.tenant.tenant_id)
        (listed,) = (await http.get("/v1/clients", params={"query": "ACME"})).json()["items"]
        assert listed["record_count"] == 3
        assert (await http.get("/v1/clients", params={"query": "nobody"})).json() == {
            "items": [],
            "cursor": None,
        }
        url = f"/v1/clients/{listed['client_id']}"
        shown = (await http.get(url)).json()
        record = next(each for each in shown["records"] if each["external_id"] == "customers/3")
        alone = await http.post(f"{url}/split", json={"record_id": record["record_id"]})
        assert alone.status_code == 200, alone.text
        assert [each["external_id"] for each in alone.json()["records"]] == ["customers/3"]
        rest = next(each for each in shown["records"] if each["external_id"] == "companies/42")
        left = f"/v1/clients/{rest['record_id']}"
        assert (await http.get(left)).json()["record_count"] == 2
        again = await http.post(f"{left}/split", json={"record_id": record["record_id"]})
        assert_problem(again, 404, "record_id")
        joined = await http.post(
            f"/v1/clients/{rest['record_id']}/join", json={"other_id": record["record_id"]}
        )
        assert joined.json()["record_count"] == 3
        (reason,) = (each for each in joined.json()["reasons"] if each["key"] == "join")
        assert reason["decided_by"].startswith("key ")

        _, other_key = await server.another_tenant("other")
        async with server.client(other_key) as others:
            assert (await others.get("/v1/clients")).json()["items"] == []
            assert_problem(await others.get(url), 404, "client_id")
            body = {"record_id": record["record_id"]}
            assert_problem(await others.post(f"{url}/split", json=body), 404, "client_id")
        async with server.client(await server.another_key("documents:read")) as reader:
            assert (await reader.get(url)).status_code == 200
            body = {"other_id": record["record_id"]}
            assert (await reader.post(f"{url}/join", json=body)).status_code == 403
        assert_problem(await http.get("/v1/clients", params={"cursor": "x"}), 422, "cursor")


async def test_clients_are_listed_over_http_in_four_orders_page_by_page(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as http:
        names = ["Croft", "Alder", "Beck"]
        for name in names:
            assert (await http.post("/v1/clients", json={"name": name})).status_code == 201
        for sort, expected in {
            "name": sorted(names),
            "-name": sorted(names, reverse=True),
            "updated": names,
            "-updated": names[::-1],
        }.items():
            seen: list[str] = []
            cursor = None
            while len(seen) < 3:
                asked = {"sort": sort, "limit": "1"} | ({"cursor": cursor} if cursor else {})
                page = (await http.get("/v1/clients", params=asked)).json()
                seen += [row["name"] for row in page["items"]]
                cursor = page["cursor"]
            assert (seen, cursor) == (expected, None), sort
        by_name = (await http.get("/v1/clients", params={"limit": 1})).json()["cursor"]
        assert_problem(
            await http.get("/v1/clients", params={"sort": "updated", "cursor": by_name}), 422, "cursor"
        )
        assert_problem(await http.get("/v1/clients", params={"sort": "industry"}), 422, "sort")


@pytest.mark.timeout(120)
async def test_clients_on_the_command_line(database: Database, penstock: CommandLine) -> None:
    made = penstock("tenant", "create", "default", "--json").json
    async with database.connect("admin") as admin:
        await know_clients(admin, made["tenant_id"])
    (listed,) = penstock("client", "list", "--json").json["clients"]
    assert listed["name"] == "Acme Inc."
    shown = penstock("client", "show", "ACME")
    assert "Anvil renewal" in shown.out
    assert "invoices/8" in shown.out
    assert "3 records" in shown.out
    assert "3 records with the name acme" in shown.out
    details = penstock("client", "show", "acme inc", "--json").json
    record = next(each["record_id"] for each in details["records"] if each["source"] == "quickbooks")
    alone = penstock("client", "split", record, "--json").json
    assert alone["record_count"] == 1
    other = next(each["record_id"] for each in details["records"] if each["source"] == "hubspot")
    assert penstock("client", "join", record, other, "--json").json["record_count"] == 3
    missing = penstock("client", "show", "Nobody", "--json")
    assert missing.code != 0
    assert "Nobody" in missing.error["message"]
    assert set(RECORDS) == {each["source"] for each in details["records"]}


async def test_a_client_that_a_person_wrote_is_found_by_meaning_without_a_sync(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        clients, embedding = works.engine.clients, works.engine.source_sync.clients
        embedded = "select count(*) from ingest.client_vector"
        made = await clients.add(works.tenant_id, "Cedar Mill", summary="grinds rye by water")
        assert await works.value(embedded) == 0
        assert (await embedding.refresh_manual(), await works.value(embedded)) == (1, 1)
        assert await embedding.refresh_manual() == 0, "what is embedded is not embedded again"
        answer = await works.engine.search.search(
            works.tenant_id, SearchQuery(query="grinds rye by water", mode="vector")
        )
        assert answer.hits[0].client_id is not None
        await clients.change(works.tenant_id, made.client_id, {"summary": "saws oak by steam"})
        assert await embedding.refresh_manual() == 1
        assert await works.value(embedded) == 1
