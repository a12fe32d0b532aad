"""Asks a project's questions before a re-index goes live: of the live index and of the staged one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.errors import IndexNotReady, IndexUnavailable
from penstock.model import Snooze, TenantId
from penstock.observe import get_logger
from penstock.queue.task_run import TaskRun
from penstock.search.answer import SearchAnswer
from penstock.search.evaluation import DEPTH, Evaluation, Judged, Question, compared, judge
from penstock.search.probing import Stage
from penstock.search.query import SearchQuery

log = get_logger(__name__)

AT_ONCE = 4
"""Questions asked at once: a remote embedder answers each in a tenth of a second or more."""
WAIT_SECONDS = 30.0
"""When to ask again after an embedder, a reranker or an index was unavailable."""
MOST_WORSE = 100
MOST_CHECKED = 200
"""Documents no search has found that are looked up, to tell a missing one from one not found."""

BEGIN = "select ingest.begin_evaluation($1)"
WAIT = "select ingest.wait_evaluation($1, $2)"
UNKNOWN = "select ingest.unknown_documents($1, $2)"
END = "select ingest.end_evaluation($1, $2, $3, $4, $5, $6, $7)"


class StagedSearch(Protocol):
    async def search(
        self, tenant_id: TenantId, query: SearchQuery, stage: Stage | None = None
    ) -> SearchAnswer: ...


class EvaluateGate(BaseModel):
    """The payload of `evaluate-gate`."""

    model_config = ConfigDict(frozen=True)

    evaluation_id: UUID


class Unavailable(Exception):
    """The questions cannot be asked now."""


@dataclass(frozen=True, slots=True)
class GateEvaluating:
    """The handler of `evaluate-gate`. Whatever ends it, the next run asks all questions again; the database
    takes the first figures it gets."""

    tenants: TenantPool
    search: StagedSearch

    async def __call__(self, payload: EvaluateGate, run: TaskRun) -> Snooze | None:
        assert run.tenant_id is not None, "a gate belongs to a tenant"
        tenant_id = TenantId(run.tenant_id)
        asked = await self._value(tenant_id, BEGIN, payload.evaluation_id)
        if asked is None:
            return None
        wanted: dict[str, Any] = json.loads(asked)
        questions = [Question(one["question"], tuple(one["documents"])) for one in wanted["questions"]]
        try:
            live = await self._evaluation(tenant_id, wanted["project_id"], questions, "live")
            staged = await self._evaluation(tenant_id, wanted["project_id"], questions, "staged")
        except Unavailable as wait:
            await self._value(tenant_id, WAIT, payload.evaluation_id, str(wait))
            return Snooze(WAIT_SECONDS)
        await self._end(tenant_id, payload.evaluation_id, wanted, live, staged)
        return None

    async def _evaluation(
        self, tenant_id: TenantId, project_id: str, questions: Sequence[Question], stage: Stage
    ) -> Evaluation:
        async def ask(text: str) -> SearchAnswer:
            query = SearchQuery(query=text, projects=[project_id], limit=2 * DEPTH, include_clients=False)
            try:
                answer = await self.search.search(tenant_id, query, stage)
            except (IndexUnavailable, IndexNotReady) as down:
                raise Unavailable(down.message) from down
            if answer.unavailable:
                raise Unavailable(answer.unavailable[0].reason)
            if "reranker" in answer.degraded:
                # It rests for a moment after an error: the rest of one side would be in another order.
                raise Unavailable("the reranker did not answer")
            return answer

        judged: dict[int, Judged] = {}
        left = iter(list(enumerate(questions)))

        async def some() -> None:
            for place, question in left:
                judged[place] = await judge(ask, question)

        tasks = [asyncio.create_task(some()) for _ in range(min(AT_ONCE, len(questions)))]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return Evaluation(stage, tuple(judged[place] for place in range(len(questions))))

    async def _end(
        self,
        tenant_id: TenantId,
        evaluation_id: UUID,
        wanted: dict[str, Any],
        live: Evaluation,
        staged: Evaluation,
    ) -> None:
        changed = compared(live, staged)
        worse = [
            {
                "question": before.question.text,
                "before": round(before.ndcg, 4),
                "after": round(after.ndcg, 4),
            }
            for before, after in changed
            if after.ndcg < before.ndcg
        ]
        unknown = await self._value(
            tenant_id, UNKNOWN, UUID(wanted["project_id"]), _not_found([*live.judged, *staged.judged])
        )
        state = await self._value(
            tenant_id,
            END,
            evaluation_id,
            live.ndcg,
            staged.ndcg,
            json.dumps(worse[:MOST_WORSE]),
            len(worse),
            len(changed) - len(worse),
            unknown,
        )
        facts = {
            "project_id": wanted["project_id"],
            "run_id": wanted["run_id"],
            "before": live.ndcg,
            "after": staged.ndcg,
            "worse": len(worse),
        }
        if state == "passed":
            log.info("gate_passed", **facts)
        elif state == "failed":
            log.warning("gate_failed", **facts)

    async def _value(self, tenant_id: TenantId, call: str, *arguments: object) -> Any:
        async with self.tenants.transaction(tenant_id) as conn:
            return await conn.fetchval(call, *arguments)


def _not_found(judged: Iterable[Judged]) -> list[str]:
    """Documents expected by questions that neither search answered completely."""
    names: dict[str, None] = {}
    for each in judged:
        if each.recall < 1:
            names.update(dict.fromkeys(each.question.documents))
    return list(names)[:MOST_CHECKED]
