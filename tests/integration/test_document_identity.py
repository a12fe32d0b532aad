"""What was last accepted for each identity is what a search finds, and nothing else."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.index import PgvectorIndex
from penstock.model import DocumentId, ProjectId, TenantId
from penstock.search import Search, SearchQuery
from tests.integration.intake_services import IntakeServices, intake_services
from tests.plugins.database import Database
from tests.sql.document_calls import CODE
from tests.sql.indexed_tenant import Embedders, WordEmbedder, chunks_of

PROJECTS = ("default", "second")
IDS = (None, "one", "two", "three")
CONTENTS = ("apple", "birch", "cedar")
IDENTITY = tuple[str, str | None, str | None]
"""Project and external id; without one, the content."""

STEP = st.tuples(
    st.sampled_from(["upload", "upload", "upload", "delete", "work"]),
    st.sampled_from(PROJECTS),
    st.sampled_from(IDS),
    st.sampled_from(CONTENTS),
)


@dataclass(slots=True)
class Library:
    """One tenant's uploads beside what they should have left."""

    here: IntakeServices
    search: Search
    index: PgvectorIndex
    words: WordEmbedder
    tenant_id: TenantId
    accepted: dict[IDENTITY, tuple[DocumentId, str]] = field(default_factory=dict)
    waiting: set[DocumentId] = field(default_factory=set)

    async def upload(self, project: str, external_id: str | None, content: str) -> None:
        taken = await self.here.upload(
            content.encode(), tenant_id=self.tenant_id, project=project, external_id=external_id
        )
        identity = (project, external_id, None if external_id else content)
        before = self.accepted.get(identity)
        assert taken.created == (before is None)
        assert before is None or before[0] == taken.document_id
        assert taken.document_id not in {
            document_id for other, (document_id, _) in self.accepted.items() if other != identity
        }, "two identities share a document"
        self.accepted[identity] = (taken.document_id, content)
        if not taken.skipped:
            self.waiting.add(taken.document_id)

    async def delete(self, project: str, external_id: str | None, content: str) -> None:
        identity = (project, external_id, None if external_id else content)
        if identity in self.accepted:
            document_id, _ = self.accepted.pop(identity)
            assert await self.here.documents.delete(self.tenant_id, document_id) == 1
            self.waiting.discard(document_id)

    async def work(self) -> None:
        """What a worker does with each document that waits, its own words as the only chunk."""
        for document_id in sorted(self.waiting):
            await self._index(document_id)
        self.waiting.clear()

    async def _index(self, document_id: DocumentId) -> None:
        content = await self.here.documents.content(self.tenant_id, document_id)
        text = b"".join([piece async for piece in content.stream]).decode()
        async with self.here.tenants.transaction(self.tenant_id) as conn:
            run = json.loads(await conn.fetchval("select ingest.begin_run($1, 1, 1, $2)", document_id, CODE))
        chunks = chunks_of([text])
        await self.index.stage(
            self.tenant_id, ProjectId(UUID(run["project_id"])), document_id, run["generation"], chunks,
            [self.words.vector(chunk.embedder_input) for chunk in chunks], self.words.model,
        )  # fmt: skip
        async with self.here.tenants.transaction(self.tenant_id) as conn:
            await conn.execute("select ingest.start_embedding($1, $2, '{}')", document_id, run["generation"])
            ended = await conn.fetchval(
                "select ingest.finish_run($1, $2, $3, $4, $5, $6, $7)",
                document_id,
                run["generation"],
                run["mode"],
                bytes.fromhex(run["content_sha256"]),
                run["pipeline"],
                '{"counts": {"chunks": 1, "tokens": 1}}',
                CODE,
            )
        assert ended == "indexed"

    async def check(self) -> None:
        for project in PROJECTS:
            for content in CONTENTS:
                query = SearchQuery(query=content, mode="text", limit=100, projects=[project])
                hits = (await self.search.search(self.tenant_id, query)).hits
                found = sorted((hit.document_id, hit.text) for hit in hits if hit.document_id)
                assert found == sorted(
                    (document_id, last)
                    for (owner, _, _), (document_id, last) in self.accepted.items()
                    if owner == project and last == content
                )


def test_a_search_finds_what_was_last_accepted_for_each_identity_and_nothing_else(
    database: Database, tmp_path: Path
) -> None:
    with asyncio.Runner() as runner:
        opened = intake_services(database, tmp_path, embedder="words")
        here = runner.run(opened.__aenter__())
        number = iter(range(10**6))

        async def library() -> Library:
            tenant = await here.accounts.create_tenant(f"tenant-{next(number)}")
            await here.accounts.create_project(tenant.tenant_id, "second", embedder="words")
            words, index = WordEmbedder(), PgvectorIndex(here.tenants, 50_000)
            search = Search(here.tenants, Embedders(words=words), index)
            return Library(here, search, index, words, tenant.tenant_id)

        async def go(steps: list[tuple[str, str, str | None, str]]) -> None:
            uploads = await library()
            for what, project, external_id, content in steps:
                match what:
                    case "upload":
                        await uploads.upload(project, external_id, content)
                    case "delete":
                        await uploads.delete(project, external_id, content)
                    case _:
                        await uploads.work()
                        await uploads.check()
            await uploads.work()
            await uploads.check()

        @settings(
            max_examples=40, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(st.lists(STEP, max_size=14))
        def sequences(steps: list[tuple[str, str, str | None, str]]) -> None:
            runner.run(go(steps))

        try:
            sequences()
        finally:
            runner.run(opened.__aexit__(None, None, None))


@pytest.mark.parametrize("same", [True, False], ids=["same content", "different contents"])
async def test_uploads_of_one_external_id_at_once_make_one_document_with_the_last_content(
    database: Database, tmp_path: Path, same: bool
) -> None:
    async with intake_services(database, tmp_path) as here:
        for number in range(5):
            contents = [b"%d" % number if same else b"%d by %d" % (number, hand) for hand in range(6)]
            taken = await asyncio.gather(
                *(here.upload(content, external_id=f"id {number}") for content in contents)
            )
            assert len({one.document_id for one in taken}) == 1
            assert [one.created for one in taken].count(True) == 1
            document = await here.documents.content(here.acme, taken[0].document_id)
            assert b"".join([piece async for piece in document.stream]) in contents
        assert await here.orphans() == set()
