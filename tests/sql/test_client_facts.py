"""Facts are rolled up to the same clients however often and in whatever order items arrive."""

from __future__ import annotations

import asyncio
import json
import random
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from penstock.db.connect import translated
from penstock.errors import InvalidArgument, NotFound
from tests.plugins.database import Database
from tests.sql.client_calls import ClientSource, company, connected, fact
from tests.sql.document_calls import document_calls, tenant_transaction

ACME = "companies/1"


def deal(number: int, client: str = ACME, amount: object = 10, at: int = 1) -> list[dict[str, object]]:
    item = f"deals/{number}"
    when = f"2026-01-{at:02}T00:00:00Z"
    return [
        fact(item, client, "open_deals", {"name": item}, rollup="list", as_of=when, keep=3),
        fact(item, client, "deal_amount", amount, as_of=when),
        fact(item, client, "total", amount, rollup="sum"),
    ]


async def test_a_deal_that_comes_before_its_company_is_rolled_up_when_the_company_comes(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        source = await connected(calls, await calls.create_tenant("t"), "hubspot")
        await source.put(["deals/1"], deal(1))
        assert await source.clients() == {}
        await source.put([ACME], company(ACME, "Acme", industry="steel", employees=7))
        row = (await source.clients())[ACME]
        assert (row["client_name"], row["industry"]) == ("Acme", "steel")
        assert row["key_facts"] == {
            "employees": 7,
            "open_deals": [{"name": "deals/1"}],
            "deal_amount": 10,
            "total": 10,
        }


async def test_the_same_items_again_write_nothing(database: Database) -> None:
    async with document_calls(database) as calls:
        source = await connected(calls, await calls.create_tenant("t"), "hubspot")
        facts = [*company(ACME, "Acme"), *deal(1), *deal(2, at=2)]
        await source.put([ACME, "deals/1", "deals/2"], facts)
        versions = (
            "select xmin::text from ingest.client_fact"
            " union all select xmin::text from ingest.client_intelligence"
        )
        before = [row[0] for row in await calls.admin.fetch(versions)]
        await source.put([ACME, "deals/1", "deals/2"], facts)
        assert [row[0] for row in await calls.admin.fetch(versions)] == before
        assert (await source.facts_of(ACME))["total"] == 20


async def test_a_changed_moved_or_deleted_item_is_counted_once_and_only_where_it_is(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        source = await connected(calls, await calls.create_tenant("t"), "hubspot")
        other = "companies/2"
        await source.put([ACME, other], [*company(ACME, "Acme"), *company(other, "Other")])
        await source.put(["deals/1", "deals/2"], [*deal(1, amount=5), *deal(2, amount=7, at=2)])
        await source.put(["deals/1"], deal(1, amount=6))
        assert (await source.facts_of(ACME))["total"] == 13
        assert (await source.facts_of(ACME))["deal_amount"] == 7
        await source.put(["deals/2"], deal(2, other, amount=7, at=2))
        assert (await source.facts_of(ACME))["total"] == 6
        assert (await source.facts_of(other))["open_deals"] == [{"name": "deals/2"}]
        await source.drop("deals/1", "deals/2")
        assert [await source.facts_of(client) for client in (ACME, other)] == [{}, {}]


async def test_a_client_goes_with_its_own_item_and_comes_back_with_the_same_id(database: Database) -> None:
    async with document_calls(database) as calls:
        source = await connected(calls, await calls.create_tenant("t"), "hubspot")
        await source.put([ACME, "deals/1"], [*company(ACME, "Acme"), *deal(1)])
        client_id = (await source.clients())[ACME]["client_id"]
        await source.drop(ACME)
        assert await source.clients() == {}
        await source.put([ACME], company(ACME, "Acme"))
        row = (await source.clients())[ACME]
        assert row["client_id"] == client_id
        assert row["key_facts"]["total"] == 10


async def test_a_list_keeps_the_newest_and_amounts_are_exact_and_not_mixed_between_currencies(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        source = await connected(calls, await calls.create_tenant("t"), "quickbooks")
        items = [f"deals/{n}" for n in range(1, 6)]
        cents = [fact for n in range(1, 6) for fact in deal(n, amount="0.10", at=n)]
        await source.put([ACME, *items], [*company(ACME, "Acme"), *cents])
        facts = await source.facts_of(ACME)
        assert facts["open_deals"] == [{"name": f"deals/{n}"} for n in (5, 4, 3)]
        assert facts["total"] == Decimal("0.50")

        def money(item: str, amount: str, currency: str | None) -> dict[str, object]:
            return fact(item, ACME, "value", {"amount": amount, "currency": currency}, rollup="sum")

        await source.put(["i/1", "i/2"], [money("i/1", "1.10", "USD"), money("i/2", "2.20", "USD")])
        assert (await source.facts_of(ACME))["value"] == Decimal("3.30")
        await source.put(["i/3", "i/4"], [money("i/3", "4", "EUR"), money("i/4", "1", None)])
        assert (await source.facts_of(ACME))["value"] == {"USD": Decimal("3.30"), "EUR": 4, "unknown": 1}


async def test_rows_of_a_person_and_of_another_tenant_are_never_touched(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant, other = await calls.create_tenant("t"), await calls.create_tenant("o")
        source, theirs = await connected(calls, tenant, "hubspot"), await connected(calls, other, "hubspot")
        await calls.admin.execute(
            "insert into ingest.client_intelligence"
            " (client_id, tenant_id, project_id, external_id, client_name, created_at, updated_at)"
            " values (gen_random_uuid(), $1, $2, $3, 'By hand', now(), now())",
            tenant.tenant_id,
            tenant.project_id,
            ACME,
        )
        await theirs.put([ACME], company(ACME, "Theirs"))
        await source.put([ACME], company(ACME, "Ours"))
        await source.drop(ACME)
        names = await calls.admin.fetch("select client_name from ingest.client_intelligence order by 1")
        assert [row[0] for row in names] == ["By hand", "Theirs"]
        with pytest.raises(NotFound), translated():
            await ClientSource(calls, tenant, theirs.source_id).put([ACME], company(ACME, "Stolen"))
        assert (await theirs.clients())[ACME]["client_name"] == "Theirs"


async def test_a_fact_of_an_item_that_is_not_replaced_is_rejected(database: Database) -> None:
    async with document_calls(database) as calls:
        source = await connected(calls, await calls.create_tenant("t"), "hubspot")
        with pytest.raises(InvalidArgument, match="deals/1"), translated():
            await source.put([ACME], [*company(ACME, "Acme"), *deal(1)])


async def test_a_deal_and_its_company_written_at_the_same_moment_find_each_other(database: Database) -> None:
    async with document_calls(database) as calls, database.connect("runtime") as second:
        tenant = await calls.create_tenant("t")
        source = await connected(calls, tenant, "hubspot")
        put = "select ingest.put_facts($1, $2, $3)"
        async with tenant_transaction(calls.runtime, tenant) as first:
            await first.execute(put, source.source_id, [ACME], json.dumps(company(ACME, "Acme")))

            async def state_deal() -> None:
                async with tenant_transaction(second, tenant):
                    await second.execute(put, source.source_id, ["deals/1"], json.dumps(deal(1)))

            waiting = asyncio.create_task(state_deal())
            blocked = (
                "select exists (select from pg_locks where locktype = 'advisory' and not granted and"
                " database = (select oid from pg_database where datname = current_database()))"
            )
            while not await calls.admin.fetchval(blocked):
                assert not waiting.done()
        await waiting
        assert (await source.facts_of(ACME))["total"] == 10


class Model:
    """What the clients should be, from the last version of every item."""

    def __init__(self) -> None:
        self.items: dict[str, list[dict[str, Any]]] = {}

    def clients(self) -> dict[str, tuple[str, dict[str, Any]]]:
        about: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
        for facts in self.items.values():
            for each in facts:
                about[each["client"]][each["name"]].append(each)
        return {
            client: (named[0]["value"], self._rolled(stated))
            for client, stated in about.items()
            if (named := [each for each in stated["client_name"] if each["item"] == client])
        }

    def _rolled(self, stated: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
        rolled: dict[str, Any] = {}
        for name, facts in stated.items():
            newest = sorted(facts, key=lambda each: (each.get("as_of") or "", each["item"]), reverse=True)
            if name == "total":
                rolled[name] = sum(each["value"] for each in facts)
            elif name == "open_deals":
                rolled[name] = [each["value"] for each in newest][: newest[0]["keep"]]
            elif name != "client_name" and newest:
                rolled[name] = newest[0]["value"]
        return rolled


async def test_random_batches_give_what_a_model_gives(database: Database) -> None:
    async with document_calls(database) as calls:
        source = await connected(calls, await calls.create_tenant("t"), "hubspot")
        model = Model()
        choice = random.Random(7)
        for _ in range(60):
            batch: dict[str, list[dict[str, Any]]] = {}
            for _ in range(choice.randint(1, 8)):
                client = f"companies/{choice.randint(1, 4)}"
                if choice.random() < 0.25:
                    batch[client] = company(client, choice.choice("ABC"), employees=choice.randint(1, 9))
                else:
                    number = choice.randint(10, 25)
                    batch[f"deals/{number}"] = deal(
                        number, client, choice.randint(1, 99), choice.randint(1, 28)
                    )
                if choice.random() < 0.2:
                    batch[choice.choice(list(batch))] = []
            for _ in range(choice.choice((1, 1, 2))):  # now and then the batch is delivered twice
                await source.put(list(batch), [each for facts in batch.values() for each in facts])
            model.items |= batch
            found = {
                key: (row["client_name"], row["key_facts"]) for key, row in (await source.clients()).items()
            }
            assert found == model.clients()
