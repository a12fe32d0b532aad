"""Uploads one file, or sweeps, and is killed at a named moment: `python -m … MOMENT URL FOLDER TENANT`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from obstore.store import LocalStore

from penstock.blobs.spool import Spooled
from penstock.blobs.store import Blobs
from penstock.db.tenancy import TenantPool
from penstock.documents.intake import Intake
from penstock.index import Index
from penstock.model import TenantId
from penstock.pipeline.maintenance import DocumentMaintenance
from penstock.settings import Settings
from tests.sql.document_calls import CODE

UPLOAD = ("intent recorded", "blob written", "committed")
SWEEP = ("intent abandoned", "blob removed")


class DyingBlobs(Blobs):
    def __init__(self, folder: Path, moment: str) -> None:
        super().__init__(LocalStore(prefix=folder, mkdir=True), folder)
        self.moment = moment

    async def write(self, path: str, spooled: Spooled) -> None:
        self._die_at("intent recorded")
        await super().write(path, spooled)
        self._die_at("blob written")

    async def delete(self, path: str) -> None:
        self._die_at("intent abandoned")
        await super().delete(path)
        self._die_at("blob removed")

    def _die_at(self, moment: str) -> None:
        if moment == self.moment:
            os.kill(os.getpid(), signal.SIGKILL)


class NoIndex:
    async def maintain(self) -> None: ...


async def _content() -> AsyncIterator[bytes]:
    yield b"what the upload that crashed brought"


async def main(moment: str, url: str, folder: str, tenant: str) -> None:
    tenants = await TenantPool.open(url, application_name="crashing")
    blobs: Any = DyingBlobs(Path(folder) / "blobs", moment)
    if moment in SWEEP:
        await DocumentMaintenance(tenants, blobs, cast("Index", NoIndex())).remove_orphans(
            timedelta(seconds=-60)
        )
    else:
        intake = Intake(tenants, blobs, Settings(data_dir=Path(folder)), CODE)
        await intake.take_in(TenantId(UUID(tenant)), _content(), uploaded_by="tests")
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
