"""Ingests one local file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.documents.file_identity import identity_of, shown_path
from penstock.documents.files import File
from penstock.documents.intake import Intake
from penstock.documents.rows import Taken
from penstock.model import TenantId

READ_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Labels:
    """Attributes for every file of one call."""

    project: str = "default"
    metadata: Mapping[str, Any] | None = None
    external_id: str | None = None
    root_name: str | None = None
    retry_failed: bool = False


async def take_file(intake: Intake, owner: TenantId, file: File, labels: Labels, uploaded_by: str) -> Taken:
    """Ingest the file; its identity is its path, unless the labels give another."""
    noted = {"path": shown_path(file.path)}
    if file.root is not None:
        noted["root"] = shown_path(file.root)
    return await intake.take_in(
        owner,
        _pieces(file.path),
        project=labels.project,
        filename=os.fsencode(file.path.name).decode("utf-8", "backslashreplace"),
        uploaded_by=uploaded_by,
        source_metadata=noted,
        metadata=labels.metadata or None,
        external_id=labels.external_id or identity_of(file.path, file.root, labels.root_name),
        retry_failed=labels.retry_failed,
    )


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, READ_BYTES):
            yield piece
