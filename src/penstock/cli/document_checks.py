"""What doctor looks at for documents: the blob store, the vault's key, services, OCR."""

from __future__ import annotations

import asyncio

from penstock.cli.checks import Check
from penstock.cli.service_checks import check_services
from penstock.db.doctor_queries import ServerFacts
from penstock.errors import PenstockError
from penstock.intake import Blobs
from penstock.pipeline.parse.tessdata import missing_languages
from penstock.settings import Settings
from penstock.vault import Vault


async def check_documents(facts: ServerFacts, settings: Settings) -> list[Check]:
    """All of them, on a migrated database."""
    return [
        await _blobs(settings),
        await asyncio.to_thread(_vault, settings),
        *await check_services(facts, settings),
        _ocr(settings),
    ]


async def _blobs(settings: Settings) -> Check:
    try:
        blobs = await asyncio.to_thread(Blobs.open, settings)
        await blobs.probe()
    except PenstockError as error:
        return Check("blobs", "fail", error.message, error.remedy)
    except Exception as error:  # noqa: BLE001  # each store has errors of its own
        remedy = "Check PENSTOCK_BLOB_URL, PENSTOCK_S3_ENDPOINT and the store's credentials"
        return Check("blobs", "fail", f"the store does not take a blob: {str(error).splitlines()[0]}", remedy)
    return Check("blobs", "ok", "the store takes and removes a blob")


def _vault(settings: Settings) -> Check:
    try:
        Vault.from_settings(settings)
    except PenstockError as error:
        return Check("vault", "fail", error.message, error.remedy)
    return Check("vault", "ok", "its key is there")


def _ocr(settings: Settings) -> Check:
    if missing := missing_languages(settings.ocr_language):
        remedy = "Run: pip install 'penstock[ocr]'; for other languages put their data into its folder"
        return Check("ocr", "warn", f"no data to read scans in {', '.join(missing)}", remedy)
    return Check("ocr", "ok", f"scans are read in {settings.ocr_language}")
