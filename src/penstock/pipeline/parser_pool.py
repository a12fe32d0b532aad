"""Parses files in child processes or with Docling, and maps failures to reasons."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path

from penstock.model import Parsed
from penstock.model.pipeline_options import ParserName
from penstock.pipeline.chunk.in_child import chunk_document, load_tokenizer
from penstock.pipeline.chunk.plan import ChunkPlan
from penstock.pipeline.parse.docling import KINDS, DoclingParser
from penstock.pipeline.parse.in_child import kind_of
from penstock.pipeline.parsed_files import ParsedFiles
from penstock.pipeline.read_and_chunk import Wanted, load, read_and_chunk
from penstock.pipeline.reasons import Reason, rejected
from penstock.sandbox import (
    InputFile,
    OutputFile,
    Sandbox,
    SandboxCrashed,
    SandboxFilesTooLarge,
    SandboxOutOfMemory,
    SandboxOutputTooLarge,
    SandboxRaised,
    SandboxTimeout,
)
from penstock.sandbox.frames import MEGABYTE
from penstock.settings import Settings

PRELOAD = ("penstock.pipeline.read_and_chunk",)
FREE_MB = 10
PARSE_SECONDS_PER_MB = 2.0
CHUNK_SECONDS_PER_MB = 10.0
"""Extra seconds beyond PENSTOCK_PARSE_SECONDS for each megabyte over the first ten."""
LARGEST_FILE_MB = 512
"""The largest temporary file a parser may write."""


class ParserPool:
    """Parses all types within the settings' limits. Start it once per process and close it at the end."""

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
        """The sandboxed child processes."""
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
        """Like `parse_to`, with the whole document in memory."""
        with tempfile.TemporaryDirectory(prefix="penstock-parsed-") as folder:
            files = await self.parse_to(
                Path(folder), path, mime_type=mime_type, filename=filename, by=by, owner=owner
            )
            return await asyncio.to_thread(files.whole)

    async def parse_to(
        self,
        folder: Path,
        path: Path,
        *,
        mime_type: str,
        filename: str | None = None,
        by: ParserName = "auto",
        owner: str | None = None,
        plan: ChunkPlan | None = None,
    ) -> ParsedFiles:
        """Parse a file into files in a folder; raises DocumentRejected with a code of `Reason`.

        With a plan, a short text is chunked by it as well, and `chunk` has nothing left to do.

        Owners (tenants) share the parsers fairly, so that slow files of one do not block the others.
        A document goes to Docling only if it asks for that, or if PENSTOCK_DOCLING_AUTO is set. Then
        ParserUnavailable may be raised as well, and a retry may help.
        """
        if by == "docling" and self._docling is None:
            raise rejected(
                Reason.UNSUPPORTED,
                "its pipeline asks for Docling, but none is configured; set PENSTOCK_DOCLING_URL",
            )
        files = ParsedFiles(folder)
        wanted = by == "docling" or (by == "auto" and self._settings.docling_auto)
        if self._docling is not None and wanted:
            kind, warnings = await asyncio.to_thread(kind_of, path, mime_type, filename)
            if kind in KINDS:
                parsed = await self._docling.parse(path, mime_type=kind, filename=filename)
                parsed = dataclasses.replace(parsed, warnings=warnings + parsed.warnings)
                return await asyncio.to_thread(files.keep, parsed, self._most_bytes)
        return await self._in_sandbox(files, path, filename, Wanted(mime_type, plan), owner)

    def _seconds_for(self, path: Path, per_mb: float) -> float:
        """The time limit of a file: the setting, plus more for a large one."""
        size_mb = path.stat().st_size / MEGABYTE
        return self._settings.parse_seconds + per_mb * max(0.0, size_mb - FREE_MB)

    async def chunk(self, files: ParsedFiles, plan: ChunkPlan, *, owner: str | None = None) -> int:
        """Cut the document into chunks, written to `files.chunks` in batches; returns their number."""
        if files.chunk_count is not None:
            return files.chunk_count
        assert files.head is not None
        seconds = await asyncio.to_thread(self._seconds_for, files.text, CHUNK_SECONDS_PER_MB)
        with self._named_reasons("chunking", seconds):
            return await self._sandbox.run(
                chunk_document,
                InputFile(files.text, by_name=False),
                InputFile(files.blocks, by_name=False),
                OutputFile(files.chunks),
                files.head.characters,
                plan,
                seconds=seconds,
                file_mb=max(LARGEST_FILE_MB, 8 * self._settings.parse_output_mb),
                prepare=load_tokenizer,
                owner=owner,
            )

    @property
    def _most_bytes(self) -> int:
        return self._settings.parse_output_mb * MEGABYTE

    async def _in_sandbox(
        self, files: ParsedFiles, path: Path, filename: str | None, wanted: Wanted, owner: str | None
    ) -> ParsedFiles:
        limits = self._settings
        seconds = await asyncio.to_thread(self._seconds_for, path, PARSE_SECONDS_PER_MB)
        with self._named_reasons("parsing", seconds):
            read = await self._sandbox.run(
                read_and_chunk,
                InputFile(path),
                OutputFile(files.text),
                OutputFile(files.blocks),
                OutputFile(files.attachments),
                OutputFile(files.chunks),
                filename,
                limits.ocr_language,
                self._most_bytes,
                wanted,
                seconds=seconds,
                file_mb=max(LARGEST_FILE_MB, limits.parse_output_mb),
                prepare=load,
                owner=owner,
            )
            return dataclasses.replace(files, head=read.head, chunk_count=read.chunks)

    @contextlib.contextmanager
    def _named_reasons(self, step: str, seconds: float) -> Iterator[None]:
        """Map the sandbox's errors to reasons, with the setting that helps."""
        limits = self._settings
        try:
            yield
        except SandboxTimeout as error:
            raise rejected(Reason.TIMEOUT, f"{step} takes longer than {seconds:g} s") from error
        except SandboxOutOfMemory as error:
            raise rejected(Reason.OOM, f"{step} needs more than {limits.parse_memory_mb:,} MB") from error
        except SandboxOutputTooLarge as error:
            raise rejected(
                Reason.OUTPUT_TOO_LARGE, f"its text is larger than {limits.parse_output_mb:,} MB"
            ) from error
        except SandboxFilesTooLarge as error:
            raise rejected(Reason.BOMB, f"{step} fills its temporary folder: {error.message}") from error
        except (SandboxCrashed, SandboxRaised) as error:
            raise rejected(Reason.CRASH, f"{step} failed on the file: {error.message}") from error
