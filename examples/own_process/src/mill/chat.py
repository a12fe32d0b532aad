"""The channel `chat`: posts a line to the chat room whose address is MILL_CHAT_URL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx2

from penstock import ProviderFailed, TaskRun


class ChatChannel:
    """A busy or absent chat server may be asked again; what it rejects, it will reject the next time too."""

    concurrency = 2

    def __init__(self) -> None:
        self._http = httpx2.AsyncClient(timeout=10)

    async def call(self, request: Mapping[str, Any], run: TaskRun) -> Mapping[str, Any]:
        try:
            line = {"text": str(request["subject"]), "id": f"task-{run.task_id}"}
            response = await self._http.post(os.environ["MILL_CHAT_URL"], json=line)
        except httpx2.HTTPError as error:
            raise ProviderFailed(
                "chat", f"{type(error).__name__}: {error}", "Look at the chat server", retriable=True
            ) from error
        if response.status_code >= 400:
            raise ProviderFailed(
                "chat",
                f"it answered {response.status_code}",
                "Correct the line, or MILL_CHAT_URL",
                retriable=response.status_code >= 500,
            )
        return {"status": response.status_code}

    async def close(self) -> None:
        await self._http.aclose()
