"""`penstock search`: finds passages by meaning and by words, and shows where they are and why they
matched."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic import ValidationError

from penstock.cli import output
from penstock.cli.documents.reference import document_of
from penstock.cli.failures import warn
from penstock.cli.metadata_pairs import pairs
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSlug, tenant_session
from penstock.errors.invalid_field import first_invalid
from penstock.observe.formats import escape
from penstock.search import SearchAnswer, SearchHit, SearchQuery
from penstock.search.answer import CLOSE, OPEN


class Mode(StrEnum):
    HYBRID = "hybrid"
    VECTOR = "vector"
    TEXT = "text"


Query = Annotated[str, typer.Argument(metavar="QUERY", help="A question, or words to look for.")]
Limit = Annotated[int, typer.Option(min=1, max=100, help="Maximum number of results.")]
MinScore = Annotated[
    float | None, typer.Option(min=0, max=1, help="Only results with at least this relevance, from 0 to 1.")
]
ModeName = Annotated[
    Mode, typer.Option(help="Search by meaning (vector), by words (text), or both (hybrid).")
]
Projects = Annotated[
    list[str] | None,
    typer.Option("--project", metavar="SLUG", help="Only in this project; may be repeated."),
]
Sources = Annotated[
    list[UUID] | None,
    typer.Option("--source", metavar="ID", help="Only documents from this source; may be repeated."),
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="MIME", help="Only documents of this MIME type; may be repeated."),
]
In = Annotated[
    list[str] | None,
    typer.Option(
        "--document",
        metavar="DOCUMENT",
        help="Only in this document, by id, path or name; may be repeated.",
    ),
]
_TIME_EXAMPLES = "2025-01-31 or 2025-01-31T12:00+01:00"
_TIME = f"this time, such as {_TIME_EXAMPLES}; UTC if it has no zone."
CreatedAfter = Annotated[
    str | None, typer.Option(metavar="TIME", help=f"Only documents created after {_TIME}")
]
CreatedBefore = Annotated[
    str | None, typer.Option(metavar="TIME", help=f"Only documents created before {_TIME}")
]
ModifiedAfter = Annotated[
    str | None, typer.Option(metavar="TIME", help=f"Only documents modified after {_TIME}")
]
ModifiedBefore = Annotated[
    str | None, typer.Option(metavar="TIME", help=f"Only documents modified before {_TIME}")
]
Metadata = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata",
        metavar="KEY=VALUE",
        help="Only documents with this metadata; may be repeated, all must match.",
    ),
]

PerDocument = Annotated[
    int, typer.Option(min=1, max=100, help="Passages of one document to show while other documents match.")
]

Joined = Annotated[
    bool,
    typer.Option("--joined", help="Join a passage with the ones before and after it, if they match as well."),
]
Rerank = Annotated[
    bool | None,
    typer.Option(
        "--rerank/--no-rerank",
        help="Have the best passages ordered by the reranker of the settings; by default if there is one.",
    ),
]

MOST_HEADINGS = 3
"""Headings inside a passage that a result names."""

OPTIONS = {
    "query": "QUERY",
    "projects": "--project",
    "source_ids": "--source",
    "types": "--type",
}


def command(
    query: Query,
    limit: Limit = 5,
    mode: ModeName = Mode.HYBRID,
    min_score: MinScore = None,
    per_document: PerDocument = 1,
    joined: Joined = False,
    rerank: Rerank = None,
    project: Projects = None,
    source: Sources = None,
    mime_type: Types = None,
    document: In = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    modified_after: ModifiedAfter = None,
    modified_before: ModifiedBefore = None,
    metadata: Metadata = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Find the passages that answer a question, best first.

    Each result shows the title, page and headings, the passage with the matching words marked, the parts of
    its score, the path, and the ids of document and chunk. The times in filters are those of the documents.
    """
    asked = _asked(
        query=query,
        limit=limit,
        mode=mode.value,
        min_score=min_score,
        per_document=per_document,
        joined=joined,
        rerank=rerank,
        projects=project,
        source_ids=source,
        types=mime_type,
        created_after=created_after,
        created_before=created_before,
        modified_after=modified_after,
        modified_before=modified_before,
        metadata=pairs(metadata) or None,
    )

    async def call() -> SearchAnswer:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            only = [await document_of(session, owner, each) for each in document or []]
            narrowed = asked.model_copy(update={"document_ids": only}) if only else asked
            return await session.engine.search.search(owner, narrowed)

    answer = run(call())
    if as_json:
        output.document(answer.model_dump(mode="json"))
        return
    for missing in answer.unavailable:
        warn(f"{', '.join(missing.projects)}: searched by words only; {missing.reason}")
    if "reranker" in answer.degraded:
        warn("the reranker did not answer; the results are in the order they have without it")
    if answer.read_as is not None:
        output.write(f"Read as: {answer.read_as}\n")
    if answer.no_good_match:
        output.write("No good match. The closest results:\n" if answer.hits else "No good match.")
    for number, hit in enumerate(answer.hits, 1):
        output.write(("" if number == 1 else "\n") + described(number, hit))
    if not answer.hits and not answer.no_good_match:
        output.write("No results.")


def described(number: int, hit: SearchHit) -> str:
    """One result as a few lines of text."""
    name = hit.title or hit.filename or str(hit.document_id or hit.client_id)
    place = [] if hit.page_from is None else [f"page {hit.page_from}"]
    if headings := [heading for heading in hit.heading_path if heading != name]:
        place.append(" > ".join(headings))
    found = f"{hit.score:.4f}  relevance {hit.relevance:.2f}"
    if hit.vector_rank is not None:
        found += f"  meaning {hit.vector_score:.3f} (#{hit.vector_rank})"
    if hit.rerank_score is not None:
        found += f"  reranked {hit.rerank_score:.3f}"
    if hit.text_rank is not None:
        found += f"  words {hit.text_score:.3f} (#{hit.text_rank})"
    lines = [
        f"{number}. {escape(name)}" + (f"  ({escape(', '.join(place))})" if place else ""),
        f"   {_snippet(hit)}",
        f"   {_ids(hit)}  score {found}",
    ]
    if further := _further(hit):
        lines.insert(1, f"   {escape(further)}")
    if hit.path is not None:
        lines.insert(1, f"   {escape(hit.path)}")
    return "\n".join(lines)


def _further(hit: SearchHit) -> str:
    """The headings that begin inside the passage, without those above each of them; only the first few."""
    names = [path[-1] for path in hit.further_headings]
    if not names:
        return ""
    more = len(names) - MOST_HEADINGS
    return "also: " + ", ".join(names[:MOST_HEADINGS]) + (f", and {more} more" if more > 0 else "")


def _ids(hit: SearchHit) -> str:
    if hit.document_id is None:
        return f"client {hit.client_id}"
    return f"document {hit.document_id}  chunk {hit.chunk_id}"


def _snippet(hit: SearchHit) -> str:
    """The snippet on one line; matches are bold on a terminal and between asterisks elsewhere."""
    bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    before, after = ("\x1b[1m", "\x1b[0m") if bold else ("*", "*")
    line = escape(" ".join(hit.snippet.marked(OPEN, CLOSE).split()))
    return line.replace(OPEN, before).replace(CLOSE, after)


def _asked(**given: Any) -> SearchQuery:
    try:
        return SearchQuery(**given)
    except ValidationError as invalid:
        first = first_invalid(invalid)
        field = str(first.path[0])
        option = OPTIONS.get(field, f"--{field.replace('_', '-')}")
        wrong = f"{given[field]!r} is not a time; write {_TIME_EXAMPLES}"
        message = wrong if field.endswith(("_after", "_before")) else first.reason
        raise typer.BadParameter(message, param_hint=option) from None
