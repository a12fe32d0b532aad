"""`penstock explain`: why a task is where it is, and what to do about it."""

from __future__ import annotations

from penstock.cli import output
from penstock.cli.session import operations, run
from penstock.cli.task import TaskId
from penstock.observe.formats import escape
from penstock.queue.operator_rows import Reason


def command(task_id: TaskId, as_json: output.AsJson = False) -> None:
    """Say why a task is where it is, and what to do about it."""

    async def call() -> list[Reason]:
        async with operations() as calls:
            return await calls.explain(task_id)

    reasons = run(call())
    if as_json:
        output.document({"task_id": task_id, "reasons": reasons})
        return
    for found in reasons:
        output.write(f"{found.reason}: {escape(found.explanation)}\n  → {escape(found.remedy)}")
