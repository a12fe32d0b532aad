"""Where files are parsed: hands each to a child process, or to Docling, and names what went wrong."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.model import Parsed
from penstock.pipeline.parse.docling import KINDS, DoclingParser
from penstock.pipeline.parse.in_child import kind_of, read_document
from penstock.pipeline.parse.reasons import Reason, rejected
from penstock.sandbox import (
    Sandbox,
    SandboxCrashed,
    SandboxOutOfMemory,
    SandboxOutputTooLarge,
    SandboxRaised,
    SandboxTimeout,
)
from penstock.settings import Settings

PRELOAD = ("penstock.pipeline.parse.readers.shelf", "penstock.pipeline.chunk.chunker")

ParserName: TypeAlias = Literal["auto", "local", "docling"]


class ParseDesk:
    """A parser of all kinds with the settings' limits. Start it once a process, close it at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._sandbox = Sandbox(settings.parse_processes, memory_mb=settings.parse_memory_mb, preload=PRELOAD)
        self._docling: DoclingParser | None = None

    async def start(self) -> None:
        limits = self._settings
        if limits.docling_url is not None:
            self._docling = DoclingParser(
                limits.docling_url,
                api_key=limits.docling_api_key,
                seconds=limits.parse_seconds,
                output_mb=limits.parse_output_mb,
            )
        await self._sandbox.start()

    async def close(self) -> None:
        await self._sandbox.close()
        if self._docling is not None:
            await self._docling.close()

    @property
    def sandbox(self) -> Sandbox:
        """The children, for other work on what they parsed."""
        return self._sandbox

    async def parse(
        self,
        path: Path,
        *,
        mime_type: str,
        filename: str | None = None,
        by: ParserName = "auto",
        owner: str | None = None,
    ) -> Parsed:
        """The file's text and structure; raises DocumentRejected with one of the codes of `Reason`.

        Owners (tenants) share the parsers, so that one with slow files does not keep the others waiting.
        A document goes to Docling only if it asks for that, or if PENSTOCK_DOCLING_AUTO is set. Then
        ParserUnavailable may be raised as well, and another try may help.
        """
        if by == "docling" and self._docling is None:
            raise rejected(
                Reason.UNSUPPORTED,
                "its pipeline asks for Docling, and no service is set; set PENSTOCK_DOCLING_URL",
            )
        wanted = by == "docling" or (by == "auto" and self._settings.docling_auto)
        if self._docling is not None and wanted:
            kind, warnings = await asyncio.to_thread(kind_of, path, mime_type, filename)
            if kind in KINDS:
                parsed = await self._docling.parse(path, mime_type=kind, filename=filename)
                return dataclasses.replace(parsed, warnings=warnings + parsed.warnings)
        return await self._in_sandbox(path, mime_type, filename, owner)

    async def _in_sandbox(
        self, path: Path, mime_type: str, filename: str | None, owner: str | None
    ) -> Parsed:
        limits = self._settings
        try:
            return await self._sandbox.run(
                read_document,
                os.path.abspath(path),  # noqa: ASYNC240  # no file is touched
                mime_type,
                filename,
                limits.ocr_language,
                seconds=limits.parse_seconds,
                output_mb=limits.parse_output_mb,
                owner=owner,
            )
        except SandboxTimeout as error:
            raise rejected(Reason.TIMEOUT, f"parsing takes longer than {limits.parse_seconds:g} s") from error
        except SandboxOutOfMemory as error:
            raise rejected(Reason.OOM, f"parsing needs more than {limits.parse_memory_mb} MB") from error
        except SandboxOutputTooLarge as error:
            raise rejected(
                Reason.OUTPUT_TOO_LARGE, f"its text is larger than {limits.parse_output_mb} MB"
            ) from error
        except (SandboxCrashed, SandboxRaised) as error:
            raise rejected(Reason.CRASH, f"the file breaks the parser: {error.message}") from error
