"""The path prefix under which a reverse proxy serves us: removed from requests that have it, put before
links."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import Request
    from starlette.types import ASGIApp, Receive, Scope, Send


class PathPrefix:
    """Serves requests with and without the prefix, because some proxies remove it."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path: str = scope["path"]
            if path == self._prefix or path.startswith(self._prefix + "/"):
                scope = {**scope, "path": path[len(self._prefix) :] or "/"}
                if scope.get("raw_path"):
                    scope["raw_path"] = scope["raw_path"][len(self._prefix) :] or b"/"
        await self._app(scope, receive, send)


def prefix_of(request: Request) -> str:
    """What comes before our own paths in the browser's address: the setting, or where we are mounted."""
    setting: str | None = request.app.state.engine.settings.api_prefix
    return setting or str(request.scope.get("root_path", "")).rstrip("/")
