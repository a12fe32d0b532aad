"""The end of the document demo: the counts, searches, one client, and what to try next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.cli import output
from penstock.cli.demo.mail import MailResult
from penstock.cli.demo.sources import SourcesResult
from penstock.cli.demo.summary import near, next_steps
from penstock.cli.documents.client import show_facts
from penstock.cli.documents.search import described
from penstock.cli.tenants.source_deciding import show_skipped
from penstock.documents.progress import IngestProgress
from penstock.engine.services import Services
from penstock.model import DocumentStatus, TenantId
from penstock.model.rows import plain
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
    following: IngestProgress
    killed_pid: int
    held_by_killed: int
    rescued: int
    indexed_twice: int
    seconds: float
    embedder: str
    answers: Sequence[tuple[str, SearchAnswer]]
    found_invoice: tuple[str, SearchAnswer]
    found_picture: tuple[str, SearchAnswer]
    synced: SourcesResult
    mail: MailResult
    data_dir: Path

    @property
    def searches(self) -> Sequence[tuple[str, SearchAnswer]]:
        return (*self.answers, self.found_invoice, self.found_picture)

    @property
    def whole(self) -> bool:
        """Everything ended, nothing failed or came twice, every account was read, every question answered."""
        counts = self.following.counts()
        return (
            not self.following.under_way
            and not counts[DocumentStatus.FAILED]
            and not self.indexed_twice
            and self.synced.whole
            and self.mail.whole
            and all(answer.hits for _, answer in self.searches)
        )


def about(client: str) -> str:
    """A question about a client that only the connected accounts can answer."""
    return f"invoices and deals of {client}"


async def answer(engine: Services, owner: TenantId, question: str) -> tuple[str, SearchAnswer]:
    return question, await engine.search.search(owner, SearchQuery(query=question, limit=SHOWN_HITS))


def show_result(result: DocumentsResult, *, as_json: bool) -> None:
    counts = result.following.counts()
    total = counts.total()
    if as_json:
        output.document(_document(result, counts))
        return
    rows = [
        ("files", result.files, ""),
        ("attachments", len(result.following.attachments), "found in emails, indexed like files"),
        ("documents", total + len(result.following.under_way), "files and attachments"),
        (
            "indexed",
            counts[DocumentStatus.INDEXED],
            f"{output.count(_chunks(result), 'passage')}, by {result.embedder}",
        ),
        (
            "failed",
            counts[DocumentStatus.FAILED],
            "to see why: penstock document list --status failed",
        ),
        ("lost", len(result.following.under_way), "neither indexed nor failed"),
        ("indexed twice", result.indexed_twice, "although one worker was killed"),
        (
            "started again",
            result.rescued,
            f"of {output.count(result.held_by_killed, 'document')} the killed worker held",
        ),
        ("seconds", result.seconds, f"{total / result.seconds:,.1f} documents/s"),
    ]
    output.write("")
    output.table(("count", "documents", ""), rows)
    _show_sources(result.synced)
    for question, found in result.answers:
        _show_search(question, found)
    if result.synced.client is not None:
        output.write(f"\n$ penstock client show {result.synced.client.name!r}")
        show_facts(result.synced.newest_facts())
    _show_mail(result)
    output.write("")
    logs = f"{near(str(result.data_dir))}/worker-*.log"
    output.write("Nothing was lost." if result.whole else f"Something is wrong: see {logs}.")
    next_steps(
        result.data_dir,
        (
            ('search "oil for the governor"', "ask something else"),
            ("document list", "all documents and their status"),
            ("explain DOCUMENT", "what happened to one, step by step"),
            ("client list", "everybody the connected accounts know"),
            ("source list", "the connected accounts and how they are"),
            ("source skipped", "what the rules for mail did not keep, and why"),
            ("ingest PATH", "add your own files or folders"),
            ("up", "run the API, a worker and an MCP server"),
            ("simulate", "run the simulated providers, to connect them yourself"),
        ),
    )


def _show_sources(synced: SourcesResult) -> None:
    rows = [
        (source.kind, source.documents, "; ".join(f"{each.items:,} {each.stream}" for each in source.streams))
        for source in synced.sources
    ]
    output.write("")
    output.table(("connected (simulated)", "documents", ""), rows)
    output.write(f"{output.count(synced.clients, 'client')}, read in {synced.seconds:.1f} s")


def _show_mail(result: DocumentsResult) -> None:
    """Mails that arrived, what the rules did not keep and why, and what a person took in after all."""
    mail = result.mail
    rows = [
        (each.provider, each.subject, f"{each.notified:.2f} s", f"{each.indexed:.2f} s", each.filename)
        for each in mail.arrived
    ]
    output.write("")
    output.table(("mail arrived", "subject", "notified after", "indexed after", "attachment"), rows)
    _show_search(*result.found_invoice)
    output.write("\n$ penstock source skipped outlook")
    show_skipped([each for each in mail.skipped if each.source_id == mail.restored.source_id])
    output.write(f"\n$ penstock source restore {mail.restored.decision_id}")
    output.write(
        f"Restored {mail.restored.filename}: a sync fetched its mail again, and it is searchable now."
    )
    _show_search(*result.found_picture)


def _show_search(question: str, found: SearchAnswer) -> None:
    output.write(f"\n$ penstock search {question!r}    # {found.took_ms:.0f} ms")
    for number, hit in enumerate(found.hits, 1):
        output.write(described(number, hit))


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
            {"query": question, **found.model_dump(mode="json")} for question, found in result.searches
        ],
        "sources": [
            {"kind": source.kind, "health": source.health.state, "documents": source.documents}
            for source in result.synced.sources
        ],
        "sources_seconds": round(result.synced.seconds, 3),
        "mail": {
            "arrived": [asdict(each) for each in result.mail.arrived],
            "skipped": [plain(each) for each in result.mail.skipped],
            "restored": plain(result.mail.restored),
        },
        "clients": result.synced.clients,
        "client": None if result.synced.client is None else plain(result.synced.client),
        "data_dir": str(result.data_dir),
    }
