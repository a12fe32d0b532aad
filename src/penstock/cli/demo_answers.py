"""The end of the demo with documents: what was counted, three questions answered, and where to go next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.cli import output
from penstock.cli.demo_summary import near, next_steps
from penstock.cli.following import Following
from penstock.cli.search import described
from penstock.model import DocumentStatus, TenantId
from penstock.product.services import Services
from penstock.search import SearchAnswer, SearchQuery

QUESTIONS = (
    "who has to pay when a turbine does not run?",
    "bearing temperature at Cedar Mill in March",
    "receipt for the sluice gate repair",
)
SHOWN_HITS = 2


@dataclass(frozen=True, slots=True)
class DocumentsResult:
    files: int
    following: Following
    killed_pid: int
    held_by_killed: int
    rescued: int
    indexed_twice: int
    seconds: float
    embedder: str
    answers: Sequence[tuple[str, SearchAnswer]]
    data_dir: Path

    @property
    def whole(self) -> bool:
        """Everything ended, nothing failed, nothing was indexed twice, and every question has an answer."""
        counts = self.following.counts()
        return (
            not self.following.under_way
            and not counts[DocumentStatus.FAILED]
            and not self.indexed_twice
            and all(answer.hits for _, answer in self.answers)
        )


async def answer(product: Services, owner: TenantId, question: str) -> tuple[str, SearchAnswer]:
    return question, await product.search.search(owner, SearchQuery(query=question, limit=SHOWN_HITS))


def show_result(result: DocumentsResult, *, as_json: bool) -> None:
    counts = result.following.counts()
    total = counts.total()
    if as_json:
        output.document(_document(result, counts))
        return
    rows = [
        ("files", result.files, ""),
        ("attachments", len(result.following.attachments), "found in mails, indexed like files"),
        ("documents", total + len(result.following.under_way), "files and attachments"),
        (
            "indexed",
            counts[DocumentStatus.INDEXED],
            f"{output.count(_chunks(result), 'passage')}, by {result.embedder}",
        ),
        (
            "failed",
            counts[DocumentStatus.FAILED],
            "each with its reason: penstock document list --status failed",
        ),
        ("lost", len(result.following.under_way), "neither indexed nor failed"),
        ("indexed twice", result.indexed_twice, "though one worker was killed"),
        (
            "started anew",
            result.rescued,
            f"of {output.count(result.held_by_killed, 'document')} the killed worker held",
        ),
        ("seconds", result.seconds, f"{total / result.seconds:,.1f} documents/s"),
    ]
    output.write("")
    output.table(("count", "documents", ""), rows)
    for question, found in result.answers:
        output.write(f"\n$ penstock search {question!r}    # {found.took_ms:.0f} ms")
        for number, hit in enumerate(found.hits, 1):
            output.write(described(number, hit))
    output.write("")
    logs = f"{near(str(result.data_dir))}/worker-*.log"
    output.write("Nothing was lost." if result.whole else f"Something is wrong: see {logs}.")
    next_steps(
        result.data_dir,
        (
            ('search "oil for the governor"', "ask something else"),
            ("document list", "what there is, and in which state"),
            ("explain DOCUMENT", "what happened to one, step by step"),
            ("ingest PATH", "add files or folders of your own"),
            ("up", "the API, a worker and an address for assistants"),
        ),
    )


def _chunks(result: DocumentsResult) -> int:
    return sum(document.chunk_count for document in result.following.ended.values())


def _document(result: DocumentsResult, counts: Counter[DocumentStatus]) -> dict[str, object]:
    return {
        "files": result.files,
        "attachments": len(result.following.attachments),
        "documents": counts.total(),
        "indexed": counts[DocumentStatus.INDEXED],
        "skipped": counts[DocumentStatus.SKIPPED],
        "failed": counts[DocumentStatus.FAILED],
        "left": len(result.following.under_way),
        "indexed_twice": result.indexed_twice,
        "chunks": _chunks(result),
        "killed_pid": result.killed_pid,
        "held_by_killed": result.held_by_killed,
        "rescued": result.rescued,
        "seconds": round(result.seconds, 3),
        "embedder": result.embedder,
        "searches": [
            {"query": question, **found.model_dump(mode="json")} for question, found in result.answers
        ],
        "data_dir": str(result.data_dir),
    }
