"""Posts one request to an embedder and turns failures into Penstock's errors."""

from __future__ import annotations

from typing import Final

import httpx2

from penstock.embed.remote.wire import EmbedRequest, Wire
from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderRefused, EmbedderUnavailable
from penstock.net import AddressRefused, ResponseRefused, retry_after

_PASSING: Final = frozenset({408, 409, 425})
_LONGEST_REASON: Final = 200


async def post(client: httpx2.AsyncClient, wire: Wire, model: str, address: str, call: EmbedRequest) -> bytes:
    """The body of a 200 response; anything else raises."""
    url = address.rstrip("/") + call.path
    try:
        response = await client.post(url, headers=call.headers, json=call.body)
    except (AddressRefused, httpx2.InvalidURL) as refused:
        raise EmbedderRefused(model, str(refused), f"Correct {wire.url_variable}") from refused
    except ResponseRefused as refused:
        raise EmbedderFailed(model, refused.message) from refused
    except httpx2.HTTPError as error:
        raise EmbedderUnavailable(model, f"no answer ({type(error).__name__})") from error
    status = response.status_code
    if status == 200:
        return response.content
    reason = f"it answered {status}{_said(response, call)}"
    if status == 429:
        raise EmbedderBusy(model, reason, retry_after(response.headers))
    if status >= 500 or status in _PASSING:
        raise EmbedderUnavailable(model, reason, retry_after(response.headers))
    raise EmbedderRefused(model, reason, _remedy(status, wire))


def _remedy(status: int, wire: Wire) -> str:
    if status in (401, 403):
        return f"Check {wire.key_variable}"
    if status == 404 or status < 400:
        return f"Check the model's name and {wire.url_variable}"
    return "Check the model's name, and that the project's chunks are not longer than the model accepts"


def _said(response: httpx2.Response, call: EmbedRequest) -> str:
    """The vendor's error message, unless it repeats what we sent: texts and keys must not be logged."""
    try:
        answer = response.json()
    except ValueError:
        return ""
    error = answer.get("error", answer) if isinstance(answer, dict) else None
    message = error if isinstance(error, str) else None
    if isinstance(error, dict):
        message = next((error[name] for name in ("message", "detail", "code") if name in error), None)
    if not isinstance(message, str):
        return ""
    sent = [*call.headers.values(), *(value for value in call.headers.values() for value in value.split())]
    texts = call.body.get("input", call.body.get("texts"))
    sent += [text[:20] for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
    if any(piece and piece in message for piece in sent):
        return ""
    return f": {' '.join(message.split())[:_LONGEST_REASON]}"
