"""Graph's $batch: up to 20 requests in one, each with a status of its own."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call
from penstock.simulators.providers.microsoft.errors import error

if TYPE_CHECKING:
    from penstock.simulators.providers.microsoft.provider import Outlook

MOST: Final = 20
Inner = Callable[[Request, bytes], Awaitable[Response]]


async def batch(outlook: Outlook, call: Call) -> Response:
    """Each inner request is answered as if it had come alone, faults and limits included."""
    given = call.json if isinstance(call.json, dict) else {}
    requests = given.get("requests")
    if not isinstance(requests, list) or not requests:
        return error(400, "BadRequest", "Invalid batch payload format.")
    if len(requests) > MOST:
        return error(400, "BadRequest", f"Number of batch request steps exceeds the maximum value of {MOST}.")
    ids = [each.get("id") for each in requests if isinstance(each, dict)]
    if len(set(ids)) != len(requests) or None in ids:
        return error(400, "BadRequest", "Every request needs an id of its own.")
    inner: Inner = call.request.scope["penstock.inner"]
    answers = await asyncio.gather(*(_answer(call, each, inner) for each in requests))
    return JSONResponse({"responses": answers})


async def _answer(call: Call, given: dict[str, Any], inner: Inner) -> dict[str, Any]:
    url = urlsplit(str(given.get("url", "")))
    headers = {str(name).lower(): str(value) for name, value in (given.get("headers") or {}).items()}
    headers["authorization"] = call.authorization or ""
    headers["host"] = call.request.headers.get("host", "")
    body = json.dumps(given["body"]).encode() if "body" in given else b""
    prefix = call.request.scope["path"].removesuffix("/$batch")
    scope = {
        **{name: call.request.scope[name] for name in ("type", "http_version", "scheme", "server")},
        "method": str(given.get("method", "GET")).upper(),
        "path": f"{prefix}/{url.path.lstrip('/')}",
        "query_string": url.query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    response = await inner(Request(scope), body)
    shown: dict[str, Any] = {
        "id": given["id"],
        "status": response.status_code,
        "headers": {name: value for name, value in response.headers.items() if name != "content-length"},
    }
    content = bytes(response.body)
    if response.headers.get("content-type", "").startswith("application/json"):
        shown["body"] = json.loads(content)
    elif content:
        shown["body"] = base64.b64encode(content).decode()
    return shown
