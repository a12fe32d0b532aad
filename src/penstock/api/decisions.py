"""What was not kept, over HTTP: list it, restore it, see and change the rules of a source."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Admin, Cursor, Limit, Operator, Reader
from penstock.model import SourceId
from penstock.sources.decision_rows import Decision, DecisionList, RuleList
from penstock.sources.rule_changes import RuleChanges

router = APIRouter(route_class=GuardedRoute, tags=["Sources"], prefix="/v1")

OneSource = Annotated[UUID, Path(alias="source_id", description="The source's id.")]
OneDecision = Annotated[UUID, Path(alias="decision_id", description="The decision's id.")]
Reason = Annotated[
    str | None,
    Query(max_length=200, pattern=r"^[^\x00]*$", description="Only what was left out for this reason."),
]
Decided = Annotated[
    str | None,
    Query(max_length=320, pattern=r"^[^\x00]*$", description="Only what this rule or class decided."),
]
Names = Annotated[tuple[Annotated[Text, Field(max_length=320)], ...], Field(max_length=1_000)]


class RulesWanted(Body):
    off: Names = ()
    on: Names = ()
    weights: Annotated[dict[str, float | None], Field(default_factory=dict)]
    """By rule; null for the usual weight."""
    allow: Names = ()
    block: Names = ()
    forget: Names = ()
    """Senders that are neither allowed nor blocked any more."""


@router.get("/decisions", operation_id="listDecisions")
async def decisions(
    request: Request,
    caller: Reader,
    reason: Reason = None,
    name: Decided = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DecisionList:
    """List what was not kept, of all sources and uploads, newest first."""
    return await engine_of(request).sources.skipped(
        caller.tenant_id, cursor=cursor, limit=limit, reason=reason, name=name
    )


@router.post("/decisions/{decision_id}/restore", operation_id="restoreDecision")
async def restore(request: Request, caller: Operator, decision_id: OneDecision) -> Decision:
    """Take in what was not kept; restoring twice changes nothing."""
    return await engine_of(request).sources.restore(caller.tenant_id, decision_id, decided_by=caller.decider)


@router.get("/sources/{source_id}/decisions", operation_id="listSourceDecisions")
async def source_decisions(
    request: Request,
    caller: Reader,
    source_id: OneSource,
    reason: Reason = None,
    name: Decided = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DecisionList:
    """List what was not kept of a source, newest first."""
    return await engine_of(request).sources.skipped(
        caller.tenant_id, SourceId(source_id), cursor=cursor, limit=limit, reason=reason, name=name
    )


@router.post("/sources/{source_id}/decisions/{decision_id}/restore", operation_id="restoreSourceDecision")
async def restore_of_source(
    request: Request, caller: Operator, source_id: OneSource, decision_id: OneDecision
) -> Decision:
    """Take in what was not kept of a source; restoring twice changes nothing."""
    return await engine_of(request).sources.restore(
        caller.tenant_id, decision_id, source_id=SourceId(source_id), decided_by=caller.decider
    )


@router.get("/sources/{source_id}/rules", operation_id="listSourceRules")
async def rules(request: Request, caller: Reader, source_id: OneSource) -> RuleList:
    """List the rules and classes of a source with how often each fired and was reversed."""
    return await engine_of(request).sources.rules(caller.tenant_id, SourceId(source_id))


@router.patch("/sources/{source_id}/rules", operation_id="changeSourceRules")
async def change_rules(request: Request, caller: Admin, source_id: OneSource, body: RulesWanted) -> RuleList:
    """Change rules of a source from its next sync on; what is not named stays."""
    changes = RuleChanges(**body.model_dump())
    return await engine_of(request).sources.set_rules(caller.tenant_id, SourceId(source_id), changes)
