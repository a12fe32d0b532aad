"""The fixed list of reasons for which a file cannot become text, and what helps against each."""

from __future__ import annotations

from enum import StrEnum

from penstock.errors import DocumentRejected


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
    Reason.TIMEOUT: "Set PENSTOCK_PARSE_SECONDS higher or split the file, then retry the document",
    Reason.CRASH: "Save the file anew with the program it came from and upload it again",
    Reason.OOM: "Set PENSTOCK_PARSE_MEMORY_MB higher or split the file, then retry the document",
    Reason.OUTPUT_TOO_LARGE: "Set PENSTOCK_PARSE_OUTPUT_MB higher or split the file, then retry the document",
    Reason.ENCRYPTED: "Remove the password and upload the file again",
    Reason.EMPTY: "Upload a file with words in it",
    Reason.TRUNCATED: "The end of the file is missing: upload it again, whole",
    Reason.MALFORMED: "Save the file anew with the program it came from and upload it again",
    Reason.BOMB: "Upload a file that unpacks to a reasonable size",
    Reason.UNSUPPORTED: "Convert it to PDF, DOCX, PPTX, XLSX, HTML, Markdown, CSV, text, mail or an image",
    Reason.MISMATCH: "Give the file the name and type of what it is and upload it again",
    Reason.OCR_UNAVAILABLE: "Run: pip install 'penstock[ocr]', then retry the document",
}


def rejected(reason: Reason, why: str, remedy: str = "") -> DocumentRejected:
    """The error for one of the reasons, with its usual remedy unless a better one is known."""
    return DocumentRejected(reason.value, why, remedy or _REMEDIES[reason])
