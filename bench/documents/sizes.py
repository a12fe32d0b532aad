"""The sizes of a run of the document benchmark."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Sizes:
    rounds: int = 3
    documents: int = 200
    edited_words: int = 13_000
    """Of the document whose one sentence changes: about a hundred chunks of MiniLM's size."""
    pages: int = 500
    page_words: int = 440
    log_mb: int = 200
    pages_a_table: int = 10
    notes: int = 100
    note_words: int = 90
    upload_rate: float = 50.0
    upload_seconds: float = 20.0
    upload_bytes: int = 100_000
    filtered_documents: int = 1_000
    questions: int = 200
    child_timeout: float = 1_800.0


FULL = Sizes()
QUICK = Sizes(
    rounds=1,
    documents=21,
    pages=40,
    log_mb=10,
    notes=20,
    upload_seconds=3.0,
    filtered_documents=200,
    questions=20,
    child_timeout=300.0,
)
TINY = Sizes(
    rounds=1,
    documents=7,
    pages=5,
    log_mb=1,
    notes=5,
    upload_rate=10.0,
    upload_seconds=1.0,
    upload_bytes=2_000,
    filtered_documents=8,
    questions=3,
    child_timeout=60.0,
)
"""What a test runs."""
