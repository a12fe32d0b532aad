"""A client of simulated Graph: pages, rounds of a delta query, and an empty mailbox to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.simulators.providers import serving_providers

if TYPE_CHECKING:
    import httpx2

IMMUTABLE = {"prefer": 'IdType="ImmutableId"'}
INBOX = "/v1.0/me/mailFolders/inbox/messages"


async def get(client: httpx2.AsyncClient, path: str, **query: Any) -> Any:
    response = await client.get(path, params=query or None, headers=IMMUTABLE)
    assert response.status_code == 200, response.text
    return response.json()


async def walk(client: httpx2.AsyncClient, path: str, **query: Any) -> tuple[list[Any], str, int]:
    """All values of a round, its delta link and the number of pages."""
    page, pages = await get(client, path, **query), 1
    values = list(page["value"])
    while "@odata.nextLink" in page:
        page, pages = await get(client, page["@odata.nextLink"]), pages + 1
        values += page["value"]
    return values, page["@odata.deltaLink"], pages


def outlook(**sizes: Any) -> Any:
    return serving_providers(**{"contacts": 3, "mails": 0, "threads": 0, **sizes})
