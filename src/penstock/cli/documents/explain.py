"""`penstock explain`: the state of a document or a task, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

import typer

from penstock.cli import output
from penstock.cli.documents.reference import document_of
from penstock.cli.operate.task import LARGEST_ID
from penstock.cli.session import operations, run
from penstock.cli.tenant_session import DEFAULT, TenantSlug, tenant_session
from penstock.documents.rows import Explanation
from penstock.model.rows import plain
from penstock.observe.formats import escape
from penstock.queue.operator_rows import TaskReason

Target = Annotated[
    str, typer.Argument(metavar="DOCUMENT|TASK", help="A document's id, path or name, or a task's number.")
]


class Said(Protocol):
    @property
    def reason(self) -> str: ...
    @property
    def explanation(self) -> str: ...
    @property
    def remedy(self) -> str: ...


def command(target: Target, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Explain the state of a document or a task, and what to do about it.

    A number means a task. Anything else is a document's id, path or name: you see its timeline and what it is
    waiting for.
    """
    if target.isascii() and target.isdecimal() and 1 <= int(target) <= LARGEST_ID:
        _explain_task(int(target), as_json=as_json)
        return
    _explain_document(target, tenant, as_json=as_json)


def _explain_task(task_id: int, *, as_json: bool) -> None:
    async def call() -> list[TaskReason]:
        async with operations() as calls:
            return await calls.explain(task_id)

    reasons = run(call())
    if as_json:
        output.document({"task_id": task_id, "reasons": reasons})
    else:
        _say(reasons)


def _explain_document(target: str, tenant: str, *, as_json: bool) -> None:
    async def call() -> Explanation:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            return await session.engine.documents.explain(owner, await document_of(session, owner, target))

    found = run(call())
    if as_json:
        output.document(plain(found))
        return
    output.write(f"{found.document_id}  {escape(found.path or found.filename or '')}".rstrip())
    for event in found.events:
        moved = f"{event.from_status or '-'} → {event.to_status}" if event.to_status else ""
        said = output.with_code(event.reason_code, event.message)
        output.write(f"{output.cell(event.at)}  {event.event:<20} {moved:<24} {escape(said)}".rstrip())
    searchable = "searchable" if found.searchable else "not searchable"
    why = f" ({found.reason_code})" if found.reason_code else ""
    output.write(f"\nThe document is {found.status}{why} and {searchable}.")
    _say(found.waits_for)


def _say(reasons: Sequence[Said]) -> None:
    for found in reasons:
        output.write(f"{found.reason}: {escape(found.explanation)}\n  → {escape(found.remedy)}")
