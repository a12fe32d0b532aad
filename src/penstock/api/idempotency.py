"""The header Idempotency-Key: the first response is stored and returned again for repeated requests."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import secrets as random
from collections.abc import Awaitable, Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from fastapi.responses import JSONResponse

from penstock.accounts import Caller, Reply
from penstock.accounts.caller import TENANT_HEADER
from penstock.api.identity import engine_of, presented_secret
from penstock.api.problem import HttpRefused
from penstock.api.shown_once import without_secrets
from penstock.errors import Conflict, InvalidArgument

if TYPE_CHECKING:
    from fastapi import Request, Response

_KEY: Final = re.compile(r"[!-~]{1,255}")
_PREFIX: Final = b"penstock idempotency\n"
_REPLAYED: Final = {"Idempotent-Replayed": "true"}


def key_of(request: Request) -> str | None:
    """The idempotency key of a request, if there is one."""
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidArgument(
            "the idempotency key must be 1 to 255 visible ASCII characters", "Idempotency-Key", "Use a UUID"
        )
    return key


async def once(
    request: Request,
    caller: Caller,
    key: str,
    body: bytes,
    handler: Callable[[Request], Awaitable[Response]],
    secrets: Collection[str] = (),
) -> Response:
    """Run the handler unless its response is stored; errors are not stored, so they can be retried.

    Responses are stored per tenant, so a call about the whole installation cannot have a key.

    The fields named in `secrets` are never stored.
    """
    if caller.tenant is None:
        raise InvalidArgument(
            "responses are stored for a tenant, and this request names none",
            "Idempotency-Key",
            f"Remove the header, or name a tenant in {TENANT_HEADER}",
        )
    async with Once(request, caller, key, body) as first:
        if first.kept is not None:
            return JSONResponse(first.kept.body, first.kept.status, headers=_REPLAYED)
        response = await handler(request)
        if response.status_code < 300:
            answered = json.loads(bytes(response.body) or b"null")
            await first.keep(response.status_code, without_secrets(answered, secrets))
        return response


class Once:
    """The time between a request and its stored response; if it ends without one, the key is released."""

    def __init__(self, request: Request, caller: Caller, key: str, body: bytes = b"") -> None:
        self.kept: Reply | None = None
        self._replies = engine_of(request).replies
        self._caller = caller
        self._key = key
        self._sha256 = _fingerprint(request, body)
        self._open = False

    async def __aenter__(self) -> Once:
        try:
            self.kept = await self._replies.begin(self._caller, self._key, self._sha256)
        except Conflict as busy:
            raise HttpRefused(
                "in-flight", busy.message, busy.remedy, field=busy.field, headers={"Retry-After": "1"}
            ) from busy
        except InvalidArgument as reused:
            raise HttpRefused("key-reused", reused.message, reused.remedy, field=reused.field) from reused
        self._open = self.kept is None
        return self

    async def keep(self, status: int, body: Any) -> None:
        await self._replies.keep(self._caller, self._key, Reply(status, body))
        self._open = False

    async def __aexit__(self, *_: object) -> None:
        if self._open:
            # Also if the request was cancelled: otherwise the key would return 409 until it expires.
            await asyncio.shield(self._replies.keep(self._caller, self._key, None))


def replayed_upload(kept: Reply, digest: str) -> Response:
    """The stored response of an upload, if the same content was sent again."""
    if kept.body.get("sha256") != digest:
        raise HttpRefused(
            "key-reused",
            "This idempotency key was used with another file",
            "Use a new key for a new request",
            field="Idempotency-Key",
        )
    return JSONResponse(kept.body["reply"], kept.status, headers=_REPLAYED)


def _fingerprint(request: Request, body: bytes) -> bytes:
    """What tells a repeated request from another one, and nothing to a reader of the database.

    A body may contain a password, which a plain hash would let that reader guess. The key is the caller's
    API key or session token, of which the database has only the SHA-256: the prefix keeps that from being
    the HMAC's key. Without sign-in it is this process's own, so that after a restart no key is known again.
    """
    secret = presented_secret(request)
    key = hashlib.sha256(_PREFIX + secret.encode("utf-8", "surrogatepass")).digest() if secret else _own_key()
    asked = f"{request.method} {request.url.path}?{request.url.query}\n".encode("utf-8", "replace")
    return hmac.digest(key, asked + body, "sha256")


@cache
def _own_key() -> bytes:
    return random.token_bytes(32)
