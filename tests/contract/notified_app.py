"""An endpoint for notifications: answers the handshake, keeps what it gets, and fails on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from penstock.simulators import serving

if TYPE_CHECKING:
    import httpx2
    from starlette.types import Receive, Scope, Send


class NotifiedApp:
    """`statuses` are the next answers to notifications, then 202; `hold` delays each answer."""

    def __init__(self) -> None:
        self.url = ""
        self.posts: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.handshakes: list[str] = []
        self.statuses: list[int] = []
        self.echo = "text/plain"
        self.hold = 0.0
        self._came = asyncio.Condition()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        body = await request.body()
        if token := request.query_params.get("validationToken"):
            self.handshakes.append(request.url.path)
            await asyncio.sleep(self.hold)
            await PlainTextResponse(token, media_type=self.echo)(scope, receive, send)
            return
        status = self.statuses.pop(0) if self.statuses else 202
        async with self._came:
            self.posts.append(json.loads(body))
            self.headers.append(dict(request.headers))
            self._came.notify_all()
        await asyncio.sleep(self.hold)
        await Response(status_code=status)(scope, receive, send)

    @property
    def values(self) -> list[dict[str, Any]]:
        """The notifications in Graph's posts, in the order they came."""
        return [value for post in self.posts for value in post["value"]]

    async def until(self, posts: int) -> None:
        """Wait until this many posts have come."""
        async with asyncio.timeout(60), self._came:
            await self._came.wait_for(lambda: len(self.posts) >= posts)


@asynccontextmanager
async def notified() -> AsyncIterator[NotifiedApp]:
    app = NotifiedApp()
    async with serving(app, lifespan="off") as url:
        app.url = url
        yield app


async def subscribe(client: httpx2.AsyncClient, app: NotifiedApp, **changed: Any) -> httpx2.Response:
    """A good request for a subscription to the inbox, with these fields changed; none leaves one out."""
    wanted = {
        "changeType": "created",
        "notificationUrl": f"{app.url}/outlook",
        "lifecycleNotificationUrl": f"{app.url}/lifecycle",
        "resource": "me/mailFolders('inbox')/messages",
        "expirationDateTime": (datetime.now(UTC) + timedelta(minutes=10_000)).isoformat(),
        "clientState": "secret-of-the-client",
        **changed,
    }
    body = {name: value for name, value in wanted.items() if value is not None}
    return await client.post("/v1.0/subscriptions", json=body, headers={"prefer": 'IdType="ImmutableId"'})
