"""Rows about one client are grouped by what they share, and stay as a person decided."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from penstock.db.connect import translated
from penstock.errors import InvalidArgument, InvalidMove, NotFound
from tests.plugins.database import Database
from tests.sql.client_calls import ClientSource, company, connected, contact, fact, grouped
from tests.sql.document_calls import DocumentCalls, Tenant, decoded, document_calls


def domain_key(item: str, domain: str) -> dict[str, object]:
    return fact(item, item, "key.domain", domain, rollup="key")


async def names_of_groups(calls: DocumentCalls, tenant: Tenant) -> set[frozenset[str]]:
    """The groups as sets of external ids."""
    rows = await calls.admin.fetch("select client_id, external_id from ingest.client_intelligence")
    names = {row["client_id"]: row["external_id"] for row in rows}
    return {frozenset(names[each] for each in members) for members in (await grouped(calls, tenant)).values()}


async def test_one_client_across_sources_by_domain_email_and_name(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("t")
        hubspot = await connected(calls, tenant, "hubspot")
        books = await connected(calls, tenant, "quickbooks")
        acme = [*company("companies/1", "Acme Inc."), domain_key("companies/1", "acme.com")]
        await hubspot.put(["companies/1"], acme)
        await hubspot.put(["contacts/1"], contact(1, "Acme machines", "acme.com"))
        await books.put(["customers/1"], company("customers/1", "ACME, GmbH & Co. KG"))
        await books.put(["customers/2"], company("customers/2", "Other Ltd"))
        assert await names_of_groups(calls, tenant) == {
            frozenset({"companies/1", "contacts/1", "customers/1"}),
            frozenset({"customers/2"}),
        }
        (group,) = (key for key, members in (await grouped(calls, tenant)).items() if len(members) == 3)
        shown = await calls.of(tenant, "ingest.show_client", UUID(group))
        assert [(each["key"], each["value"], each["record_count"]) for each in shown["reasons"]] == [
            ("domain", "acme.com", 2),
            ("name", "acme", 2),
        ]
        assert shown["reasons"][0]["origins"] == ["domain", "email_domain"]
        assert {each["source"] for each in shown["records"]} == {"hubspot", "quickbooks"}


NAMES = {
    "ACME, Inc.": "acme",
    "Acme GmbH & Co. KG": "acme",
    "The Müller A.G.": "muller",
    "L'Oréal S.A.": "loreal",
    "Smith & Sons Ltd": "smith and sons",
    "株式会社トヨタ": "株式会社トヨタ",
    "Co": "co",
    "n/a": None,
    "-": None,
    "Self-employed": None,
}


async def test_names_are_compared_without_case_punctuation_and_legal_form(database: Database) -> None:
    async with database.connect("admin") as admin:
        found = {name: await admin.fetchval("select ingest.normal_name($1)", name) for name in NAMES}
    assert found == NAMES


async def test_public_mail_domains_and_placeholders_join_nobody(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("t")
        source = await connected(calls, tenant, "hubspot")
        await source.put(
            ["contacts/1", "contacts/2", "contacts/3", "contacts/4"],
            [
                *contact(1, "One", "gmail.com"),
                *contact(2, "Two", "gmail.com"),
                *contact(3, "n/a"),
                *contact(4, "N/A"),
            ],
        )
        assert len(await grouped(calls, tenant)) == 4


async def test_a_group_divides_when_what_held_it_together_goes(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("t")
        source = await connected(calls, tenant, "hubspot")
        await source.put(["contacts/1", "contacts/2"], [*contact(1, "Acme"), *contact(2, "Bolt", "bolt.io")])
        assert len(await grouped(calls, tenant)) == 2
        await source.put(["contacts/3"], contact(3, "Acme", "bolt.io"))
        ((merged, members),) = (await grouped(calls, tenant)).items()
        assert len(members) == 3
        # An id that was known before the merge still leads to the client.
        for each in members:
            assert (await calls.of(tenant, "ingest.show_client", each))["client_id"] == merged
        await source.put(["contacts/3"], contact(3, "Acme", "other.io"))
        assert await names_of_groups(calls, tenant) == {
            frozenset({"contacts/1", "contacts/3"}),
            frozenset({"contacts/2"}),
        }
        await source.drop("contacts/1", "contacts/3")
        assert await names_of_groups(calls, tenant) == {frozenset({"contacts/2"})}
        assert await calls.admin.fetchval("select count(*) from ingest.client_group") == 1


async def ids(source: ClientSource) -> dict[str, UUID]:
    return {name: row["client_id"] for name, row in (await source.clients()).items()}


async def test_what_a_person_joined_or_split_stays_over_later_syncs(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("t")
        source = await connected(calls, tenant, "hubspot")
        first = [*contact(1, "Acme"), *contact(2, "Acme"), *contact(3, "Bolt")]
        await source.put(["contacts/1", "contacts/2", "contacts/3"], first)
        of = await ids(source)
        joined = await calls.of(tenant, "ingest.join_clients", of["contacts/1"], of["contacts/3"], "ada")
        shown = await calls.of(tenant, "ingest.show_client", joined)
        assert shown["record_count"] == 3
        assert [each["decided_by"] for each in shown["reasons"] if each["key"] == "join"] == ["ada"]
        await calls.of(tenant, "ingest.split_client", of["contacts/2"], "ada")
        decided = {frozenset({"contacts/1", "contacts/3"}), frozenset({"contacts/2"})}
        assert await names_of_groups(calls, tenant) == decided

        # All of it goes and comes back, under other names.
        await source.drop("contacts/1", "contacts/2", "contacts/3")
        assert await grouped(calls, tenant) == {}
        again = [*contact(1, "Acme Ltd", "acme.com"), *contact(2, "Acme", "acme.com"), *contact(3, "Bolt")]
        await source.put(["contacts/1", "contacts/2", "contacts/3"], again)
        assert await names_of_groups(calls, tenant) == decided
        assert (await calls.of(tenant, "ingest.show_client", of["contacts/2"]))["record_count"] == 1

        # A row that was split off can be joined again, and brings nobody with it.
        await calls.of(tenant, "ingest.join_clients", of["contacts/2"], of["contacts/3"])
        assert len(await grouped(calls, tenant)) == 1
        with pytest.raises(InvalidMove, match="already one client"), translated():
            await calls.of(tenant, "ingest.join_clients", of["contacts/1"], of["contacts/2"])
        await calls.of(tenant, "ingest.split_client", of["contacts/2"])
        with pytest.raises(InvalidMove, match="of its own already"), translated():
            await calls.of(tenant, "ingest.split_client", of["contacts/2"])


async def test_whichever_row_is_split_off_each_part_is_shown_under_its_own_id_and_can_be_joined_again(
    database: Database,
) -> None:
    """The row that the group began with, too: neither part may be taken for the other."""
    async with document_calls(database) as calls:
        for place in range(3):
            tenant = await calls.create_tenant(f"t{place}")
            source = await connected(calls, tenant, "hubspot")
            rows = [*contact(1, "Acme"), *contact(2, "Acme"), *contact(3, "Acme")]
            await source.put(["contacts/1", "contacts/2", "contacts/3"], rows)
            (whole,) = await grouped(calls, tenant)
            row = sorted((await ids(source)).values())[place]
            alone = await calls.of(tenant, "ingest.split_client", row)
            for client, count in ((whole, 2), (alone, 1)):
                shown = await calls.of(tenant, "ingest.show_client", client)
                assert (shown["client_id"], shown["record_count"]) == (str(client), count)
            joined = await calls.of(tenant, "ingest.join_clients", alone, whole)
            assert (await calls.of(tenant, "ingest.show_client", joined))["record_count"] == 3


async def test_another_tenants_clients_are_neither_joined_nor_shown(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant, other = await calls.create_tenant("t"), await calls.create_tenant("o")
        source, theirs = await connected(calls, tenant, "hubspot"), await connected(calls, other, "hubspot")
        await source.put(["contacts/1"], contact(1, "Acme", "acme.com"))
        await theirs.put(["contacts/1"], contact(1, "Acme", "acme.com"))
        ours = (await ids(source))["contacts/1"]
        foreign = (await ids(theirs))["contacts/1"]
        assert [len(await grouped(calls, each)) for each in (tenant, other)] == [1, 1]
        for call in ("ingest.show_client", "ingest.split_client"):
            with pytest.raises(NotFound), translated():
                await calls.of(tenant, call, foreign)
        with pytest.raises(NotFound), translated():
            await calls.of(tenant, "ingest.join_clients", ours, foreign)
        assert [row[0] for row in await calls.rows(tenant, "ingest.list_clients")] != []
        assert str(foreign) not in str(await calls.rows(tenant, "ingest.list_clients"))


async def test_clients_are_listed_by_name_page_by_page(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("t")
        source = await connected(calls, tenant, "hubspot")
        names = ["Delta", "alpha", "Charlie", "Bravo", "Bravo Inc"]
        items = [f"contacts/{n}" for n in range(5)]
        await source.put(items, [each for n, name in enumerate(names) for each in contact(n, name)])
        await grouped(calls, tenant)
        page = [decoded(row[0]) for row in await calls.rows(tenant, "ingest.list_clients", limit=2)]
        assert [each["name"] for each in page] == ["alpha", "Bravo"]  # type: ignore[index]
        last = page[-1]
        rest = await calls.rows(
            tenant,
            "ingest.list_clients",
            after_name=last["name_key"],  # type: ignore[index]
            after_id=UUID(last["client_id"]),  # type: ignore[index]
        )
        assert [decoded(row[0])["name"] for row in rest] == ["Charlie", "Delta"]  # type: ignore[index]
        found = await calls.rows(tenant, "ingest.list_clients", query="BRAVO inc")
        assert [decoded(row[0])["record_count"] for row in found] == [2]  # type: ignore[index]


async def test_clients_are_listed_in_each_order_by_an_index(database: Database) -> None:
    many = """
    insert into ingest.client_group (group_id, tenant_id, client_name, name_key, record_count, updated_at)
    select internal.uuid7(), $1, n::text, n::text, 1, now() - n * interval '1 second'
    from generate_series(1, 20000) n
    """
    read = """
    select seq_tup_read + idx_tup_fetch from pg_stat_user_tables where relid = 'ingest.client_group'::regclass
    """
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("t")
        await calls.admin.execute(many, tenant.tenant_id)
        await calls.admin.execute("analyze ingest.client_group")
        for sort, expected in {
            "name": ["1", "10", "100", "1000"],
            "-name": ["9999", "9998", "9997", "9996"],
            "updated": ["20000", "19999", "19998", "19997"],
            "-updated": ["1", "2", "3", "4"],
        }.items():
            found: list[dict[str, Any]] = []
            before = await _counted(calls, read)
            while len(found) < 4:
                last = found[-1] if found else None
                page = await calls.rows(
                    tenant,
                    "ingest.list_clients",
                    sort=sort,
                    limit=2,
                    after_name=last and last["name_key"],
                    after_id=last and UUID(last["client_id"]),
                    after_at=last and datetime.fromisoformat(last["updated_at"]),
                )
                found += [json.loads(row[0]) for row in page]
            assert [each["name"] for each in found] == expected, sort
            assert await _counted(calls, read) - before < 20, sort
        with pytest.raises(InvalidArgument, match="'--name' is not an order of clients"), translated():
            await calls.rows(tenant, "ingest.list_clients", sort="--name")


async def _counted(calls: DocumentCalls, statement: str) -> int:
    for connection in (calls.runtime, calls.admin):
        await connection.fetch("select pg_stat_force_next_flush()")
    return int(await calls.admin.fetchval(statement))


async def test_removing_a_source_with_its_clients_leaves_nothing_of_them(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("t")
        source = await connected(calls, tenant, "hubspot")
        await source.put(["contacts/1", "contacts/2"], [*contact(1, "Acme"), *contact(2, "Bolt")])
        of = await ids(source)
        await calls.of(tenant, "ingest.join_clients", of["contacts/1"], of["contacts/2"])
        await calls.admin.execute(f"select set_config('penstock.tenant_id', '{tenant.tenant_id}', false)")
        await calls.admin.execute("select ingest.drop_clients($1)", source.source_id)
        await grouped(calls, tenant)
        for table in ("fact", "intelligence", "change", "key", "member", "group", "join", "apart", "text"):
            assert await calls.admin.fetchval(f"select count(*) from ingest.client_{table}") == 0, table


class Model:
    """The rows' keys, a person's decisions, and the groups they make."""

    def __init__(self) -> None:
        self.keys: dict[str, set[str]] = {}
        self.joins: list[frozenset[str]] = []
        self.apart: set[str] = set()

    def groups(self) -> set[frozenset[str]]:
        holders: dict[object, set[str]] = defaultdict(set)
        for row, keys in self.keys.items():
            for key in () if row in self.apart else keys:
                holders[key].add(row)
        for join in self.joins:
            holders[join] = {row for row in join if row in self.keys}
        found: list[set[str]] = [{row} for row in self.keys]
        for rows in holders.values():
            touched = [group for group in found if group & rows]
            if len(touched) > 1:
                found = [group for group in found if not group & rows]
                found.append(set().union(*touched))
        return {frozenset(group) for group in found}


async def test_random_changes_give_the_groups_of_a_model(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("t")
        source = await connected(calls, tenant, "hubspot")
        model = Model()
        choice = random.Random(11)
        known: dict[str, UUID] = {}
        seen: set[tuple[int, int]] = set()
        for step in range(120):
            match choice.choice(("put", "put", "put", "drop", "join", "split")):
                case "put":
                    batch = {
                        n: (
                            choice.choice("ABCDEFGHIJKLMNOP") * 3,
                            choice.choice((None, None, "u.io", "v.io", "w.io", "x.io", "y.io", "z.io")),
                        )
                        for n in choice.sample(range(20), choice.randint(1, 4))
                    }
                    facts = [each for n, (name, domain) in batch.items() for each in contact(n, name, domain)]
                    await source.put([f"contacts/{n}" for n in batch], facts)
                    for n, (name, domain) in batch.items():
                        model.keys[f"contacts/{n}"] = {name} | ({domain} if domain else set())
                case "drop":
                    gone = choice.sample(range(20), choice.randint(1, 4))
                    await source.drop(*(f"contacts/{n}" for n in gone))
                    for n in gone:
                        model.keys.pop(f"contacts/{n}", None)
                case "join" if len(model.joins) < 4 and len(model.groups()) > 1:
                    one, other = choice.sample(sorted(map(sorted, model.groups())), 2)
                    first, second = choice.choice(one), choice.choice(other)
                    await calls.of(tenant, "ingest.join_clients", known[first], known[second])
                    model.joins.append(frozenset({first, second}))
                case "split":
                    groups = [group for group in model.groups() if len(group) > 1]
                    if groups and len(model.apart) < 4:
                        row = choice.choice(sorted(choice.choice(sorted(map(sorted, groups)))))
                        await calls.of(tenant, "ingest.split_client", known[row])
                        model.apart.add(row)
                        model.joins = [join for join in model.joins if row not in join]
            known |= await ids(source)
            if choice.random() < 0.6 or step == 119:  # otherwise changes of several steps are grouped at once
                sizes = sorted(map(len, model.groups()))
                seen.add((len(sizes), sizes[-1] if sizes else 0))
                assert await names_of_groups(calls, tenant) == model.groups(), step
        assert len(seen) > 20
        counts = await calls.admin.fetch(
            "select group_id::text, record_count from ingest.client_group order by 1"
        )
        assert {row["group_id"]: row["record_count"] for row in counts} == {
            key: len(members) for key, members in (await grouped(calls, tenant)).items()
        }
