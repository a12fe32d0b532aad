"""The summary of an ingest: documents by status, and the files that could not be read, with reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.ingest.prune import RemovedFile
from penstock.documents.progress import IngestProgress
from penstock.documents.rows import Document, Taken
from penstock.model import DocumentId, DocumentStatus
from penstock.observe.formats import escape

ORDER = ("indexed", "unchanged", "skipped", "queued", "failed", "deleted", "unreadable")


@dataclass(frozen=True, slots=True)
class Submitted:
    """A file and how submitting it ended; `reason` if it was rejected."""

    path: Path
    taken: Taken | None = None
    reason: str | None = None
    failed_before: Document | None = None
    """The document, if the same content has permanently failed before and was not retried."""


@dataclass(frozen=True, slots=True)
class Summary:
    submitted: tuple[Submitted, ...]
    following: IngestProgress | None
    """None if no file could be read, and there is no tenant."""
    pruned: tuple[RemovedFile, ...]
    waited: bool
    seconds: float

    @property
    def whole(self) -> bool:
        """Whether nothing failed and every file was read."""
        failed = any(each.status is DocumentStatus.FAILED for each in self._ended.values())
        return not failed and all(each.taken is not None for each in self.submitted)

    @property
    def _ended(self) -> Mapping[DocumentId, Document]:
        return {} if self.following is None else self.following.ended

    def total(self) -> str:
        """What the counts add up to: files, and the documents found in them."""
        inside = len(self.rows()) - len(self.submitted)
        files = output.count(len(self.submitted), "file")
        if not inside:
            return files
        every = output.count(len(self.rows()), "document")
        others = output.count(inside, "attachment or archive member", "attachments and archive members")
        return f"{every}: {files} and {others}"

    def rows(self) -> list[dict[str, object]]:
        """One row per file, then one per attachment or member of an archive."""
        ended = self._ended
        attachments = () if self.following is None else self.following.attachments
        attached = (ended[each] for each in sorted(attachments) if each in ended)
        return [self._row(each) for each in self.submitted] + [
            {
                "path": document.path or document.filename,
                "document_id": document.document_id,
                "parent_document_id": document.parent_document_id,
                "status": document.status,
                "created": True,
                "failed_before": False,
                "reason_code": document.reason_code,
                "error_message": document.error_message,
            }
            for document in attached
        ]

    def _row(self, submitted: Submitted) -> dict[str, object]:
        row: dict[str, object] = {
            "path": str(submitted.path),
            "document_id": None,
            "parent_document_id": None,
            "status": "unreadable",
            "created": False,
            "failed_before": submitted.failed_before is not None,
            "reason_code": None,
            "error_message": submitted.reason,
        }
        if submitted.taken is None or self.following is None:
            return row
        row |= {"document_id": submitted.taken.document_id, "created": submitted.taken.created}
        document = self.following.ended.get(submitted.taken.document_id)
        if document is None:
            gone = submitted.taken.document_id in self.following.gone
            status = "unchanged" if submitted.taken.skipped else "deleted" if gone else "queued"
            return row | {"status": status, "error_message": None}
        return row | {
            "status": document.status,
            "reason_code": document.reason_code,
            "error_message": document.error_message,
        }


def show_summary(summary: Summary, *, as_json: bool) -> None:
    rows = summary.rows()
    counts = Counter(str(row["status"]) for row in rows)
    if as_json:
        output.document(
            {
                "files": len(summary.submitted),
                "attachments": len(rows) - len(summary.submitted),
                "counts": {name: counts[name] for name in ORDER if counts[name]},
                "seconds": round(summary.seconds, 3),
                "documents": rows,
                "pruned": summary.pruned,
            }
        )
        return
    for row in rows:
        if row["status"] in ("failed", "unreadable", "skipped"):
            said = output.with_code(row["reason_code"], row["error_message"])
            known = f"{row['document_id']}  " if row["document_id"] else ""
            again = "  (failed before, not retried)" if row["failed_before"] else ""
            warn(f"{row['status']}  {escape(str(row['path']))}  {known}{escape(said)}{again}")
    before = sum(bool(row["failed_before"]) for row in rows)
    if before:
        warn(
            f"{before:,} unchanged file{(' was' if before == 1 else 's were')} not retried: add "
            "--retry-failed, or run penstock document retry ID"
        )
    shown: list[tuple[object, ...]] = [(name, counts[name]) for name in ORDER if counts[name]]
    if summary.pruned:
        shown.append(("pruned", len(summary.pruned)))
    output.table(("status", "documents"), shown)
    output.write(f"{summary.total()} in {summary.seconds:,.1f} s.")
    if not summary.waited and counts["queued"]:
        output.write(
            "They are queued. penstock worker processes them; penstock document list shows their status."
        )
