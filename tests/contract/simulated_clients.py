"""Clients of the simulated providers: HTTP with a token, MCP, and the steps of OAuth."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from penstock.settings import Settings
from penstock.simulators.providers import ProviderSimulators
from penstock.source_settings import provider_settings

if TYPE_CHECKING:
    from mcp.client.client import ConnectMode

REDIRECT = "http://127.0.0.1:9/oauth/callback"
VERIFIER = "simulated-verifier-of-at-least-forty-three-characters"


def open_http(**options: Any) -> httpx2.AsyncClient:
    """A client without the certificates of the system, which take 80 ms to load."""
    return httpx2.AsyncClient(verify=False, **options)  # loopback


def challenge(verifier: str = VERIFIER) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def authorize_query(simulators: ProviderSimulators, provider: str, **changed: str) -> dict[str, str]:
    """A good request for consent, with these parameters changed; an empty one is left out."""
    chosen = provider_settings(Settings(**simulators.settings(), _env_file=None), provider)
    query = {
        "client_id": str(chosen.client_id),
        "redirect_uri": REDIRECT,
        "response_type": "code",
        "state": "state-1",
        "scope": " ".join(chosen.scopes),
        "code_challenge": challenge(),
        "code_challenge_method": "S256",
        "access_type": "offline",
        "prompt": "consent",
    }
    return {name: value for name, value in (query | changed).items() if value}


def answer_of(response: httpx2.Response) -> dict[str, str]:
    """The parameters of a redirect to the client."""
    assert response.status_code == 302, response.text
    assert response.headers["location"].startswith(REDIRECT)
    return {
        name: values[0] for name, values in parse_qs(urlsplit(response.headers["location"]).query).items()
    }


async def post_token(
    http: httpx2.AsyncClient, simulators: ProviderSimulators, provider: str, form: Mapping[str, str]
) -> httpx2.Response:
    """A request to the token endpoint, with the client's credentials as the vendor wants them."""
    at = simulators.addresses(provider)
    client = {"client_id": at["client_id"], "client_secret": at["client_secret"]}
    if provider == "quickbooks":
        return await http.post(at["token_url"], data=dict(form), auth=(at["client_id"], at["client_secret"]))
    return await http.post(at["token_url"], data={**form, **client})


async def exchange(
    http: httpx2.AsyncClient, simulators: ProviderSimulators, provider: str, code: str, **changed: str
) -> httpx2.Response:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER,
    }
    return await post_token(http, simulators, provider, form | changed)


async def refresh(
    http: httpx2.AsyncClient, simulators: ProviderSimulators, provider: str, token: str
) -> httpx2.Response:
    return await post_token(
        http, simulators, provider, {"grant_type": "refresh_token", "refresh_token": token}
    )


@asynccontextmanager
async def signed_in(simulators: ProviderSimulators, provider: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client whose paths are below the provider's prefix, with a token for everything."""
    token, _ = simulators.issue_tokens(provider)
    headers = {"authorization": f"Bearer {token}"}
    async with open_http(base_url=f"{simulators.url}/{provider}", headers=headers) as client:
        yield client


@asynccontextmanager
async def mcp_client(
    simulators: ProviderSimulators,
    provider: str,
    *,
    sandbox: bool = False,
    mode: ConnectMode = "auto",
    http: httpx2.AsyncClient | None = None,
) -> AsyncIterator[Client]:
    url = simulators.addresses(provider)["sandbox_mcp_url" if sandbox else "mcp_url"]
    token, _ = simulators.issue_tokens(provider)
    async with open_http(headers={"authorization": f"Bearer {token}"}) as own:
        transport = streamable_http_client(url, http_client=http or own, max_sse_event_size=None)
        async with Client(transport, mode=mode) as client:
            yield client


async def call(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured content of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content
    return content
