"""Checks what documents need: the blob store, services, OCR."""

from __future__ import annotations

import asyncio

from penstock.blobs.store import Blobs
from penstock.cli.doctor.checks import Check
from penstock.cli.doctor.service_checks import check_services
from penstock.db.doctor_queries import ServerFacts
from penstock.errors import PenstockError
from penstock.pipeline.parse.tessdata import how_to_install, installed_languages, missing_languages
from penstock.settings import Settings


async def check_documents(facts: ServerFacts, settings: Settings, vault: list[Check]) -> list[Check]:
    """All checks of documents, on a migrated database, with those of the vault in their place."""
    return [
        await _blobs(settings),
        *vault,
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
        return Check("blobs", "fail", f"cannot write to the blob store: {str(error).splitlines()[0]}", remedy)
    return Check("blobs", "ok", "the store can be written to")


def _ocr(settings: Settings) -> Check:
    if missing := missing_languages(settings.ocr_language):
        installed = ", ".join(installed_languages()) or "none"
        return Check(
            "ocr",
            "warn",
            f"no OCR data for {', '.join(missing)}; scans cannot be read (languages installed: {installed})",
            how_to_install(missing),
        )
    others = sorted(set(installed_languages()) - set(settings.ocr_language.split("+")))
    also = f"; also installed: {', '.join(others)}" if others else ""
    return Check("ocr", "ok", f"scans are read in {settings.ocr_language}{also}")
