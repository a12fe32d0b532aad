"""Every fault of the simulated providers does what it says, and only to the requests it is planned for."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError

from penstock.simulators.providers import ProviderSimulators, providers_in_thread, serving_providers
from tests.contract.simulated_clients import call, mcp_client, open_http, refresh, signed_in

CONTACTS = "/crm/v3/objects/contacts"


class Statuses:
    """Keeps the status of every response, which the MCP client hides."""

    def __init__(self) -> None:
        self.seen: list[httpx2.Response] = []

    async def __call__(self, response: httpx2.Response) -> None:
        self.seen.append(response)

    @property
    def last(self) -> httpx2.Response:
        return self.seen[-1]


def watched(simulators: ProviderSimulators, provider: str) -> tuple[httpx2.AsyncClient, Statuses]:
    statuses = Statuses()
    token, _ = simulators.issue_tokens(provider)
    headers = {"authorization": f"Bearer {token}"}
    return open_http(headers=headers, event_hooks={"response": [statuses]}), statuses


async def search(client: Client, **more: Any) -> dict[str, Any]:
    return await call(client, "search_crm_objects", objectType="contacts", **more)


async def test_a_status_comes_once_with_the_vendors_body_over_rest() -> None:
    async with serving_providers(contacts=1) as simulators, signed_in(simulators, "hubspot") as client:
        simulators.fail("unauthorized", "hubspot")
        simulators.fail("missing_scopes", "hubspot", message="crm.objects.contacts.read")
        simulators.fail("rate_limited", "hubspot", retry_after="3")
        simulators.fail("rate_limited", "hubspot", policy="DAILY")
        simulators.fail("server_error", "hubspot", status=477, retry_after="60")  # an account that moves
        seen = [await client.get(CONTACTS) for _ in range(6)]
        assert [each.status_code for each in seen] == [401, 403, 429, 429, 477, 200]
        assert seen[0].json()["category"] == "EXPIRED_AUTHENTICATION"
        assert seen[1].json()["errors"][0]["context"]["requiredGranularScopes"] == [
            "crm.objects.contacts.read"
        ]
        assert (seen[2].headers["retry-after"], seen[2].json()["errorType"]) == ("3", "RATE_LIMIT")
        assert ("retry-after" in seen[3].headers, seen[3].json()["policyName"]) == (False, "DAILY")
        assert seen[3].headers["x-hubspot-ratelimit-interval-milliseconds"] == "10000"
        assert seen[4].headers["retry-after"] == "60"
        faults = [each.fault for each in simulators.ledger.entries("hubspot", "rest")]
        assert faults == ["unauthorized", "missing_scopes", *["rate_limited"] * 2, "server_error", None]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_status_over_mcp_hits_the_tool_call_and_not_the_handshake(mode: Any) -> None:
    async with serving_providers(contacts=3) as simulators:
        for kind, status in (("unauthorized", 401), ("missing_scopes", 403), ("rate_limited", 429)):
            simulators.faults.clear()
            simulators.fail(kind, "hubspot", retry_after="1")  # type: ignore[arg-type]  # each is a kind
            http, statuses = watched(simulators, "hubspot")
            async with http, mcp_client(simulators, "hubspot", http=http, mode=mode) as client:
                with pytest.raises(MCPError):
                    await search(client)
                assert status in [each.status_code for each in statuses.seen]
                assert len((await search(client))["results"]) == 3


async def test_tokens_that_expired_are_rejected_until_they_are_refreshed() -> None:
    async with serving_providers(contacts=1) as simulators, open_http() as http:
        access, refresher = simulators.issue_tokens("hubspot")
        assert simulators.hubspot.oauth.grants.expire_access_tokens() == 1
        url = f"{simulators.url}/hubspot{CONTACTS}"
        for _ in range(2):
            refused = await http.get(url, headers={"authorization": f"Bearer {access}"})
            assert refused.status_code == 401
        fresh = (await refresh(http, simulators, "hubspot", refresher)).json()["access_token"]
        assert (await http.get(url, headers={"authorization": f"Bearer {fresh}"})).status_code == 200


async def test_a_revoked_grant_cannot_be_refreshed() -> None:
    async with serving_providers(contacts=1) as simulators, open_http() as http:
        _, refresher = simulators.issue_tokens("gmail")
        assert simulators.gmail.oauth.grants.revoke_all() == 1
        refused = await refresh(http, simulators, "gmail", refresher)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


async def test_tokens_can_die_in_the_middle_of_a_sync() -> None:
    async with serving_providers(contacts=1) as simulators:
        for kind, works in (("expire_tokens", 200), ("revoke_grants", 400)):
            access, refresher = simulators.issue_tokens("hubspot")
            simulators.fail(kind, "hubspot", skip=1)  # type: ignore[arg-type]  # each is a kind
            async with open_http(headers={"authorization": f"Bearer {access}"}) as http:
                url = f"{simulators.url}/hubspot{CONTACTS}"
                assert [(await http.get(url)).status_code for _ in range(3)] == [200, 401, 401]
                assert (await refresh(http, simulators, "hubspot", refresher)).status_code == works


async def test_the_token_endpoint_refuses_with_any_code() -> None:
    async with serving_providers(contacts=1) as simulators, open_http() as http:
        _, refresher = simulators.issue_tokens("quickbooks")
        simulators.fail("oauth_error", "quickbooks", surface="token", status=401, message="invalid_client")
        refused = await refresh(http, simulators, "quickbooks", refresher)
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
        assert (await refresh(http, simulators, "quickbooks", refresher)).status_code == 200


async def test_a_rate_limit_counts_requests_in_its_window() -> None:
    async with serving_providers(contacts=1) as simulators, signed_in(simulators, "hubspot") as client:
        simulators.world.clock.stop()
        simulators.hubspot.limiter.set(2, 10)
        seen = [await client.get(CONTACTS) for _ in range(3)]
        assert [each.status_code for each in seen] == [200, 200, 429]
        assert seen[2].headers["retry-after"] == "10"
        simulators.world.clock.advance(10)
        assert (await client.get(CONTACTS)).status_code == 200


async def test_gmails_messages_can_have_the_names_of_an_earlier_release() -> None:
    async with serving_providers(contacts=5) as simulators:
        simulators.gmail.message_fields = "earlier"
        async with mcp_client(simulators, "gmail") as client:
            listed = await call(client, "search_threads", pageSize=1)
        assert {"sender", "toRecipients", "ccRecipients"} <= set(listed["threads"][0]["messages"][0])


async def test_the_token_endpoint_fails_only_when_it_is_named() -> None:
    async with serving_providers(contacts=1) as simulators, open_http(timeout=0.3) as http:
        _, refresher = simulators.issue_tokens("hubspot")
        simulators.fail("server_error", "hubspot")  # of the data only
        simulators.fail("server_error", "hubspot", surface="token", status=500)
        simulators.fail("hang", "hubspot", surface="token")
        assert (await refresh(http, simulators, "hubspot", refresher)).status_code == 500
        with pytest.raises(httpx2.ReadTimeout):
            await refresh(http, simulators, "hubspot", refresher)
        assert (await refresh(http, simulators, "hubspot", refresher)).status_code == 200


async def test_a_slow_page_comes_late_and_whole() -> None:
    async with serving_providers(contacts=1) as simulators, signed_in(simulators, "hubspot") as client:
        simulators.fail("slow", "hubspot", seconds=0.15)
        begun = asyncio.get_running_loop().time()
        assert (await client.get(CONTACTS)).status_code == 200
        assert asyncio.get_running_loop().time() - begun >= 0.15


async def test_a_connection_breaks_within_a_response() -> None:
    async with serving_providers(contacts=1) as simulators, signed_in(simulators, "hubspot") as client:
        simulators.fail("disconnect", "hubspot")
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.get(CONTACTS)
        simulators.fail("not_json", "hubspot")
        assert (await client.get(CONTACTS)).headers["content-type"] == "text/html; charset=utf-8"


async def test_a_dropped_session_answers_404_to_its_id() -> None:
    async with serving_providers(contacts=1) as simulators:
        http, statuses = watched(simulators, "hubspot")
        async with http, mcp_client(simulators, "hubspot", http=http, mode="legacy") as client:
            await search(client)
            simulators.fail("drop_session", "hubspot")
            with pytest.raises(MCPError):
                await search(client)
            assert 404 in [each.status_code for each in statuses.seen]
        async with mcp_client(simulators, "hubspot", mode="legacy") as client:
            assert (await search(client))["total"] == 1


async def test_a_fault_of_the_third_page_lets_two_through() -> None:
    async with serving_providers(contacts=30) as simulators:
        simulators.fail("tool_error", "hubspot", operation="search_crm_objects", skip=2, message="boom")
        async with mcp_client(simulators, "hubspot") as client:
            await search(client)
            await search(client, offset=10)
            third = await client.call_tool("search_crm_objects", {"objectType": "contacts", "offset": 20})
            assert (third.is_error, third.content[0].text) == (True, "boom")  # type: ignore[union-attr]
            await search(client, offset=20)


async def test_an_rpc_error_carries_status_and_retry_after() -> None:
    async with serving_providers(contacts=1) as simulators:
        simulators.fail("rpc_error", "gmail", status=429, retry_after="7")
        async with mcp_client(simulators, "gmail") as client:
            with pytest.raises(MCPError) as raised:
                await client.call_tool("search_threads", {})
        assert raised.value.error.data == {"status": 429, "retry_after": "7"}


async def test_results_can_be_huge_or_wrapped_in_prose_or_not_match_their_schema() -> None:
    async with serving_providers(contacts=2) as simulators:
        async with mcp_client(simulators, "hubspot", mode="legacy") as client:
            simulators.fail("huge", "hubspot", size=2_000_000)
            assert len((await search(client))["padding"]) == 2_000_000
            simulators.fail("prose", "hubspot")
            with pytest.raises(RuntimeError, match="structured content"):  # the schema promises it
                await search(client)
            simulators.fail("mismatch", "hubspot")
            with pytest.raises(RuntimeError, match="Invalid structured content"):
                await search(client)
        async with mcp_client(simulators, "quickbooks") as client:
            simulators.fail("prose", "quickbooks")
            said = await client.call_tool("search_customers", {})
            text = said.content[1].text  # type: ignore[union-attr]
            assert text.startswith("Sure! Here is what I found:")
            assert json.loads(text.split("```json\n")[1].split("\n```")[0])
            simulators.fail("tool_error", "quickbooks", message="ThrottleExceeded")
            plain = await client.call_tool("search_invoices", {"criteria": []})
            assert (plain.is_error, plain.content[0].text) == (  # type: ignore[union-attr]
                False,
                "Error searching invoices: ThrottleExceeded",
            )


async def test_a_tool_or_an_argument_can_be_missing() -> None:
    async with serving_providers(contacts=1) as simulators:
        gone = simulators.fail("missing_tool", "gmail", tool="get_thread")
        simulators.fail("missing_argument", "gmail", tool="search_threads", argument="pageToken")
        async with mcp_client(simulators, "gmail") as client:
            (tool,) = (await client.list_tools(cache_mode="refresh")).tools
            assert (tool.name, "pageToken" in tool.input_schema["properties"]) == ("search_threads", False)
            assert (await client.call_tool("get_thread", {"threadId": "1"})).is_error
            simulators.faults.clear(gone.id)
            assert len((await client.list_tools(cache_mode="refresh")).tools) == 2


async def test_records_change_between_two_pages() -> None:
    async with serving_providers(contacts=20) as simulators:
        change = {"kind": "contacts", "action": "add", "fields": {"email": "late@new.example"}}
        called: list[int] = []
        simulators.fail("drift", "hubspot", skip=1, changes=[change], action=lambda: called.append(1))
        async with mcp_client(simulators, "hubspot") as client:
            assert (await search(client))["total"] == 20
            assert (await search(client, offset=10))["total"] == 21
        assert called == [1]


async def test_an_expired_page_token_hits_only_requests_that_carry_one() -> None:
    async with serving_providers(contacts=100) as simulators:
        simulators.fail("expired_page_token", times=None)
        async with signed_in(simulators, "google_drive") as client:
            page = (await client.get("/drive/v3/files?pageSize=2")).json()
            late = await client.get("/drive/v3/files", params={"pageToken": page["nextPageToken"]})
            assert (late.status_code, late.json()["error"]["errors"][0]["location"]) == (400, "pageToken")
        async with mcp_client(simulators, "gmail") as mail:
            first = await call(mail, "search_threads", pageSize=2)
            again = await mail.call_tool("search_threads", {"pageToken": first["nextPageToken"]})
            assert again.is_error


async def test_ten_thousand_rows_can_have_one_modified_time() -> None:
    async with serving_providers(contacts=300) as simulators, signed_in(simulators, "hubspot") as client:
        at = simulators.world.hubspot.contacts.same_modified_time()
        one = {"propertyName": "lastmodifieddate", "operator": "EQ", "value": str(int(at.timestamp() * 1000))}
        found = await client.post(f"{CONTACTS}/search", json={"filterGroups": [{"filters": [one]}]})
        assert found.json()["total"] == 300


async def test_everything_can_be_controlled_over_http() -> None:
    async with serving_providers(contacts=10) as simulators, open_http() as http:

        async def control(method: str, path: str, **body: Any) -> Any:
            response = await http.request(method, f"{simulators.url}/_control{path}", json=body or None)
            assert response.status_code == 200, response.text
            return response.json()

        state = await control("GET", "")
        assert state["records"]["contacts"] == 10
        assert state["providers"]["gmail"]["addresses"]["client_id"] == "sim-gmail-client"
        changed = await control("POST", "/settings", provider="gmail", rotation="each_use", access_seconds=5)
        assert (changed["rotation"], simulators.gmail.oauth.grants.access_seconds) == ("each_use", 5)
        added = await control("POST", "/records", kind="contacts", action="add", count=2)
        assert len(added["ids"]) == 2
        rule = await control("POST", "/faults", kind="server_error", provider="hubspot", times=None)
        async with signed_in(simulators, "hubspot") as client:
            assert (await client.get(CONTACTS)).status_code == 503
            await control("DELETE", f"/faults?id={rule['id']}")
            assert (await client.get(CONTACTS)).status_code == 200
            await control("POST", "/actions", action="expire_tokens", provider="hubspot")
            assert (await client.get(CONTACTS)).status_code == 401
        ledger = await control("GET", "/ledger?provider=hubspot&surface=rest")
        assert [each["status"] for each in ledger["requests"]] == [503, 200, 401]
        await control("DELETE", "/ledger")
        assert (await control("GET", "/ledger"))["count"] == 0
        before = (await control("POST", "/clock", stop="2026-11-16T10:00:00Z"))["clock"]
        after = (await control("POST", "/clock", advance=60))["clock"]
        assert (before, after) == ("2026-11-16T10:00:00+00:00", "2026-11-16T10:01:00+00:00")
        for path, body in (
            ("/faults", {"kind": "flood"}),
            ("/settings", {"provider": "x"}),
            ("/nothing", {}),
        ):
            refused = await http.post(f"{simulators.url}/_control{path}", json=body)
            assert (refused.status_code, bool(refused.json()["error"])) == (400, True)


async def test_the_ledger_shows_no_secret() -> None:
    async with serving_providers(contacts=1) as simulators, open_http() as http:
        _, refresher = simulators.issue_tokens("hubspot")
        await refresh(http, simulators, "hubspot", refresher)
        (entry,) = simulators.ledger.entries("hubspot", "token")
        shown = json.dumps(entry.arguments)
        assert refresher not in shown
        assert "sim-hubspot-secret" not in shown
        assert entry.arguments["grant_type"] == "refresh_token"


def test_the_providers_can_run_on_a_thread_of_their_own() -> None:
    with providers_in_thread(contacts=3) as simulators:
        token, _ = simulators.issue_tokens("hubspot")
        answer = httpx2.get(
            f"{simulators.url}/hubspot{CONTACTS}", headers={"authorization": f"Bearer {token}"}
        )
        assert len(answer.json()["results"]) == 3
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(simulators.url)
