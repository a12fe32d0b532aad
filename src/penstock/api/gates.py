"""The gates of projects over HTTP: set, show and remove them, and decide about what waits there."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Limit, ProjectSlug, ProjectWriter, Reader
from penstock.documents.gates import MOST_QUESTIONS
from penstock.model.gate import Gate, GateEvaluation, GateMode
from penstock.search.query import LONGEST_QUERY

router = APIRouter(route_class=GuardedRoute, tags=["Projects"], prefix="/v1/projects/{slug}/gate")

_Name = Annotated[Text, Field(min_length=1, max_length=4_000)]


class GateQuestion(Body):
    """A question, and the documents that answer it: each by id, path, end of its path, or file name."""

    question: Annotated[Text, Field(min_length=1, max_length=LONGEST_QUERY, pattern=r"\S")]
    documents: Annotated[list[_Name], Field(min_length=1, max_length=1_000)]


class GateWanted(Body):
    """What is left out or null keeps its value; a new gate needs questions, blocks, and allows no loss."""

    questions: Annotated[list[GateQuestion], Field(min_length=1, max_length=MOST_QUESTIONS)] | None = None
    mode: GateMode | None = None
    allowed_loss: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None


class GateEvaluations(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: list[GateEvaluation]


@router.get("", operation_id="showGate")
async def show(request: Request, caller: Reader, slug: ProjectSlug) -> Gate:
    """Show a project's gate: what waits at it, both figures, and the questions that got worse."""
    return await engine_of(request).gates.show(caller.tenant_id, slug)


@router.put("", operation_id="setGate")
async def put(request: Request, caller: ProjectWriter, slug: ProjectSlug, body: GateWanted) -> Gate:
    """Give a project a gate, or change the one it has.

    A re-index or a switch to another model then goes live only if the questions are answered as well as
    before. What waits is judged again.
    """
    asked = None if body.questions is None else [(each.question, each.documents) for each in body.questions]
    return await engine_of(request).gates.set(
        caller.tenant_id,
        slug,
        by=caller.decider,
        questions=asked,
        mode=body.mode,
        allowed_loss=body.allowed_loss,
    )


@router.delete("", operation_id="removeGate")
async def remove(request: Request, caller: ProjectWriter, slug: ProjectSlug) -> Gate:
    """Remove a project's gate with its questions; what waits at it goes live."""
    return await engine_of(request).gates.remove(caller.tenant_id, slug)


@router.get("/evaluations", operation_id="listGateEvaluations")
async def evaluations(
    request: Request, caller: Reader, slug: ProjectSlug, limit: Limit = 50
) -> GateEvaluations:
    """List the evaluations of a project's gate, newest first; the newest hundred are kept."""
    return GateEvaluations(items=await engine_of(request).gates.evaluations(caller.tenant_id, slug, limit))


@router.post("/accept", operation_id="acceptGate")
async def accept(request: Request, caller: ProjectWriter, slug: ProjectSlug) -> GateEvaluation:
    """Let what waits at a project's gate go live although its questions are answered worse."""
    return await engine_of(request).gates.accept(caller.tenant_id, slug, caller.decider)


@router.post("/cancel", operation_id="cancelGate")
async def cancel(request: Request, caller: ProjectWriter, slug: ProjectSlug) -> GateEvaluation:
    """Stop what waits at a project's gate and remove what it prepared; the project stays as it is."""
    return await engine_of(request).gates.cancel(caller.tenant_id, slug, caller.decider)
