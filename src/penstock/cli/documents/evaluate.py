"""`penstock eval`: judges search by questions with known answers, with one setting or two side by side."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import typer
from pydantic import ValidationError

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.progress import bar
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSession, TenantSlug, tenant_session
from penstock.errors import InvalidArgument, NotFound
from penstock.errors.invalid_field import first_invalid
from penstock.model import DocumentId, TenantId
from penstock.observe.formats import escape
from penstock.search import SearchAnswer, SearchQuery
from penstock.search.evaluation import (
    DEPTH,
    Ask,
    Evaluation,
    Judged,
    Question,
    compared,
    judge_sides,
    question_lines,
    read_questions,
)

if TYPE_CHECKING:
    from penstock.search.probing import Stage

SETTINGS = ("mode", "embedder", "rerank", "per_document", "joined", "min_score", "projects", "staged")
STAGES: Final[dict[str | None, Stage | None]] = {None: None, "true": "staged", "false": "live"}
"""By the value of `staged`."""
_EXAMPLE = "mode=vector,embedder=minilm"

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help='JSON lines: {"question": "…", "documents": ["path or name", …]}; - reads stdin.'
    ),
]
Projects = Annotated[
    list[str] | None,
    typer.Option("--project", metavar="SLUG", help="Only in this project; may be repeated."),
]
Setting = Annotated[
    str, typer.Option("--with", metavar="SETTING", help=f"How to search, such as {_EXAMPLE}.")
]
Against = Annotated[
    str | None, typer.Option(metavar="SETTING", help="A second setting, to compare the first with.")
]
Shown = Annotated[int, typer.Option(min=0, max=1_000, help="Questions to show of each kind.")]
FailBelow = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Exit with 1 if the nDCG is below this, or below that of --against."),
]


def command(
    file: File,
    setting: Setting = "mode=hybrid",
    against: Against = None,
    project: Projects = None,
    show: Shown = 10,
    fail_below: FailBelow = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Measure how well search answers questions whose documents are known.

    nDCG@10, recall@10 and MRR are over documents: only the best passage of each counts. With --against both
    settings answer the same questions, and the ones that got worse and better are listed.
    """
    questions = read_questions(_lines(file))
    names = [setting] if against is None else [setting, against]
    sides = {name: _side(name, project) for name in names}

    async def call() -> tuple[list[Evaluation], list[str]]:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            for name in names:
                await _check_embedder(session, owner, sides[name])
            known = await _known(session, owner, questions)
            asks = [_ask(session, owner, sides[name]) for name in names]
            with bar("Asking", len(names) * len(questions)) as show_done:
                judged = await judge_sides(asks, questions, _one_each(known), show_done)
            unknown = [name for name, documents in known.items() if not documents]
            return [Evaluation(*each) for each in zip(names, judged, strict=True)], unknown

    evaluations, unknown = run(call())
    for name in unknown[:10]:
        warn(f"no document is known as {name!r}: its questions count as not answered")
    if len(unknown) > 10:
        warn(f"{len(unknown) - 10} more documents are not known")
    changed = compared(evaluations[1], evaluations[0]) if against is not None else []
    if as_json:
        output.document(_as_json(evaluations, changed, unknown))
    else:
        _print(evaluations, changed, show)
    least = 0.0 if fail_below is None else max([fail_below, *(each.ndcg for each in evaluations[1:])])
    if evaluations[0].ndcg < least:
        raise typer.Exit(Exit.REFUSED)


def _lines(file: Path) -> Sequence[str]:
    try:
        return question_lines(sys.stdin.read() if str(file) == "-" else file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise typer.BadParameter(f"cannot read {file}: {reason}", param_hint="FILE") from None


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the settings to compare: options of a search, and whether it is of what a re-index prepares."""

    options: dict[str, Any]
    stage: Stage | None


def _side(setting: str, projects: list[str] | None) -> _Side:
    """`key=value` pairs between commas, checked like the options of a search."""
    given: dict[str, Any] = {"limit": 2 * DEPTH, "include_clients": False}
    if projects:
        given["projects"] = projects
    for pair in filter(None, setting.split(",")):
        key, is_pair, value = pair.partition("=")
        if not is_pair or key.strip() not in SETTINGS:
            known = ", ".join(SETTINGS)
            raise typer.BadParameter(
                f"{pair!r} is not a setting; use {known}, such as {_EXAMPLE}", param_hint="--with/--against"
            )
        given[key.strip()] = value.strip().split("+") if key.strip() == "projects" else value.strip()
    stage = given.pop("staged", None)
    if stage not in STAGES:
        raise typer.BadParameter("staged: use true or false", param_hint="--with/--against")
    try:
        SearchQuery.model_validate({"query": "?", **given})
    except ValidationError as invalid:
        first = first_invalid(invalid)
        raise typer.BadParameter(f"{first.path[0]}: {first.reason}", param_hint="--with/--against") from None
    return _Side(given, STAGES[stage])


async def _check_embedder(session: TenantSession, owner: TenantId, side: _Side) -> None:
    """Refuse to search what is live with a model that documents are only prepared for: it finds nothing."""
    embedder, named = side.options.get("embedder"), side.options.get("projects")
    if embedder is None or side.stage == "staged":
        return
    projects = [
        project
        for project in await session.engine.accounts.list_projects(owner)
        if named is None or project.slug in named or str(project.project_id) in named
    ]
    is_next = any(project.next_embedder == embedder for project in projects)
    if is_next and all(project.embedder != embedder for project in projects):
        raise InvalidArgument(
            f"no document is live with {embedder!r} yet: a re-index prepares them",
            "embedder",
            f"To search what is prepared: embedder={embedder},staged=true",
        )


def _ask(session: TenantSession, owner: TenantId, side: _Side) -> Ask:
    async def ask(text: str) -> SearchAnswer:
        query = SearchQuery.model_validate({"query": text, **side.options})
        answer = await session.engine.search.search(owner, query, side.stage)
        if answer.unavailable:
            raise InvalidArgument(answer.unavailable[0].reason, "embedder", "Try again when it answers")
        if "reranker" in answer.degraded:
            raise InvalidArgument(
                "the reranker did not answer",
                "rerank",
                "Check PENSTOCK_RERANKER, or raise PENSTOCK_RERANK_SECONDS",
            )
        return answer

    return ask


async def _known(
    session: TenantSession, owner: TenantId, questions: Sequence[Question]
) -> dict[str, list[DocumentId]]:
    """The documents that each name means. None is a typing error more often than a bad search."""
    documents = session.engine.documents
    known: dict[str, list[DocumentId]] = {}
    for name in dict.fromkeys(name for question in questions for name in question.documents):
        known[name] = [each.document_id for each in await documents.find(owner, name)]
        if not known[name] and (document_id := _as_id(name)) is not None:
            with suppress(NotFound):
                known[name] = [(await documents.show(owner, document_id)).document_id]
    return known


def _as_id(name: str) -> DocumentId | None:
    try:
        return DocumentId(UUID(name))
    except ValueError:
        return None


def _one_each(known: dict[str, list[DocumentId]]) -> dict[str, DocumentId]:
    """The document of every name that means only one, so that two names of one document count once."""
    return {name: documents[0] for name, documents in known.items() if len(documents) == 1}


def _print(evaluations: Sequence[Evaluation], changed: Sequence[tuple[Judged, Judged]], show: int) -> None:
    columns = ("setting", "questions", f"nDCG@{DEPTH}", f"recall@{DEPTH}", "MRR", "p50 ms", "p95 ms")
    rows = [
        (
            each.setting,
            len(each.judged),
            *(f"{figure:.4f}" for figure in (each.ndcg, each.recall, each.mrr)),
            each.p50_ms,
            each.p95_ms,
        )
        for each in evaluations
    ]
    output.table(columns, rows)
    if len(evaluations) == 1:
        failed = sorted(evaluations[0].judged, key=lambda each: each.ndcg)
        bad = [each for each in failed if each.recall < 1 and each.ndcg < 1][:show]
        if bad:
            output.write("\nNot answered well:")
        for each in bad:
            output.write(f"  {each.ndcg:.2f}  {escape(each.question.text)}")
        return
    worse = [pair for pair in changed if pair[1].ndcg < pair[0].ndcg]
    better = [pair for pair in reversed(changed) if pair[1].ndcg > pair[0].ndcg]
    for title, pairs in (("worse", worse), ("better", better)):
        output.write(f"\n{output.count(len(pairs), 'question')} {title} than with {evaluations[1].setting}:")
        for before, after in pairs[:show]:
            output.write(f"  {before.ndcg:.2f} -> {after.ndcg:.2f}  {escape(after.question.text)}")


def _as_json(
    evaluations: Sequence[Evaluation], changed: Sequence[tuple[Judged, Judged]], unknown: Sequence[str]
) -> dict[str, object]:
    return {
        "settings": [
            {
                "setting": each.setting,
                "questions": len(each.judged),
                "ndcg": each.ndcg,
                "recall": each.recall,
                "mrr": each.mrr,
                "p50_ms": each.p50_ms,
                "p95_ms": each.p95_ms,
                "answers": [
                    {
                        "question": one.question.text,
                        "documents": list(one.question.documents),
                        "ndcg": round(one.ndcg, 4),
                        "recall": round(one.recall, 4),
                        "took_ms": one.took_ms,
                        "found": list(one.found),
                    }
                    for one in each.judged
                ],
            }
            for each in evaluations
        ],
        "changed": [
            {"question": after.question.text, "before": round(before.ndcg, 4), "after": round(after.ndcg, 4)}
            for before, after in changed
        ],
        "unknown_documents": list(unknown),
    }
