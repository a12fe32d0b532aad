"""Sends requests to the API, retries if that is safe and requested, and raises its errors."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx2

from penstock.client.problem import ApiProblem

_AGAIN: Final = frozenset({429, 503})
_LONGEST_WAIT: Final = 30.0


def _trust(base_url: str) -> ssl.SSLContext | bool:
    """An http address needs none of the system's certificates, and reading them takes 20 ms."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if base_url.startswith("http://") else True


class ApiConnection:
    """A pool of connections to one API with one key."""

    def __init__(self, base_url: str, api_key: str, *, attempts: int, timeout: float) -> None:
        self._attempts = attempts
        self._http = httpx2.AsyncClient(
            base_url=base_url.rstrip("/"),
            headers={"Authorization": f"Bearer {api_key}", "Accept": "application/json"},
            timeout=timeout,
            verify=_trust(base_url),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        body: Callable[[], Mapping[str, Any]] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The response's JSON. `body` creates a streamed body for each attempt.

        Retried: 429 and 503, after the seconds they ask for; a lost connection only if a second request
        cannot do any harm.
        """
        request: dict[str, Any] = {"params": {k: v for k, v in (params or {}).items() if v is not None}}
        if json is not None:
            request["json"] = json
        if idempotency_key is not None:
            request["headers"] = {"Idempotency-Key": idempotency_key}
        if timeout is not None:
            request["timeout"] = timeout
        safe = method in ("GET", "PUT", "DELETE") or idempotency_key is not None
        for attempt in range(1, self._attempts + 1):
            last = attempt == self._attempts
            try:
                answer = await self._http.request(method, path, **request, **(body() if body else {}))
            except httpx2.TransportError:
                if last or not safe:
                    raise
                await asyncio.sleep(_pause(attempt, None))
                continue
            if answer.is_success:
                return answer.json() if answer.content else None
            refused = problem_of(answer)
            if last or not (answer.status_code in _AGAIN or refused.kind == "in-flight"):
                raise refused
            await asyncio.sleep(_pause(attempt, answer.headers.get("retry-after")))
        raise AssertionError("the last attempt returns or raises")

    def stream(self, path: str) -> Any:
        """An open response to be read piece by piece."""
        return self._http.stream("GET", path, headers={"Accept": "*/*"})


def problem_of(answer: httpx2.Response) -> ApiProblem:
    """The error a response describes; one without a problem document still has its status."""
    try:
        found = answer.json()
    except ValueError:
        found = {}
    return ApiProblem(answer.status_code, found if isinstance(found, dict) else {})


def _pause(attempt: int, asked: str | None) -> float:
    if asked is not None and asked.isdigit():
        return min(_LONGEST_WAIT, float(asked)) + random.random() * 0.1
    return min(_LONGEST_WAIT, 0.2 * 2.0 ** (attempt - 1)) * (1 + random.random())
