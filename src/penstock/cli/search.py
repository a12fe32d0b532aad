"""`penstock search`: passages by meaning and by words, with where they stand and why they were found."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic import ValidationError

from penstock.cli import output
from penstock.cli.document_reference import document_of
from penstock.cli.failures import warn
from penstock.cli.metadata_pairs import pairs
from penstock.cli.product_session import DEFAULT, TenantSlug, stay
from penstock.cli.session import run
from penstock.observe.formats import escape
from penstock.search import SearchAnswer, SearchHit, SearchQuery
from penstock.search.answer import CLOSE, OPEN


class Mode(StrEnum):
    HYBRID = "hybrid"
    VECTOR = "vector"
    TEXT = "text"


Query = Annotated[str, typer.Argument(metavar="QUERY", help="A question, or words to look for.")]
Limit = Annotated[int, typer.Option(min=1, max=100, help="At most so many.")]
MinScore = Annotated[
    float | None, typer.Option(min=0, max=1, help="Only hits of at least this relevance, 0 to 1.")
]
ModeName = Annotated[Mode, typer.Option(help="By meaning (vector), by words (text), or both.")]
Projects = Annotated[list[str] | None, typer.Option("--project", metavar="SLUG", help="May be repeated.")]
Sources = Annotated[list[UUID] | None, typer.Option("--source", metavar="ID", help="May be repeated.")]
Types = Annotated[list[str] | None, typer.Option("--type", metavar="MIME", help="May be repeated.")]
In = Annotated[
    list[str] | None,
    typer.Option(
        "--document", metavar="DOCUMENT", help="Only in this one, by id, path or name; may be repeated."
    ),
]
After = Annotated[
    str | None, typer.Option(metavar="TIME", help="As 2025-01-31 or with a time; UTC without a zone.")
]
Before = Annotated[str | None, typer.Option(metavar="TIME", help="The same.")]
Metadata = Annotated[
    list[str] | None, typer.Option("--metadata", metavar="KEY=VALUE", help="May be repeated; all must match.")
]

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
    project: Projects = None,
    source: Sources = None,
    mime_type: Types = None,
    document: In = None,
    created_after: After = None,
    created_before: Before = None,
    modified_after: After = None,
    modified_before: Before = None,
    metadata: Metadata = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Find the passages that answer a question, the best first.

    Each shows title, page and heading, the passage with the words found, the parts of its score, the path
    and the ids of document and chunk. Filters narrow; times are the documents' own.
    """
    asked = _asked(
        query=query,
        limit=limit,
        mode=mode.value,
        min_score=min_score,
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
        async with stay() as here:
            owner = await here.tenant(tenant)
            only = [await document_of(here, owner, each) for each in document or []]
            narrowed = asked.model_copy(update={"document_ids": only}) if only else asked
            return await here.product.search.search(owner, narrowed)

    answer = run(call())
    if as_json:
        output.document(answer.model_dump(mode="json"))
        return
    for missing in answer.unavailable:
        warn(f"{', '.join(missing.projects)}: searched by words only; {missing.reason}")
    if answer.no_good_match:
        output.write("No good match; the nearest were:\n" if answer.hits else "No good match.")
    for number, hit in enumerate(answer.hits, 1):
        output.write(("" if number == 1 else "\n") + described(number, hit))
    if not answer.hits and not answer.no_good_match:
        output.write("Nothing was found.")


def described(number: int, hit: SearchHit) -> str:
    """A hit in a few lines."""
    name = hit.title or hit.filename or str(hit.document_id or hit.client_id)
    place = [] if hit.page_from is None else [f"page {hit.page_from}"]
    if headings := [heading for heading in hit.heading_path if heading != name]:
        place.append(" > ".join(headings))
    found = f"{hit.score:.4f}  relevance {hit.relevance:.2f}"
    if hit.vector_rank is not None:
        found += f"  meaning {hit.vector_score:.3f} (#{hit.vector_rank})"
    if hit.text_rank is not None:
        found += f"  words {hit.text_score:.3f} (#{hit.text_rank})"
    lines = [
        f"{number}. {escape(name)}" + (f"  ({escape(', '.join(place))})" if place else ""),
        f"   {_snippet(hit)}",
        f"   {_ids(hit)}  score {found}",
    ]
    if hit.path is not None:
        lines.insert(1, f"   {escape(hit.path)}")
    return "\n".join(lines)


def _ids(hit: SearchHit) -> str:
    if hit.document_id is None:
        return f"client {hit.client_id}"
    return f"document {hit.document_id}  chunk {hit.chunk_id}"


def _snippet(hit: SearchHit) -> str:
    """One line; what matched is bold on a terminal and between asterisks elsewhere."""
    bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    before, after = ("\x1b[1m", "\x1b[0m") if bold else ("*", "*")
    line = escape(" ".join(hit.snippet.marked(OPEN, CLOSE).split()))
    return line.replace(OPEN, before).replace(CLOSE, after)


def _asked(**given: Any) -> SearchQuery:
    try:
        return SearchQuery(**given)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        field = str(first["loc"][0])
        option = OPTIONS.get(field, f"--{field.replace('_', '-')}")
        raise typer.BadParameter(first["msg"], param_hint=option) from None
