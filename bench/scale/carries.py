"""What one Postgres carries: a table for the page about scaling, from the results of the other benchmarks."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One line: what it is about, in which results its figures are, and the words around them."""

    what: str
    results: str
    workload: str
    case: str
    told: str


FLEET = (
    "idle, 500 tasks a second: picked up after {p50_ms:.1f} ms (p50), {claims_per_task:.1f} claims per task"
)
ROWS = (
    Row("tasks", "latest", "drain", "penstock", "{rate:,.0f} a second through one worker"),
    Row("tasks", "latest", "enqueue", "penstock", "{rate:,.0f} a second taken in, in batches"),
    Row("tasks", "latest", "notify", "on, worker idle", "{rate:,.0f} a second taken in, one per transaction"),
    Row("tasks", "latest", "shapes", "penstock, a million waiting", "{rate:,.0f} a second of a million"),
    Row(
        "tenants",
        "latest",
        "shapes",
        "penstock, 1,000 tenants",
        "{rate:,.0f} tasks a second of 1,000 tenants",
    ),
    Row("workers", "latest", "shapes", "penstock, 2 workers", "{rate:,.0f} tasks a second through two"),
    Row("workers", "latest", "fleet", "penstock, 1 at 500/s", f"1 {FLEET}"),
    Row("workers", "latest", "fleet", "penstock, 16 at 500/s", f"16 {FLEET}"),
    Row(
        "documents",
        "documents",
        "ingest",
        "penstock",
        "{documents_per_second:.1f} a second, {texts_per_second:.0f} chunks a second, with MiniLM beside it",
    ),
    Row(
        "documents",
        "documents",
        "overhead",
        "bare loop and penstock",
        "{server_ms:.0f} ms of processor time of the database each; {total_ms:.0f} ms in all, with wordllama",
    ),
    Row(
        "documents",
        "documents",
        "uploads",
        "worker running, MiniLM",
        "uploads of 100 KB, 50 a second, while a worker runs: answered after {p95_ms:.0f} ms (p95)",
    ),
    Row("records of a source", "sources", "contacts", "penstock", "{rate:,.0f} a second"),
    Row("chunks", "search", "making", "penstock", "{stage_rate:,.0f} a second stored"),
    Row("chunks", "search", "making", "penstock", "100,000 of them: {postings_mib:.0f} MiB for their words"),
    Row(
        "chunks",
        "search",
        "times",
        "HNSW, no filter",
        "100,000 of one tenant: hybrid search {p95:.0f} ms (p95), recall {recall:.2f}",
    ),
    Row(
        "chunks in Qdrant",
        "qdrant",
        "times",
        "Qdrant's engine, no filter",
        "100,000 of one tenant, in its engine behind our HTTP shim in Python: search by vector "
        "{vector_p95:.0f} ms (p95), recall {recall:.2f}",
    ),
    Row(
        "console",
        "console",
        "console",
        "tenant /v1/overview",
        "1,000,000 tasks and 100,000 documents: the overview after {max_ms:.0f} ms",
    ),
)


def carries(folder: Path) -> str:
    """A row for each figure that has been recorded."""
    lines = ["| | measured | by |", "|---|---|---|"]
    for row in ROWS:
        # A workload that was measured alone has results of its own, until a whole run replaces the latest.
        for name in (row.results, row.workload):
            path = folder / f"{name}.json"
            results = json.loads(path.read_text()) if path.exists() else {}
            figures = results.get("workloads", {}).get(row.workload, {}).get("medians", {}).get(row.case)
            if figures is not None:
                command = "python -m bench" + ("" if name == "latest" else f" {name}")
                told = row.told.format(**figures)
                lines.append(f"| {row.what} | {told} | `{command}`, {results['date'][:10]} |")
                break
    return "\n".join(lines)
