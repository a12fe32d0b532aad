"""Simulated Graph: consent, throttling, batches, errors, large mailboxes and control over HTTP."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock.simulators.providers import ProviderSimulators
from penstock.simulators.providers.world.mail import OWNER
from tests.contract.graph_client import IMMUTABLE, INBOX, get, outlook, walk
from tests.contract.simulated_clients import REDIRECT, answer_of, exchange, open_http, refresh, signed_in

if TYPE_CHECKING:
    import httpx2


async def test_the_fifth_request_at_the_same_time_is_throttled() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        simulators.fail("slow", "outlook", seconds=0.5, times=4)
        slow = [asyncio.create_task(client.get(INBOX)) for _ in range(4)]
        while simulators.ledger.count("outlook", "rest") < 4:  # noqa: ASYNC110  # the ledger has no event
            await asyncio.sleep(0)
        fifth = await client.get(INBOX)
        assert (fifth.status_code, fifth.headers["retry-after"]) == (429, "1")
        assert "MailboxConcurrency" in fifth.json()["error"]["message"]
        assert [each.status_code for each in await asyncio.gather(*slow)] == [200] * 4
        assert (await client.get(INBOX)).status_code == 200


async def test_faults_have_graphs_bodies() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        simulators.fail("unauthorized", "outlook")
        simulators.fail("rate_limited", "outlook", retry_after="7")
        simulators.fail("server_error", "outlook", status=503)
        seen = [await client.get(INBOX) for _ in range(4)]
        assert [each.status_code for each in seen] == [401, 429, 503, 200]
        assert [each.json()["error"]["code"] for each in seen[:3]] == [
            "InvalidAuthenticationToken", "ApplicationThrottled", "serviceNotAvailable",
        ]  # fmt: skip
        assert seen[1].headers["retry-after"] == "7"
        assert set(seen[0].json()["error"]["innerError"]) == {"date", "request-id", "client-request-id"}


async def test_a_batch_answers_each_of_its_requests_with_a_status_of_its_own() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        new = simulators.deliver("outlook", "invoice")

        async def batch(*urls: str) -> httpx2.Response:
            requests = [
                {
                    "id": str(number),
                    "method": "GET",
                    "url": url,
                    "headers": {"Prefer": 'IdType="ImmutableId"'},
                }
                for number, url in enumerate(urls)
            ]
            return await client.post("/v1.0/$batch", json={"requests": requests})

        simulators.fail("rate_limited", "outlook", operation="mailFolders.get", retry_after="3")
        answer = await batch(
            f"/me/messages/{new.id}",
            "/me/mailFolders/inbox",
            "/me/messages/AAMkgone",
            f"/me/messages/{new.id}/$value",
        )
        assert answer.status_code == 200
        by_id = {each["id"]: each for each in answer.json()["responses"]}
        assert [by_id[str(number)]["status"] for number in range(4)] == [200, 429, 404, 200]
        assert by_id["0"]["body"]["id"] == new.id
        assert by_id["1"]["headers"]["retry-after"] == "3"
        assert base64.b64decode(by_id["3"]["body"]) == new.sent.as_bytes()
        assert simulators.ledger.count("outlook", "rest", "messages.get") == 2
        assert (await batch(*["/me/mailFolders"] * 21)).status_code == 400


async def test_refresh_tokens_are_new_each_time_and_the_old_ones_work_on() -> None:
    async with outlook() as simulators, open_http() as http:
        _, first = simulators.issue_tokens("outlook")
        second = (await refresh(http, simulators, "outlook", first)).json()
        assert second["refresh_token"] != first
        assert "offline_access" not in second["scope"].split()
        assert (await refresh(http, simulators, "outlook", first)).status_code == 200
        simulators.outlook.oauth.grants.revoke_all()
        await _refused(http, simulators, second["refresh_token"], 50173)
        await _refused(http, simulators, "unknown", 9002313)
        simulators.world.clock.stop()
        _, unused = simulators.issue_tokens("outlook")
        simulators.world.clock.advance(91 * 86_400)
        await _refused(http, simulators, unused, 700082)


async def _refused(http: httpx2.AsyncClient, simulators: ProviderSimulators, token: str, code: int) -> None:
    refused = await refresh(http, simulators, "outlook", token)
    body = refused.json()
    assert (refused.status_code, body["error"], body["error_codes"]) == (400, "invalid_grant", [code])
    assert body["error_description"].startswith(f"AADSTS{code}: ")


@pytest.mark.timeout(180)
async def test_five_thousand_mails_of_one_mailbox_are_listed_once_each() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        made = {simulators.deliver("outlook", "invoice").id for _ in range(5_000)}
        values, _, pages = await walk(client, f"{INBOX}/delta", **{"$select": "subject", "$top": 200})
        assert (len(values), pages) == (5_000, 25)
        assert {each["id"] for each in values} == made
        gmail = {simulators.deliver("gmail", "plain").id for _ in range(5_000)}
    assert len(gmail) == 5_000


async def test_a_large_attachment_arrives_whole() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        new = simulators.deliver("outlook", "large")
        path = f"/v1.0/me/messages/{new.id}/attachments"
        (one,) = (await get(client, path, **{"$select": "id,size"}))["value"]
        content = (await client.get(f"{path}/{one['id']}/$value", headers=IMMUTABLE)).content
        assert (content == new.sent.files[0].content, len(content) > 8_000_000) == (True, True)


async def test_mails_are_delivered_and_changed_over_http() -> None:
    async with outlook() as simulators, open_http() as http:

        async def control(path: str, **body: Any) -> Any:
            response = await http.post(f"{simulators.url}/_control{path}", json=body)
            assert response.status_code == 200, response.text
            return response.json()

        given = {
            "provider": "outlook",
            "template": "two_files",
            "count": 2,
            "subject": "Hi",
            "folder": "archive",
        }
        mails = (await control("/mails", **given))["mails"]
        assert [len(each["files"]) for each in mails] == [2, 2]
        raw = base64.b64encode(
            b"From: a@b.example\r\nSubject: raw\r\nMessage-ID: <1@b>\r\n\r\nHello\r\n"
        ).decode()
        (one,) = (await control("/mails", raw=raw))["mails"]
        assert one["message_id"] == "<1@b>"
        (gone,) = (await control("/records", kind="mails", action="delete", id=one["id"]))["ids"]
        assert gone == one["id"]
        wrong = await http.post(f"{simulators.url}/_control/mails", json={"template": "cats"})
        assert (wrong.status_code, "no template 'cats'" in wrong.json()["error"]) == (400, True)
        state = json.loads((await http.get(f"{simulators.url}/_control/push")).text)
        assert state["outlook"]["subscriptions"] == []


async def test_consent_gives_a_refresh_token_only_for_offline_access() -> None:
    async with outlook() as simulators, open_http() as http:
        simulators.outlook.oauth.auto_consent = True
        at = simulators.addresses("outlook")
        for scope, offline in (
            ("openid offline_access User.Read https://graph.microsoft.com/Mail.Read", True),
            ("User.Read Mail.Read", False),
        ):
            query = {
                "client_id": at["client_id"],
                "redirect_uri": REDIRECT,
                "response_type": "code",
                "state": "state-1",
                "scope": scope,
            }
            code = answer_of(await http.get(at["authorize_url"], params=query))["code"]
            tokens = (await exchange(http, simulators, "outlook", code)).json()
            assert ("refresh_token" in tokens, tokens["token_type"]) == (offline, "Bearer")
            assert "Mail.Read" in tokens["scope"].split()
            headers = {"authorization": f"Bearer {tokens['access_token']}"}
            assert (await http.get(at["identity_url"], headers=headers)).json()["mail"] == OWNER
        again = await exchange(http, simulators, "outlook", code)
        assert (again.status_code, again.json()["error_codes"]) == (400, [70008])
        wrong = await http.post(at["token_url"], data={"grant_type": "refresh_token", "client_id": "other"})
        assert (wrong.status_code, wrong.json()["error_codes"]) == (401, [7000215])
        simulators.fail("oauth_error", "outlook", surface="token", status=400, message="interaction_required")
        _, token = simulators.issue_tokens("outlook")
        assert (await refresh(http, simulators, "outlook", token)).json()["error_codes"] == [50076]
