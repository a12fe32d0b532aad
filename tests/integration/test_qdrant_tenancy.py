"""Tenants share a collection in Qdrant: every request has the tenant, and no figure is shared."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.errors import IndexUnavailable, NotFound
from penstock.model import TenantId
from tests.integration.qdrant_tenants import client, names, payloads, qdrant_tenant, simulated
from tests.plugins.database import Database
from tests.sql.indexed_tenant import chunks_of, indexed_tenant

SOURCE = Path(penstock.__file__).parent
ON_POINTS = {
    "upsert", "upload_points", "upload_collection", "batch_update_points", "update_vectors", "delete_vectors",
    "set_payload", "overwrite_payload", "delete_payload", "clear_payload", "query_points",
    "query_points_groups", "query_batch_points", "search", "search_batch", "recommend", "discover",
    "scroll", "retrieve", "facet",
    "search_matrix_pairs", "search_matrix_offsets", "delete", "count",
}  # fmt: skip
"""Methods of Qdrant's client that read or write points."""

FILTERS = {
    "set_payload": "points",
    "count": "count_filter",
    "query_points": "query_filter",
    "scroll": "scroll_filter",
}


def uses_on_points(path: Path) -> Iterator[ast.Attribute]:
    """Where one of these methods of something called client is named."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in ON_POINTS:
            target = node.value
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            if name.lstrip("_") == "client":
                yield node


def arguments_of(path: Path, used: ast.Attribute) -> dict[str | None, str]:
    """The keywords it is called with, directly or by partial()."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            parts = [node.func, *node.args[:1]]
            if any(ast.unparse(part) == ast.unparse(used) and part.lineno == used.lineno for part in parts):
                return {word.arg: ast.unparse(word.value) for word in node.keywords}
    raise AssertionError(f"{ast.unparse(used)} is not called where it is named")


def test_one_module_alone_sends_requests_about_points_and_gives_each_the_tenant() -> None:
    using = [path for path in SOURCE.rglob("*.py") if "simulators" not in path.parts]
    using = [path for path in using if "qdrant_client" in path.read_text()]
    home = SOURCE / "index" / "tenant_points.py"
    assert {path for path in using if any(uses_on_points(path))} == {home}
    used = list(uses_on_points(home))
    assert {use.attr for use in used} == {*FILTERS, "upsert", "delete"}
    for use in used:
        if use.attr in FILTERS:
            assert arguments_of(home, use)[FILTERS[use.attr]].startswith("self._mine("), ast.unparse(use)
    text = home.read_text()
    assert text.count("models.Filter(") == 1
    assert text.count("client.delete(self.collection, chosen, ") == 1
    assert "chosen = models.FilterSelector(filter=self._mine(within))" in text
    put = text[text.index("async def put(") : text.index("async def mark(")]
    assert put.index("self._check(points)") < put.index("client.upsert")


def conditions(body: Any) -> dict[str, Any]:
    """The equalities that a request demands."""
    chosen = getattr(body, "filter", None)
    assert chosen is not None, "a request without a filter"
    return {one.key: one.match for one in chosen.must if hasattr(one, "key")}


async def test_every_request_on_the_wire_names_the_tenant(database: Database) -> None:
    async with simulated() as (server, url), qdrant_tenant(database, url) as tenant:
        first = await tenant.put("alpha one", "alpha two")
        await tenant.stage(first, ["alpha three"], 2)
        await tenant.flip(first, 2)
        for mode in ("hybrid", "vector", "text"):
            await tenant.find("alpha", mode=mode)
        await tenant.index.maintain()
        await tenant.index.drop(tenant.tenant_id, first, [3])
        await tenant.delete(first)
        await tenant.index.drop_document(tenant.tenant_id, first)
        seen = {operation for operation, _, _ in server.requests}
        assert seen == {"look", "create", "index", "upsert", "query", "payload", "delete", "count", "list"}
        for operation, _, body in server.requests:
            if operation in ("query", "payload", "delete", "count"):
                assert conditions(body)["tenantId"].value == str(tenant.tenant_id)
            if operation == "upsert":
                assert {point.payload["tenantId"] for point in body.points} == {str(tenant.tenant_id)}


async def test_ids_of_another_tenant_reach_none_of_its_points(database: Database) -> None:
    from qdrant_client import models

    from penstock.index.qdrant_points import point_of
    from penstock.index.tenant_points import TenantPoints

    async with (
        simulated() as (_, url),
        qdrant_tenant(database, url) as tenant,
        indexed_tenant(database, "other", index=tenant.index) as other,
    ):
        theirs = await other.put("alpha of the other", title="Theirs")
        before = await payloads(other)
        await tenant.put("beta of ours")
        # Every call of the index, with a document of the other tenant.
        await tenant.index.drop(tenant.tenant_id, theirs, [1])
        with pytest.raises(NotFound):
            await tenant.stage(theirs, ["alpha taken over"], 2)
        await tenant.index.drop_document(tenant.tenant_id, theirs)
        await tenant.index.retire(tenant.tenant_id, theirs, [1])  # type: ignore[attr-defined]  # of Qdrant's index
        assert await tenant.found("alpha", document_ids=[theirs]) == []
        assert await tenant.found("alpha", mode="vector", document_ids=[theirs]) == []
        assert await payloads(other) == before
        assert await other.found("alpha") == [theirs]
        # And below it, past Postgres: the id of a point contains its tenant, and put() looks at the payload.
        (name,) = await names(tenant)
        mine = TenantPoints(client(tenant), name, tenant.tenant_id)
        vector = other.words.vector("alpha")
        chunk = chunks_of(["alpha"])[0]
        forged = point_of(tenant.tenant_id, tenant.project_id, theirs, 1, chunk, vector, {"alpha": 1.0})
        await mine.put([forged])
        assert await payloads(other) == before
        with pytest.raises(ValueError, match="not one of the tenant"):
            await mine.put([point_of(other.tenant_id, other.project_id, theirs, 1, chunk, vector, {})])
        assert await mine.count([models.HasIdCondition(has_id=[forged.id])]) == 1
        assert await TenantPoints(client(tenant), name, other.tenant_id).count() == 1


@pytest.mark.parametrize("place", ["server", "local"])
async def test_words_weigh_what_they_weigh_in_postgres_whatever_other_tenants_store(
    database: Database, place: str
) -> None:
    """`rare` is in every chunk of a large tenant and in one of the small one: with figures of the whole
    collection it would count as common."""
    async with (
        qdrant_tenant(database, place) as tenant,
        indexed_tenant(database, "large", index=tenant.index) as large,
        indexed_tenant(database, "inside") as inside,
    ):
        await large.put(*[f"rare thing {number}" for number in range(200)])
        texts = [
            *[f"common common word number{number} in a text" for number in range(30)],
            "rare word",
            "common rare long text with a number of words that nobody asks for",
        ]
        # A chunk is weighed with the average length at its indexing: index it again, once that is known.
        for one in (tenant, inside):
            document_id = await one.put(*texts)
            await one.admin.execute("select all_tenants.refresh_statistics()")
            await one.stage(document_id, texts, 2)
            await one.flip(document_id, 2)
        for query in ("rare common", "common", "rare text", "number7 common"):
            ours, theirs = [await one.find(query, mode="text", limit=40) for one in (tenant, inside)]
            assert [hit.ordinal for hit in ours] == [hit.ordinal for hit in theirs]
            assert [hit.text_score for hit in ours] == pytest.approx(
                [hit.text_score for hit in theirs], rel=1e-3
            )
        assert {hit.ordinal for hit in await tenant.find("rare common", mode="text", limit=2)} == {30, 31}


async def test_a_search_by_vector_looks_at_more_neighbours_than_it_returns(database: Database) -> None:
    """By default Qdrant looks at as many as are wanted, and misses one of ten among 100,000 chunks."""
    async with simulated() as (server, url), qdrant_tenant(database, url) as tenant:
        await tenant.put("alpha one")
        await tenant.find("alpha", mode="vector")
        (asked,) = [body for operation, _, body in server.requests if operation == "query"]
        assert (asked.limit, asked.params.hnsw_ef) == (100, 600)
        (made,) = [body for operation, _, body in server.requests if operation == "create"]
        assert made.hnsw_config.ef_construct == 200


async def test_collections_are_not_listed_for_each_call(database: Database) -> None:
    async with simulated() as (server, url), qdrant_tenant(database, url) as tenant:
        for number in range(5):
            await tenant.put(f"alpha {number}")
            await tenant.find("alpha")
        gone = await tenant.put("alpha gone")
        await tenant.delete(gone)
        await tenant.index.drop_document(tenant.tenant_id, gone)
        assert server.count("list") == 1  # for what may be left of the old layout
        assert server.count("look") == 1  # after it was created
        assert server.count("create") == 1


async def test_an_erasure_is_only_done_when_nothing_is_counted(database: Database) -> None:
    from penstock.simulators.qdrant_engine import Shard

    async with simulated() as (_, url), qdrant_tenant(database, url) as tenant:
        document_id = await tenant.put(*["alpha"] * 120)
        kept = await tenant.put("alpha kept")
        await tenant.delete(document_id)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Shard, "delete", lambda self, within: None)  # loses a request
            with pytest.raises(IndexUnavailable, match="120 points are still in"):
                await tenant.index.drop_document(tenant.tenant_id, document_id)
        await tenant.index.drop_document(tenant.tenant_id, document_id)
        left = [payload["documentId"] for payload in await payloads(tenant)]
        assert left == [str(kept)]


async def test_what_was_written_after_its_document_was_erased_is_taken_back(database: Database) -> None:
    """The crash of order: rows are staged, the document is erased, then the points are written."""
    from penstock.index.tenant_points import TenantPoints

    async with simulated() as (_, url), qdrant_tenant(database, url) as tenant:
        document_id = await tenant.document()
        put = TenantPoints.put

        async def late(self: TenantPoints, points: Any) -> None:
            await tenant.delete(document_id)
            await tenant.index.drop_document(TenantId(tenant.tenant_id), document_id)
            await put(self, points)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(TenantPoints, "put", late)
            await tenant.stage(document_id, ["alpha"])
        assert await payloads(tenant) == []


async def test_no_text_of_a_document_is_stored_in_qdrant(database: Database) -> None:
    """Its files keep deleted payloads until a segment is rewritten, so an erasure could not be promised."""
    async with simulated() as (server, url), qdrant_tenant(database, url) as tenant:
        await tenant.put("zebrafish in the weir", title="zebrafish")
        for shard in server.shards.values():
            shard.shard.flush()
        stored = b"".join(path.read_bytes() for path in server.folder.rglob("*") if path.is_file())
        assert str(tenant.tenant_id).encode() in stored
        assert b"zebrafish" not in stored
        assert b"weir" not in stored
