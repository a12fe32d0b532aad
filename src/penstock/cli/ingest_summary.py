"""The end of an ingest: how many documents ended how, and what could not be read, with the reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.following import Following
from penstock.cli.ingest_prune import Gone
from penstock.intake import Document, Taken
from penstock.model import DocumentStatus
from penstock.observe.formats import escape

ORDER = ("indexed", "unchanged", "skipped", "queued", "failed", "deleted", "unreadable")


@dataclass(frozen=True, slots=True)
class Handed:
    """A file and what became of it at the door; `reason` if it was not taken in."""

    path: Path
    taken: Taken | None = None
    reason: str | None = None
    failed_before: Document | None = None
    """Its content failed for good before and was not tried again."""


@dataclass(frozen=True, slots=True)
class Summary:
    handed: tuple[Handed, ...]
    following: Following
    pruned: tuple[Gone, ...]
    waited: bool
    seconds: float

    @property
    def whole(self) -> bool:
        """Nothing failed and nothing was left out."""
        failed = any(each.status is DocumentStatus.FAILED for each in self.following.ended.values())
        return not failed and all(each.taken is not None for each in self.handed)

    def total(self) -> str:
        """What the statuses add up to: files, and the attachments found in them."""
        attachments = len(self.rows()) - len(self.handed)
        files = output.count(len(self.handed), "file")
        if not attachments:
            return files
        every = output.count(len(self.rows()), "document")
        return f"{every}: {files} and {output.count(attachments, 'attachment')} of mails"

    def rows(self) -> list[dict[str, object]]:
        """One row a file, then one an attachment."""
        ended = self.following.ended
        attached = (ended[each] for each in sorted(self.following.attachments) if each in ended)
        return [self._row(each) for each in self.handed] + [
            {
                "path": document.filename,
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

    def _row(self, handed: Handed) -> dict[str, object]:
        row: dict[str, object] = {
            "path": str(handed.path),
            "document_id": None,
            "parent_document_id": None,
            "status": "unreadable",
            "created": False,
            "failed_before": handed.failed_before is not None,
            "reason_code": None,
            "error_message": handed.reason,
        }
        if handed.taken is None:
            return row
        row |= {"document_id": handed.taken.document_id, "created": handed.taken.created}
        document = self.following.ended.get(handed.taken.document_id)
        if document is None:
            gone = handed.taken.document_id in self.following.gone
            status = "unchanged" if handed.taken.skipped else "deleted" if gone else "queued"
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
                "files": len(summary.handed),
                "attachments": len(rows) - len(summary.handed),
                "counts": {name: counts[name] for name in ORDER if counts[name]},
                "seconds": round(summary.seconds, 3),
                "documents": rows,
                "pruned": summary.pruned,
            }
        )
        return
    for row in rows:
        if row["status"] in ("failed", "unreadable", "skipped"):
            code = f"{row['reason_code']}: " if row["reason_code"] else ""
            message = str(row["error_message"] or "")
            said = message if message.startswith(code) else f"{code}{message}"
            known = f"{row['document_id']}  " if row["document_id"] else ""
            again = "  (failed before, not tried again)" if row["failed_before"] else ""
            warn(f"{row['status']}  {escape(str(row['path']))}  {known}{escape(said.rstrip(': '))}{again}")
    before = sum(bool(row["failed_before"]) for row in rows)
    if before:
        warn(
            f"{before:,} unchanged file{' was' if before == 1 else 's were'} not tried again: "
            "use --retry-failed, or penstock document retry ID"
        )
    shown: list[tuple[object, ...]] = [(name, counts[name]) for name in ORDER if counts[name]]
    if summary.pruned:
        shown.append(("pruned", len(summary.pruned)))
    output.table(("status", "documents"), shown)
    output.write(f"{summary.total()} in {summary.seconds:,.1f} s.")
    if not summary.waited and counts["queued"]:
        output.write(
            "They wait in the queue: penstock worker works on them, penstock document list shows them."
        )
