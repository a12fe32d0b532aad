"""The fixed list of reasons why a file cannot be turned into text, with the remedy for each."""

from __future__ import annotations

from enum import StrEnum

from penstock.errors import DocumentRejected
from penstock.model.media import SUPPORTED_NAMES


class Reason(StrEnum):
    TIMEOUT = "timeout"
    CRASH = "crash"
    OOM = "oom"
    OUTPUT_TOO_LARGE = "output_too_large"
    ENCRYPTED = "encrypted"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    BOMB = "bomb"
    UNSUPPORTED = "unsupported"
    MISMATCH = "mismatch"
    OCR_UNAVAILABLE = "ocr_unavailable"


_REMEDIES = {
    Reason.TIMEOUT: "Raise PENSTOCK_PARSE_SECONDS or split the file, then retry the document",
    Reason.CRASH: "Save the file again with the program that created it and upload it again",
    Reason.OOM: "Raise PENSTOCK_PARSE_MEMORY_MB or split the file, then retry the document",
    Reason.OUTPUT_TOO_LARGE: "Raise PENSTOCK_PARSE_OUTPUT_MB or split the file, then retry the document",
    Reason.ENCRYPTED: "Remove the password and upload the file again",
    Reason.EMPTY: "Upload a file that contains text",
    Reason.TRUNCATED: "The end of the file is missing: upload the complete file",
    Reason.MALFORMED: "Save the file again with the program that created it and upload it again",
    Reason.BOMB: "Upload a file that unpacks to a reasonable size",
    Reason.UNSUPPORTED: f"Convert it to one of the supported types: {SUPPORTED_NAMES}",
    Reason.MISMATCH: "Give the file the correct name and type and upload it again",
    Reason.OCR_UNAVAILABLE: "Run: pip install 'penstock[ocr]', then retry the document",
}


_REMEDY_OF: dict[str, str] = {
    **{reason.value: remedy for reason, remedy in _REMEDIES.items()},
    "RunTooLong": "Raise PENSTOCK_RUN_SECONDS or split the file, then retry the document",
    "worker_lost": "Nothing to do: it runs again by itself. If it keeps happening, look at the worker's log",
    "embedder_unavailable": "Nothing to do: it continues when the embedder answers",
    "over_budget": "Raise the tenant's monthly_token_budget, or wait for the next month",
    "index_not_ready": "Install pgvector in the database; it continues a minute later",
}


def remedy_of(code: str | None) -> str | None:
    """What helps against a document's reason code; None for a code that is not ours."""
    return None if code is None else _REMEDY_OF.get(code)


def rejected(reason: Reason, why: str, remedy: str = "") -> DocumentRejected:
    """The error for one of the reasons, with its usual remedy unless a better one is known."""
    return DocumentRejected(reason.value, why, remedy or _REMEDIES[reason])


_OTHER_REMEDIES = {
    "RunTooLong": "Raise PENSTOCK_RUN_SECONDS or split the files, then retry the documents",
    "over_budget": "Raise the tenant's monthly_token_budget, or wait for the next month",
    "over_quota": "Raise the tenant's quota, or delete documents",
    "worker_lost": "Look at the workers' logs and memory, then retry the documents",
    "quarantined": "Three workers were lost with it: look at their logs and memory, then retry the documents",
    "cancelled": "Retry the documents if they are still wanted",
    "EmbedderRefused": "Check the embedder's key and settings, then retry the documents",
    "EmbedderFailed": "Check the embedder, then retry the documents",
}


def remedy_for(code: str) -> str:
    """What to do about documents that failed with this code."""
    if code in {reason.value for reason in Reason}:
        return _REMEDIES[Reason(code)]
    return _OTHER_REMEDIES.get(code, "Fix the cause, then retry the documents")
