"""The simulated MCP servers answer as the vendors' do, in both eras of the protocol."""

from __future__ import annotations

import base64
import json
from time import process_time
from typing import Literal

import pytest
from mcp import Client, MCPError

from penstock.simulators.providers import serving_providers
from penstock.simulators.providers.world.drive import DOC, PDF
from tests.contract.simulated_clients import call, mcp_client, open_http

TOOLS = {
    "hubspot": {"get_user_details", "search_crm_objects", "get_crm_objects"},
    "google_drive": {
        "search_files",
        "list_recent_files",
        "get_file_metadata",
        "read_file_content",
        "download_file_content",
    },
    "quickbooks": {"search_customers", "search_invoices"},
    "gmail": {"search_threads", "get_thread"},
}
METHODS = {
    "hubspot": {f"hubspot.crm.{kind}.list" for kind in ("contacts", "companies", "deals")},
    "google_drive": {"drive.files.list", "drive.files.export"},
    "quickbooks": {"quickbooks.customers.list", "quickbooks.invoices.list"},
    "gmail": {"gmail.threads.list", "gmail.threads.get"},
}


def texts(result: object) -> list[str]:
    return [block.text for block in result.content]  # type: ignore[attr-defined]  # text blocks only


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_server_lists_its_tools_in_both_eras(mode: Literal["auto", "legacy"]) -> None:
    async with serving_providers(contacts=5) as simulators:
        with_mcp = [name for name, each in simulators.providers.items() if each.mcp_path is not None]
        for provider in with_mcp:
            for sandbox, expected in ((False, TOOLS), (True, METHODS)):
                async with mcp_client(simulators, provider, sandbox=sandbox, mode=mode) as client:
                    listed = await client.list_tools()
                assert {tool.name for tool in listed.tools} == expected[provider]


async def test_a_server_may_know_only_the_older_era() -> None:
    async with serving_providers(contacts=5) as simulators:
        simulators.hubspot.eras = "legacy"
        async with mcp_client(simulators, "hubspot") as client:
            assert (await call(client, "get_user_details"))["hubId"] == 44_820_017
        assert simulators.ledger.count("hubspot", "mcp", "initialize") == 1


async def test_a_call_without_a_handshake_is_answered() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        token, _ = simulators.issue_tokens("gmail")
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        message |= {"params": {"name": "search_threads", "arguments": {"pageSize": 1}}}
        headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
        url = simulators.addresses("gmail")["mcp_url"]
        answer = (await http.post(url, json=message, headers=headers)).json()
        assert len(answer["result"]["structuredContent"]["threads"]) == 1


async def test_hubspot_searches_by_offset_up_to_ten_thousand() -> None:
    async with serving_providers(contacts=10_050, companies=10, deals=0) as simulators:
        asked = {"objectType": "contacts", "limit": 200, "properties": ["email"]}
        seen: list[str] = []
        async with mcp_client(simulators, "hubspot") as client:
            begun = process_time()
            while len(seen) < 2_000:
                page = await call(client, "search_crm_objects", **asked, offset=len(seen))
                assert (page["total"], page["offset"]) == (10_050, len(seen))
                seen += [each["id"] for each in page["results"]]
            rate = len(seen) / (process_time() - begun)
            last = await call(client, "search_crm_objects", **asked, offset=9_900)
            beyond = await client.call_tool("search_crm_objects", {**asked, "offset": 10_000})
        assert len(set(seen)) == 2_000
        assert (len(last["results"]), last["total"], beyond.is_error) == (100, 10_050, True)
        assert rate > 500  # 7,000 per second of processor time, with the client in the same process


async def test_hubspot_filters_by_modified_time_and_sorts() -> None:
    async with serving_providers(contacts=20) as simulators:
        world = simulators.world
        company = next(iter(world.hubspot.companies.objects))
        start = int(world.clock.now().timestamp() * 1000) - 1
        changed = world.hubspot.deals.change(next(iter(world.hubspot.deals.objects)), {"amount": "7"})
        group = {"filters": [{"propertyName": "hs_lastmodifieddate", "operator": "GTE", "value": str(start)}]}
        sorts = [{"propertyName": "hs_object_id", "direction": "DESCENDING"}]
        async with mcp_client(simulators, "hubspot") as client:
            page = await call(
                client,
                "search_crm_objects",
                objectType="deals",
                filterGroups=[group],
                properties=["amount", "hs_primary_associated_company"],
                associations=["companies"],
            )
            (deal,) = page["results"]
            assert deal["properties"]["amount"] == "7"
            assert deal["properties"]["hs_primary_associated_company"] == changed.company
            assert deal["associations"]["companies"]["results"][0]["id"] == changed.company
            assert deal["urlTemplate"].startswith("https://app.hubspot.com/contacts/44820017/record/0-3/")
            sorted_page = await call(
                client, "search_crm_objects", objectType="contacts", sorts=sorts, limit=50
            )
            ids = [int(each["id"]) for each in sorted_page["results"]]
            assert ids == sorted(ids, reverse=True)
            of_company = [{"associatedWith": [{"objectType": "companies", "objectIdValues": [company]}]}]
            theirs = await call(client, "search_crm_objects", objectType="contacts", filterGroups=of_company)
            assert theirs["total"] == sum(
                each.company == company for each in world.hubspot.contacts.objects.values()
            )
            got = await call(client, "get_crm_objects", objectType="deals", objectIds=[changed.id, "1"])
            assert [each["id"] for each in got["results"]] == [changed.id]


async def test_an_archived_contact_is_listed_only_as_archived() -> None:
    async with serving_providers(contacts=12) as simulators:
        (gone,) = simulators.change("contacts", "delete")
        async with mcp_client(simulators, "hubspot", sandbox=True) as client:
            method = "hubspot.crm.contacts.list"
            first = await call(client, method, limit=10)
            rest = await call(client, method, limit=10, after=first["paging"]["next"]["after"])
            listed = [each["id"] for each in first["results"] + rest["results"]]
            assert (len(listed), gone in listed, "paging" in rest) == (11, False, False)
            archived = await call(client, method, archived=True)
            assert [(each["id"], each["archived"]) for each in archived["results"]] == [(gone, True)]
            recent = await call(client, method, modifiedSince="2999-01-01T00:00:00Z")
            assert recent["results"] == []


async def test_drive_finds_reads_and_exports_files() -> None:
    async with serving_providers(contacts=40) as simulators:
        drive = simulators.world.drive
        recent = drive.add("Fresh plan", text="Grüße aus Köln")
        async with mcp_client(simulators, "google_drive") as client:
            query = "title contains 'fresh' and modifiedTime > '2026-11-02T00:00:00Z'"
            (found,) = (await call(client, "search_files", query=query))["files"]
            assert (found["id"], found["title"], found["mimeType"]) == (recent.id, "Fresh plan", DOC)
            seen: list[str] = []
            more: dict[str, str] = {}
            while True:
                page = await call(client, "list_recent_files", pageSize=4, **more)
                seen += [file["id"] for file in page["files"]]
                if "nextPageToken" not in page:
                    break
                more = {"pageToken": page["nextPageToken"]}
            assert set(seen) == {file.id for file in drive.files.values() if not file.trashed}
            exported = await call(
                client, "download_file_content", fileId=recent.id, exportMimeType="text/plain"
            )
            assert base64.b64decode(exported["content"]).decode("utf-8-sig") == "Grüße aus Köln"
            paper = next(file for file in drive.files.values() if file.mime == PDF)
            content = await call(client, "download_file_content", fileId=paper.id)
            assert base64.b64decode(content["content"]).startswith(b"%PDF-1.4")
            assert (await call(client, "read_file_content", fileId=recent.id))[
                "fileContent"
            ] == "Grüße aus Köln"
            missing = await client.call_tool("get_file_metadata", {"fileId": "nothing"})
            assert missing.is_error
            assert json.loads(texts(missing)[0])["error"]["code"] == 404


async def test_an_export_ends_at_ten_megabytes() -> None:
    async with serving_providers(contacts=1) as simulators:
        drive = simulators.world.drive
        fits, large = drive.add("Fits", text="x" * 10_000_000), drive.add("Large", text="x" * 10_500_000)
        async with mcp_client(simulators, "google_drive", mode="legacy") as client:
            asked = {"exportMimeType": "text/markdown"}
            whole = await call(client, "download_file_content", fileId=fits.id, **asked)
            assert len(whole["content"]) > 13_000_000
            refused = await client.call_tool("download_file_content", {"fileId": large.id, **asked})
        assert "exportSizeLimitExceeded" in texts(refused)[0]


async def test_gmail_pages_threads_and_shows_messages_without_headers() -> None:
    async with serving_providers(contacts=200) as simulators:
        mailbox = simulators.world.gmail
        with_file = next(mail for mail in mailbox.messages.values() if mail.attachments)
        async with mcp_client(simulators, "gmail") as client:
            first = await call(client, "search_threads", pageSize=50)
            second = await call(client, "search_threads", pageSize=50, pageToken=first["nextPageToken"])
            ids = [each["id"] for each in first["threads"] + second["threads"]]
            assert (len(set(ids)), "nextPageToken" in second) == (66, False)
            assert "plaintextBody" not in first["threads"][0]["messages"][0]
            thread = await call(client, "get_thread", threadId=with_file.thread_id)
            shown = next(each for each in thread["messages"] if each["id"] == with_file.id)
            assert (shown["from"], shown["plaintextBody"]) == (with_file.sender, with_file.text)
            assert shown["attachments"][0]["mimeType"] == "application/pdf"
            assert "headers" not in shown
            assert "historyId" not in shown
            again = await call(client, "get_thread", threadId=with_file.thread_id)
            assert again["messages"] != thread["messages"]  # attachment ids do not stay
            too_many = await client.call_tool("search_threads", {"pageSize": 51})
            assert too_many.is_error


async def test_quickbooks_answers_in_prose_and_json_and_hides_its_errors() -> None:
    async with serving_providers(contacts=200) as simulators:
        async with mcp_client(simulators, "quickbooks") as client:
            said, rows = texts(await client.call_tool("search_customers", {"limit": 5, "offset": 10}))
            assert said == "Found 5 customer(s):"
            assert [row["Id"] for row in json.loads(rows)] == ["11", "12", "13", "14", "15"]
            criteria = [{"field": "CustomerRef", "value": "11", "operator": "="}]
            said, *invoices = texts(await client.call_tool("search_invoices", {"criteria": criteria}))
            assert said == f"Found {len(invoices)} invoices"
            assert {json.loads(row)["CustomerRef"]["value"] for row in invoices} == {"11"}
            page = {"filters": [], "asc": "TxnDate", "limit": 3, "offset": 3}
            assert len(texts(await client.call_tool("search_invoices", {"criteria": page}))) == 4
            silently = texts(await client.call_tool("search_invoices", {"criteria": []}))
            assert len(silently) == 101  # the default of 100 cuts the 112 invoices
            wrong = await client.call_tool(
                "search_invoices", {"criteria": [{"field": "TotalAmt", "operator": "~", "value": 1}]}
            )
            assert not wrong.is_error
            assert texts(wrong)[0].startswith("Error searching invoices: ")


async def test_the_sandbox_pages_with_cursors_in_the_shape_of_the_rest_apis() -> None:
    async with serving_providers(contacts=60) as simulators:
        async with mcp_client(simulators, "quickbooks", sandbox=True) as client:
            first = await call(client, "quickbooks.invoices.list", limit=20)
            cursor = first["paging"]["next"]["after"]
            second = await call(client, "quickbooks.invoices.list", limit=20, after=cursor)
            ids = [row["Id"] for page in (first, second) for row in page["QueryResponse"]["Invoice"]]
            assert (len(set(ids)), "paging" in second) == (32, False)
        async with mcp_client(simulators, "gmail", sandbox=True) as client:
            listed = await call(client, "gmail.threads.list", maxResults=5)
            thread = await call(client, "gmail.threads.get", id=listed["threads"][0]["id"])
            assert thread["messages"][0]["payload"]["mimeType"].startswith("multipart/")
        async with mcp_client(simulators, "google_drive", sandbox=True) as client:
            page = await call(client, "drive.files.list", q="trashed = false", pageSize=3)
            again = await call(
                client, "drive.files.list", q="trashed = false", pageToken=page["nextPageToken"]
            )
            assert not {each["id"] for each in page["files"]} & {each["id"] for each in again["files"]}


async def test_a_page_token_is_rejected_after_some_hours() -> None:
    async with serving_providers(contacts=40) as simulators:
        async with mcp_client(simulators, "google_drive") as client:
            page = await call(client, "list_recent_files", pageSize=2)
        simulators.world.clock.advance(7 * 3_600)
        async with mcp_client(simulators, "google_drive") as client:
            late = await client.call_tool("list_recent_files", {"pageToken": page["nextPageToken"]})
        assert late.is_error
        assert json.loads(texts(late)[0])["error"]["errors"][0]["location"] == "pageToken"


async def test_a_tool_without_its_argument_or_name_is_an_error_in_the_result() -> None:
    async with serving_providers(contacts=1) as simulators:
        async with mcp_client(simulators, "hubspot") as client:
            missing = await client.call_tool("search_crm_objects", {})
            assert (missing.is_error, "'objectType' is a required" in texts(missing)[0]) == (True, True)
            unknown = await client.call_tool("delete_everything", {})
            assert (unknown.is_error, texts(unknown)) == (True, ["Unknown tool: delete_everything"])


async def test_a_token_without_the_scope_is_forbidden() -> None:
    async with serving_providers(contacts=1) as simulators:
        simulators.hubspot.oauth.withheld_scopes = frozenset(
            f"crm.objects.{kind}.read" for kind in ("contacts", "companies", "deals")
        )
        async with mcp_client(simulators, "hubspot") as client:
            with pytest.raises(MCPError):
                await _search(client)
        assert simulators.ledger.entries("hubspot", "mcp", "search_crm_objects")[0].status == 403


async def _search(client: Client) -> None:
    await client.call_tool("search_crm_objects", {"objectType": "contacts"})
