"""The typed client against the real API: results are types, refusals errors, and nothing is done twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.client import ApiProblem, BlockingClient, Client
from tests.integration.api_server import TEXT, api_server
from tests.plugins.database import Database


async def test_a_document_from_upload_to_search_to_deletion(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "mill.txt"
    file.write_text(TEXT)
    async with (
        api_server(database, tmp_path) as server,
        server.working(),
        Client(server.url, server.key) as client,
    ):
        sent = await client.upload(file, metadata={"customer": "C-17"}, external_id="inv-1")
        document = await client.wait(sent.document_id, 30)
        assert (document.status, document.filename) == ("indexed", "mill.txt")
        assert document.metadata == {"customer": "C-17"}
        assert [each.document_id for each in (await client.documents(limit=5)).items] == [sent.document_id]
        assert "water" in (await client.chunks(sent.document_id)).items[0].text
        assert (await client.events(sent.document_id)).items[0].event == "taken_in"
        assert b"".join([piece async for piece in client.content(sent.document_id)]) == TEXT.encode()
        found = await client.search("water for the mill", limit=3)
        assert found.hits[0].document_id == sent.document_id
        replaced = await client.replace(sent.document_id, b"Other words.\n", filename="b.txt", wait=30)
        assert replaced.document is not None
        assert replaced.document.status == "indexed"
        assert (await client.reindex(sent.document_id)).task_id
        await client.wait(sent.document_id, 30)
        with pytest.raises(ApiProblem) as refused:
            await client.retry(sent.document_id)
        assert (refused.value.status, refused.value.kind) == (409, "invalid-move")
        assert (await client.explain(sent.document_id))["status"] == "indexed"
        await client.delete(sent.document_id)
        with pytest.raises(ApiProblem, match="no document") as gone:
            await client.document(sent.document_id)
        assert (gone.value.status, gone.value.field) == (404, "document_id")
        assert gone.value.remedy
        with pytest.raises(ApiProblem):
            _ = [piece async for piece in client.content(sent.document_id)]


async def test_projects_by_the_client(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, Client(server.url, server.key) as client:
        made = await client.create_project("sales", name="Sales")
        assert (await client.project("sales")) == made
        assert (await client.set_project("sales", chunk_tokens=64)).chunk_tokens == 64
        assert {project.slug for project in await client.projects()} == {"default", "sales"}
        assert (await client.estimate_reindex("sales")).chunks == 0
        assert (await client.reindex_project("sales")).task_id
        with pytest.raises(ApiProblem) as refused:
            await client.create_project("sales")
        assert (refused.value.status, refused.value.field) == (409, "slug")


async def test_waiting_ends_when_the_time_is_over(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, Client(server.url, server.key) as client:
        sent = await client.upload(TEXT.encode(), filename="a.txt")
        with pytest.raises(TimeoutError, match="pending"):
            await client.wait(sent.document_id, 0.2)


async def test_a_429_is_waited_out(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        _, key = await server.another_tenant("eager", requests_per_minute=60)
        async with Client(server.url, key) as client, server.client(key) as other:
            while (await other.get("/v1/documents")).status_code == 200:
                pass
            assert (await client.documents()).items == []
        async with Client(server.url, key, attempts=1) as hasty, server.client(key) as other:
            while (await other.get("/v1/documents")).status_code == 200:
                pass
            with pytest.raises(ApiProblem) as refused:
                await hasty.documents()
            assert refused.value.status == 429


async def test_an_upload_whose_answer_was_lost_is_sent_again_and_done_once(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        host, port = server.url.removeprefix("http://").split(":")
        cut = 0

        async def lose_the_first_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal cut
            far_reader, far_writer = await asyncio.open_connection(host, int(port))

            async def onward() -> None:
                while data := await reader.read(65_536):
                    far_writer.write(data)

            sending = asyncio.create_task(onward())
            while data := await far_reader.read(65_536):
                if b"202 Accepted" in data and not cut:
                    cut += 1
                    break
                writer.write(data)
                await writer.drain()
            sending.cancel()
            for each in (writer, far_writer):
                each.transport.abort()

        proxy = await asyncio.start_server(lose_the_first_answer, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        async with Client(address, server.key) as client:
            sent = await client.upload(TEXT.encode(), filename="a.txt")
        proxy.close()
        assert cut == 1
        assert sent.created is True
        assert await server.count("ingest.ingestion") == 1


async def test_the_client_without_await(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:

        def work() -> tuple[bytes, int]:
            with BlockingClient(server.url, server.key) as client:
                sent = client.upload(TEXT.encode(), filename="a.txt")
                content = b"".join(client.content(sent.document_id))
                with pytest.raises(ApiProblem):
                    client.document(uuid4())
                return content, len(client.documents().items)

        assert await asyncio.to_thread(work) == (TEXT.encode(), 1)
