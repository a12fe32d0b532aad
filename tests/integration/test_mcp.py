"""The MCP server: three tools for the tenant of the key, over HTTP beside the API and over stdio."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from penstock.cli.mcp.clients import CLIENTS
from tests.integration.api_server import ApiServer, api_server, make_tenant
from tests.plugins.command_line import CommandLine, addresses
from tests.plugins.database import Database

pytestmark = pytest.mark.timeout(180)

TEXT = (
    "# The gate\n\nThe sluice gate opens at dawn and closes at dusk.\n\n"
    "## Its keeper\n\nThe miller has the key.\n"
)


@asynccontextmanager
async def over_http(server: ApiServer, key: str) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http:
        async with Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client:
            yield client


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    called = await client.call_tool(tool, arguments)
    assert not called.is_error, called.content
    return cast("dict[str, Any]", called.structured_content)


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    called = await client.call_tool(tool, arguments)
    assert called.is_error
    return str(called.content[0].text)  # type: ignore[union-attr]  # a refusal is text


async def taken_in(server: ApiServer) -> str:
    async with server.client() as client, server.working():
        form = {"file": ("gate.md", TEXT.encode(), "text/markdown")}
        posted = await client.post("/v1/documents/upload", params={"wait": 30}, files=form)
        assert posted.is_success, posted.text
        return str(posted.json()["document_id"])


async def test_an_assistant_finds_reads_and_lists_over_http(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        document_id = await taken_in(server)
        async with over_http(server, server.key) as client:
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} == {"search", "get_document", "list_documents"}
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
            (hit,) = (await answer(client, "search", query="when does the gate open?"))["hits"]
            assert (hit["document_id"], hit["heading"]) == (document_id, "The gate")
            assert hit["headings"] == ["The gate > Its keeper"]
            assert "sluice gate" in hit["text"]
            read = await answer(client, "get_document", document_id=document_id)
            assert (read["title"], read["status"], read["cursor"]) == ("The gate", "indexed", None)
            assert read["passages"][0]["headings"] == ["The gate > Its keeper"]
            assert "closes at dusk" in "".join(passage["text"] for passage in read["passages"])
            listed = await answer(client, "list_documents", title="gate")
            assert [row["document_id"] for row in listed["documents"]] == [document_id]
            assert "no document" in await refusal(client, "get_document", document_id=str(uuid4()))
            assert "no project" in await refusal(client, "search", query="gate", project="none")
            assert "limit" in await refusal(client, "list_documents", limit=1000)


async def test_a_key_opens_only_its_own_tenant_and_only_its_scopes(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        document_id = await taken_in(server)
        _, strange = await make_tenant(database, server.engine.settings, "stranger")
        async with over_http(server, strange) as client:
            assert (await answer(client, "search", query="sluice gate"))["hits"] == []
            assert (await answer(client, "list_documents"))["documents"] == []
            assert "no document" in await refusal(client, "get_document", document_id=document_id)
        async with over_http(server, await server.another_key("search")) as client:
            assert (await answer(client, "search", query="sluice gate"))["hits"]
            assert "scope documents:read" in await refusal(client, "list_documents")


async def test_without_a_valid_key_nothing_is_revealed(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for key in ("", "pk_wrong", "é" * 10, "x" * 1_000):
            headers = {b"Authorization": f"Bearer {key}".encode()} if key else {}
            async with httpx2.AsyncClient() as client:
                refused = await client.post(f"{server.url}/mcp", json=message, headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert refused.headers["content-type"] == "application/problem+json"
            assert "tools" not in refused.json()
        async with server.client() as client:
            assert (await client.get("/mcp")).status_code == 405


async def test_an_assistant_starts_it_over_stdio(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    async with api_server(database, tmp_path) as server:
        document_id = await taken_in(server)
        variables = addresses(database) | {"PENSTOCK_DATA_DIR": str(tmp_path / "data")}
        child = StdioServerParameters(
            command=sys.executable,
            args=["-m", "penstock", "mcp"],
            env=variables | {"PENSTOCK_API_KEY": server.key},
            cwd=tmp_path,
        )
        async with Client(child) as client:
            (hit,) = (await answer(client, "search", query="sluice gate"))["hits"]
            assert hit["document_id"] == document_id
            for key in await server.engine.accounts.list_keys(server.tenant.tenant_id):
                await server.engine.accounts.revoke_key(server.tenant.tenant_id, key.key_id)
            assert "revoked" in await refusal(client, "search", query="sluice gate")
    assert penstock("mcp", "--json").error["field"] == "key"
    wrong = penstock("mcp", "--key", "pk_wrong", "--json")
    assert (wrong.code, wrong.out, wrong.error["code"]) == (1, "", "key_refused")


@pytest.mark.parametrize("client", list(CLIENTS))
async def test_the_printed_settings_start_a_server_that_an_assistant_can_search(
    database: Database, tmp_path: Path, penstock: CommandLine, client: str
) -> None:
    async with api_server(database, tmp_path) as server:
        document_id = await taken_in(server)
        ours = penstock.with_variables(PENSTOCK_DATA_DIR="data")
        words = ("mcp", "config", client, "--create-key", "--tenant", server.tenant.slug, "--json")
        (printed,) = ours(*words).json["clients"]
        (servers,) = printed["config"].values()
        launch = servers["penstock"]
        assert Path(launch["command"]).is_absolute()
        assert launch["env"].get("PENSTOCK_DATA_DIR") == str(ours.folder / "data")
        elsewhere = tmp_path / "elsewhere"  # an assistant starts it in a folder of its own
        elsewhere.mkdir()
        child = StdioServerParameters(
            command=launch["command"], args=launch["args"], env=launch["env"], cwd=elsewhere
        )
        async with Client(child) as connected:
            (hit,) = (await answer(connected, "search", query="sluice gate"))["hits"]
            assert hit["document_id"] == document_id
        keys = await server.engine.accounts.list_keys(server.tenant.tenant_id)
        assert [key.scopes for key in keys if key.name.startswith("mcp:")] == [["documents:read", "search"]]


def test_without_a_key_the_printed_settings_say_where_it_goes(penstock: CommandLine) -> None:
    ended = penstock("mcp", "config", "cursor")
    assert ended.code == 0
    assert '"PENSTOCK_API_KEY": "PASTE_AN_API_KEY_HERE"' in ended.out
    assert "--create-key" in ended.err
    everything = penstock("mcp", "config", "--all").out
    for known in CLIENTS.values():
        assert known.title in everything
        assert known.file in everything
    unknown = penstock("mcp", "config", "notepad", "--json")
    assert (unknown.code, unknown.error["field"]) == (1, "client")
