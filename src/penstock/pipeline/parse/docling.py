"""Parses with a Docling service over HTTP: uploads the file, polls until done, fetches the Markdown."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2

from penstock.model import Parsed, media
from penstock.net import ResponseRefused, open_client, retry_after
from penstock.pipeline.parse.errors import ParserUnavailable
from penstock.pipeline.parse.result import parsed
from penstock.pipeline.reasons import Reason, rejected

KINDS = frozenset({media.PDF, media.DOCX}) | media.IMAGES
"""Types that Docling reads better than we do; it omits the notes of slides."""
POLL_SECONDS = 5
_PAGE_BREAK = "<!-- next page -->"
_MEGABYTE = 1_048_576


class DoclingParser:
    """A client of docling-serve, version 1 of its API."""

    def __init__(self, url: str, *, api_key: str | None, seconds: float, output_mb: int) -> None:
        self._url = url.rstrip("/")
        self._seconds = seconds
        self._output_mb = output_mb
        self._headers = {"X-Api-Key": api_key} if api_key else {}
        # An operator's own service is usually in a private network.
        self._client = open_client(
            allow_private=True, max_answer_bytes=output_mb * _MEGABYTE, total_seconds=seconds
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def parse(self, path: Path, *, mime_type: str, filename: str | None = None) -> Parsed:
        """Raises DocumentRejected, or ParserUnavailable if a retry may help."""
        try:
            async with asyncio.timeout(self._seconds):
                task = await self._hand_in(path, mime_type)
                await self._until_done(task)
                answer = await self._call("GET", f"/v1/result/{task}")
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise rejected(Reason.TIMEOUT, f"parsing takes longer than {self._seconds:g} s") from error
        except ResponseRefused as error:
            raise rejected(
                Reason.OUTPUT_TOO_LARGE, f"its text is larger than {self._output_mb} MB"
            ) from error
        except httpx2.HTTPError as error:
            raise ParserUnavailable(self._url, f"{type(error).__name__}: {error}") from error
        # Regular expressions over the whole text must not run on the event loop.
        return await asyncio.to_thread(_parsed, answer)

    async def _hand_in(self, path: Path, mime_type: str) -> str:
        wanted = {
            "to_formats": "md",
            "image_export_mode": "placeholder",
            "md_page_break_placeholder": _PAGE_BREAK,
            "abort_on_error": "false",
        }
        file = await asyncio.to_thread(path.open, "rb")
        with file:
            named = (f"document.{media.extension(mime_type)}", file, mime_type)
            answer = await self._call("POST", "/v1/convert/file/async", data=wanted, files={"files": named})
        return str(answer["task_id"])

    async def _until_done(self, task: str) -> None:
        """The service waits up to POLL_SECONDS before it responds, so there are few requests."""
        while True:
            answer = await self._call("GET", f"/v1/status/poll/{task}", params={"wait": POLL_SECONDS})
            if answer.get("task_status") in ("success", "failure"):
                return
            await asyncio.sleep(0.05)

    async def _call(self, method: str, address: str, **options: Any) -> dict[str, Any]:
        response = await self._client.request(method, self._url + address, headers=self._headers, **options)
        if response.status_code in (401, 403):
            raise ParserUnavailable(self._url, "it rejects our API key", "Correct PENSTOCK_DOCLING_API_KEY")
        if response.status_code in (400, 413, 415, 422):
            raise rejected(Reason.UNSUPPORTED, f"Docling rejected the file: status {response.status_code}")
        if response.status_code != 200:
            raise ParserUnavailable(
                self._url,
                f"it responded with {response.status_code}",
                retry_after=retry_after(response.headers),
            )
        try:
            answer = await asyncio.to_thread(response.json)
        except ValueError as error:
            raise ParserUnavailable(self._url, "its response is not JSON") from error
        if not isinstance(answer, dict):
            raise ParserUnavailable(self._url, "its response is not a JSON object")
        return answer


def _parsed(answer: dict[str, Any]) -> Parsed:
    errors = tuple(str(error.get("error_message", error))[:300] for error in answer.get("errors") or ())
    text = (answer.get("document") or {}).get("md_content") or ""
    if answer.get("status") not in ("success", "partial_success"):
        said = errors[0] if errors else "Docling gave no reason"
        locked = "password" in said.lower() or "encrypted" in said.lower()
        raise rejected(Reason.ENCRYPTED if locked else Reason.MALFORMED, said)
    pages: list[tuple[int | None, str]] = list(enumerate(text.split(_PAGE_BREAK), start=1))
    if len(pages) == 1:
        pages = [(None, text)]
    found = parsed(
        ((page, said.replace("<!-- image -->", "")) for page, said in pages),
        parser="docling",
        page_count=len(pages) if len(pages) > 1 else None,
        warnings=errors,
    )
    if not found.text.strip():
        raise rejected(Reason.EMPTY, "the file contains no text")
    return found
