"""Search as the engine runs it: models, snippets, and one version of a document at any moment."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from pydantic import ValidationError

from penstock.errors import EmbedderFailed, NotFound
from penstock.model import Embedded, Purpose
from penstock.search import Search, SearchQuery, Snippet
from tests.plugins.database import Database
from tests.sql.indexed_tenant import Embedders, WordEmbedder, indexed_tenant


async def test_a_hit_says_where_it_is_and_why_it_was_found(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put(
            "nothing here", "the sluice & the <b>gate</b>", title="Mill", filename="mill.md"
        )
        answer = await tenant.search.search(tenant.tenant_id, SearchQuery(query="sluices"))
        hit = answer.hits[0]
        assert (hit.kind, hit.document_id, hit.ordinal) == ("chunk", document_id, 1)
        assert (hit.title, hit.filename, hit.mime_type) == ("Mill", "mill.md", "text/plain")
        assert (hit.heading_path, hit.page_from, hit.page_to) == (("Handbook", "Part 1"), 2, 2)
        assert hit.project_id == tenant.project_id
        assert hit.text_rank == 1
        assert hit.vector_rank is not None
        assert "<mark>sluice</mark> &amp; the" in hit.snippet.html
        assert "[sluice] & the" in hit.snippet.marked("[", "]")
        assert answer.model == tenant.words.model
        assert answer.took_ms > 0


async def test_marks_of_the_text_itself_do_not_forge_a_match(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("a \ue000forged\ue001 sluice")
        (hit,) = await tenant.find("sluice")
        assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == ["sluice"]


def test_a_snippet_keeps_the_text_around_its_marks() -> None:
    snippet = Snippet.parse("a \ue000b\ue001 & \ue000c\ue001")
    assert snippet.text == "a b & c"
    assert snippet.marks == ((2, 3), (6, 7))
    assert snippet.html == "a <mark>b</mark> &amp; <mark>c</mark>"


async def test_a_query_is_embedded_once_for_each_model_in_use(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("alpha")
        for slug in ("second", "third"):
            await tenant.admin.execute(
                "insert into accounts.project (project_id, tenant_id, slug, name, embedder, created_at)"
                " values (gen_random_uuid(), $1, $2, $2, 'words', now())",
                tenant.tenant_id,
                slug,
            )
        await tenant.find("alpha")
        assert tenant.words.calls == 1
        await tenant.find("alpha", mode="text")
        assert tenant.words.calls == 1


async def test_both_models_are_asked_while_a_project_changes_its_embedder(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("alpha")
        await tenant.admin.execute("update accounts.project set next_embedder = 'other'")
        await tenant.admin.execute("update ingest.chunk_vector set model = 'other-64'")
        answer = await tenant.search.search(tenant.tenant_id, SearchQuery(query="alpha", mode="vector"))
        assert answer.models == ("other-64", "words-64")
        assert answer.model is None
        assert [hit.document_id for hit in answer.hits] == [document_id]


async def test_a_search_by_words_needs_no_embedder(database: Database) -> None:
    class Broken(WordEmbedder):
        async def embed(self, texts: object, purpose: Purpose = "document") -> Embedded:
            raise EmbedderFailed(self.model, "it is down")

    async with indexed_tenant(database) as tenant:
        await tenant.put("alpha")
        search = Search(tenant.tenants, Embedders(words=cast("Any", Broken())), tenant.index)
        assert len((await search.search(tenant.tenant_id, SearchQuery(query="alpha", mode="text"))).hits) == 1
        for mode in ("hybrid", "vector"):
            answer = await search.search(tenant.tenant_id, SearchQuery(query="alpha", mode=mode))
            assert len(answer.hits) == 1
            assert answer.degraded == ("vector",)
            (missing,) = answer.unavailable
            assert (missing.embedder, missing.projects) == ("words", ("default",))
            assert "it is down" in missing.reason


async def test_a_slow_embedder_does_not_delay_a_search(database: Database) -> None:
    class Slow(WordEmbedder):
        is_remote = True

        async def embed(self, texts: object, purpose: Purpose = "document") -> Embedded:
            self.calls += 1
            await asyncio.Event().wait()
            raise AssertionError

    async with indexed_tenant(database) as tenant:
        await tenant.put("alpha")
        slow = Slow()
        search = Search(tenant.tenants, Embedders(words=cast("Any", slow)), tenant.index, embed_seconds=0.2)
        answer = await asyncio.wait_for(search.search(tenant.tenant_id, SearchQuery(query="alpha")), 5)
        assert (len(answer.hits), answer.degraded) == (1, ("vector",))
        assert "0.2 s" in answer.unavailable[0].reason


async def test_the_embedder_of_one_project_never_fails_a_search_over_others(database: Database) -> None:
    class Broken(WordEmbedder):
        model = "other-64"
        is_remote = True

        async def embed(self, texts: object, purpose: Purpose = "document") -> Embedded:
            raise EmbedderFailed(self.model, "it is down")

    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("alpha")
        await tenant.admin.execute(
            "insert into accounts.project (project_id, tenant_id, slug, name, embedder, created_at)"
            " values (gen_random_uuid(), $1, 'second', 'second', 'other', now())",
            tenant.tenant_id,
        )
        embedders = Embedders(words=tenant.words, other=cast("Any", Broken("other-64")))
        search = Search(tenant.tenants, embedders, tenant.index)
        answer = await search.search(tenant.tenant_id, SearchQuery(query="alpha", mode="vector"))
        assert [hit.document_id for hit in answer.hits] == [document_id]
        assert answer.models == (tenant.words.model,)
        assert answer.degraded == ("vector",)
        assert [(each.embedder, each.projects) for each in answer.unavailable] == [("other", ("second",))]
        # One that is not configured at all does no more harm.
        await tenant.admin.execute("update accounts.project set embedder = 'nowhere' where slug = 'second'")
        answer = await search.search(tenant.tenant_id, SearchQuery(query="alpha"))
        assert [hit.document_id for hit in answer.hits] == [document_id]


async def test_a_missing_project_is_reported(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        with pytest.raises(NotFound, match="no project"):
            await tenant.find("alpha", projects=["nowhere"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": "  "},
        {"query": "\x00"},
        {"query": "x" * 16_001},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 101},
        {"query": "x", "mode": "guess"},
        {"query": "x", "projects": []},
        {"query": "x", "metadata": {}},
        {"query": "x", "unknown": 1},
    ],
)
def test_an_invalid_query_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SearchQuery(**wrong)


async def test_a_search_all_through_a_reindex_finds_exactly_one_version(database: Database) -> None:
    """Each version has its own number of chunks, so a mixture would show."""
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("alpha version1", "alpha version1")
        done = asyncio.Event()
        seen: set[str] = set()

        async def reindex() -> None:
            for generation in range(2, 12):
                texts = [f"alpha version{generation}"] * (1 + generation % 4)
                await tenant.stage(document_id, texts, generation)
                await tenant.flip(document_id, generation)
                await tenant.index.maintain()
            done.set()

        async def look() -> None:
            while not done.is_set():
                hits = await tenant.find("alpha", limit=100)
                versions = {hit.text for hit in hits}
                assert len(versions) == 1, versions
                (version,) = versions
                number = int(version.removeprefix("alpha version"))
                assert len(hits) == (2 if number == 1 else 1 + number % 4)
                seen.update(versions)

        async with asyncio.TaskGroup() as group:
            group.create_task(reindex())
            group.create_task(look())
            group.create_task(look())
        assert len(seen) > 1
        assert await tenant.count("chunk") == 1 + 11 % 4


async def test_an_empty_index_finds_nothing(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for mode in ("hybrid", "vector", "text"):
            assert await tenant.find("anything", mode=mode) == ()


HOSTILE = [
    "example.com/a%20b",
    "100%",
    "%",
    "%s %I %L %1$s %%",
    "$1 $2 $$ $body$",
    "'",
    '"',
    "''; drop table ingest.chunk; --",
    "\\",
    "\\' \\\\ E'\\x00'",
    '{}, {1,2}, {NULL}, {"a\\"b"}',
    ":* & | ! ( ) <-> <2>",
    "((((" * 900,
    "the and of or",
    "🦦🌊 💧",
    "👩‍👩‍👧‍👦",
    "سد النهر والبوابة",
    "‮gate‬ \u200f",
    "ﷺ" * 100,
    "a" * 4_000,
    "\t\n x \r",
    "\ue000forged\ue001",
    "nul\x00byte \x00",
    "& | ! ( ) <-> :* " * 480,
    "\ufffe\U0010ffff",
    "http://[::1]/%00?q=%27&x=../../etc",
    "user@example.com -5 1e400 NaN",
]


@pytest.mark.parametrize("query", HOSTILE)
async def test_special_characters_in_a_query_are_only_text(database: Database, query: str) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put(
            "the page example.com/a%20b is 100% of it", 'a gate\'s "sluice" \\ path', metadata="{}"
        )
        for mode in ("hybrid", "vector", "text"):
            await tenant.find(query, mode=mode)
            await tenant.find(query, mode=mode, types=["%s", "text/plain"])
            await tenant.find(query, mode=mode, metadata={"%s": "%I '"})


async def test_a_query_with_a_percent_sign_finds_texts_that_contain_it(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("see example.com/a%20b for more")
        await tenant.put("nothing of that kind")
        for filters in ({}, {"types": ["text/plain"]}):
            hits = await tenant.find("example.com/a%20b", mode="text", **filters)
            assert [hit.document_id for hit in hits] == [document_id]
