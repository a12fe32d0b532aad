"""The simulated authorisation servers behave as HubSpot's, Google's and Intuit's do."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

import httpx2
import pytest

from penstock.simulators.providers import ProviderSimulators, serving_providers
from tests.contract.simulated_clients import (
    answer_of,
    authorize_query,
    exchange,
    open_http,
    refresh,
    signed_in,
)

PROVIDERS = ("hubspot", "google_drive", "quickbooks", "gmail")


async def ask(
    http: httpx2.AsyncClient, simulators: ProviderSimulators, provider: str, **changed: str
) -> httpx2.Response:
    simulators.providers[provider].oauth.auto_consent = True
    url = simulators.addresses(provider)["authorize_url"]
    return await http.get(url, params=authorize_query(simulators, provider, **changed))


async def test_consent_code_and_refresh_give_tokens_that_work() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        for provider in PROVIDERS:
            answer = answer_of(await ask(http, simulators, provider))
            assert answer["state"] == "state-1"
            assert ("realmId" in answer) is (provider == "quickbooks")
            tokens = (await exchange(http, simulators, provider, answer["code"])).json()
            assert tokens["expires_in"] == (1_800 if provider == "hubspot" else 3_600)
            again = (await refresh(http, simulators, provider, tokens["refresh_token"])).json()
            assert again["access_token"] != tokens["access_token"]
            if provider in ("google_drive", "gmail"):
                assert "refresh_token" not in again
            else:
                assert again["refresh_token"] == tokens["refresh_token"]
            assert ("x_refresh_token_expires_in" in tokens) is (provider == "quickbooks")
            assert (await exchange(http, simulators, provider, answer["code"])).json()[
                "error"
            ] == "invalid_grant"


async def test_the_consent_page_asks_and_its_buttons_decide() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        url = simulators.addresses("hubspot")["authorize_url"]
        for decision, expected in (("allow", "code"), ("deny", "error")):
            page = await http.get(url, params=authorize_query(simulators, "hubspot"))
            assert page.status_code == 200
            assert "crm.objects.contacts.read" in page.text
            (request,) = re.findall(r'name="request" value="([^"]+)"', page.text)
            form = {"request": request, "decision": decision}
            assert expected in answer_of(await http.post(url, data=form))
            assert (await http.post(url, data=form)).status_code == 400  # answered already


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"scope": "everything"}, "invalid_scope"),
        ({"scope": ""}, "invalid_scope"),
        ({"state": ""}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
    ],
)
async def test_a_wrong_request_for_consent_is_sent_back_to_the_client(
    changed: dict[str, str], error: str
) -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        assert answer_of(await ask(http, simulators, "hubspot", **changed))["error"] == error


async def test_an_unknown_client_or_redirect_is_never_redirected() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        assert (await ask(http, simulators, "gmail", client_id="other")).status_code == 401
        wrong = await ask(http, simulators, "gmail", redirect_uri="https://evil.example/cb")
        assert (wrong.status_code, "location" in wrong.headers) == (400, False)
        simulators.gmail.oauth.redirect_uris = frozenset({"https://app.example/cb"})
        assert (await ask(http, simulators, "gmail")).status_code == 400


async def test_the_code_is_bound_to_verifier_redirect_and_client() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        for changed in ({"code_verifier": "x" * 43}, {"redirect_uri": "http://127.0.0.1:9/other"}):
            code = answer_of(await ask(http, simulators, "hubspot"))["code"]
            refused = await exchange(http, simulators, "hubspot", code, **changed)
            assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
        code = answer_of(await ask(http, simulators, "hubspot"))["code"]
        simulators.hubspot.oauth.client_secret = "rotated"
        url = simulators.addresses("hubspot")["token_url"]
        form = {"grant_type": "authorization_code", "code": code, "client_id": "sim-hubspot-client"}
        refused = await http.post(url, data=form | {"client_secret": "sim-hubspot-secret"})
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")


async def test_google_gives_a_refresh_token_only_for_offline_access_with_consent() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        for changed in ({"prompt": ""}, {"access_type": ""}):
            code = answer_of(await ask(http, simulators, "google_drive", **changed))["code"]
            assert "refresh_token" not in (await exchange(http, simulators, "google_drive", code)).json()


async def test_intuit_wants_basic_and_hubspot_the_body() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        for provider, basic in (("quickbooks", False), ("hubspot", True)):
            at = simulators.addresses(provider)
            client = {"client_id": at["client_id"], "client_secret": at["client_secret"]}
            form = {"grant_type": "refresh_token", "refresh_token": simulators.issue_tokens(provider)[1]}
            if basic:
                pair = (at["client_id"], at["client_secret"])
                refused = await http.post(at["token_url"], data=form, auth=pair)
            else:
                refused = await http.post(at["token_url"], data=form | client)
            assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")


@pytest.mark.parametrize("rotation", ["never", "each_use", "24h"])
async def test_refresh_tokens_rotate_as_told(rotation: Literal["never", "each_use", "24h"]) -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        simulators.quickbooks.oauth.grants.rotation = rotation
        first = simulators.issue_tokens("quickbooks")[1]
        second = (await refresh(http, simulators, "quickbooks", first)).json()["refresh_token"]
        simulators.world.clock.advance(86_400)
        third = (await refresh(http, simulators, "quickbooks", second)).json()["refresh_token"]
        expected = {"never": (True, True), "each_use": (False, False), "24h": (True, False)}
        assert (first == second, second == third) == expected[rotation]
        old = await refresh(http, simulators, "quickbooks", first)
        assert old.status_code == (200 if rotation == "never" else 400)


async def test_a_refresh_token_expires_if_it_is_not_used() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        token = simulators.issue_tokens("quickbooks")[1]
        simulators.world.clock.advance(101 * 86_400)
        refused = await refresh(http, simulators, "quickbooks", token)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


async def test_a_lost_response_rotates_the_token_all_the_same() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        simulators.quickbooks.oauth.grants.rotation = "each_use"
        token = simulators.issue_tokens("quickbooks")[1]
        simulators.fail("lost_response", "quickbooks", surface="token")
        with pytest.raises(httpx2.RemoteProtocolError):
            await refresh(http, simulators, "quickbooks", token)
        assert (await refresh(http, simulators, "quickbooks", token)).json()["error"] == "invalid_grant"


async def test_revocation_ends_the_access_and_the_refresh_token() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        for provider in PROVIDERS:
            at = simulators.addresses(provider)
            access, refresher = simulators.issue_tokens(provider)
            client = {"client_id": at["client_id"], "client_secret": at["client_secret"]}
            if provider == "quickbooks":
                pair = (at["client_id"], at["client_secret"])
                revoked = await http.post(at["revoke_url"], json={"token": refresher}, auth=pair)
            else:
                revoked = await http.post(at["revoke_url"], data={"token": refresher, **client})
            assert revoked.status_code == 200
            assert (await refresh(http, simulators, provider, refresher)).json()["error"] == "invalid_grant"
            bearer = {"authorization": f"Bearer {access}"}
            assert (await http.post(at["mcp_url"], json={}, headers=bearer)).status_code == 401


async def test_each_provider_says_whose_account_it_is() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        for provider in ("google_drive", "gmail"):
            async with signed_in(simulators, provider) as client:
                assert (await client.get("/v1/userinfo")).json()["email"] == "sam.miller@millbrook.example"
        at = simulators.addresses("hubspot")
        access, refresher = simulators.issue_tokens("hubspot")
        client_of = {"client_id": at["client_id"], "client_secret": at["client_secret"]}
        for token, use in ((access, "access_token"), (refresher, "refresh_token")):
            shown = (await http.post(at["identity_url"], data={"token": token, **client_of})).json()
            assert (shown["active"], shown["token_use"], shown["hub_id"]) == (True, use, 44_820_017)
        older = (await http.get(f"{at['api_url']}/oauth/v1/access-tokens/{access}")).json()
        assert older["hub_domain"] == "millbrook.example"
        async with signed_in(simulators, "quickbooks") as client:
            realm = "9341453908059321"
            shown = (await client.get(f"/v3/company/{realm}/companyinfo/{realm}")).json()
            assert shown["CompanyInfo"]["CompanyName"] == "Millbrook Consulting"


async def test_an_mcp_path_without_a_token_names_its_authorisation_server() -> None:
    async with serving_providers(contacts=5) as simulators, open_http() as http:
        refused = await http.post(simulators.addresses("gmail")["mcp_url"], json={})
        assert refused.status_code == 401
        (where,) = re.findall(r'resource_metadata="([^"]+)"', refused.headers["www-authenticate"])
        assert urlsplit(where).path == "/.well-known/oauth-protected-resource/gmail/mcp/v1"
        shown = (await http.get(where)).json()
        assert shown["authorization_servers"] == [f"{simulators.url}/gmail"]
