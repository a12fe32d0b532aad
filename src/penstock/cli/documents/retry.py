"""`penstock document retry --status`: retries all documents that match, after showing how many."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.confirmation import confirm, would
from penstock.cli.doctor.document_health import counted
from penstock.cli.session import run
from penstock.cli.tenant_session import tenant_session


class Retriable(StrEnum):
    FAILED = "failed"
    SKIPPED = "skipped"


Status = Annotated[Retriable | None, typer.Option("--status", help="Retry all documents with this status.")]
Reason = Annotated[
    str | None,
    typer.Option(
        "--reason",
        metavar="CODE",
        help="Only documents with this reason code, as shown by penstock document list.",
    ),
]


def retry_all(
    tenant: str,
    status: Retriable,
    reason: str | None,
    project: str | None,
    *,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    async def call() -> tuple[int, int]:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            documents = session.engine.documents
            matched = await documents.count_to_retry(
                owner, status=status.value, reason=reason, project=project
            )
            if matched and not dry_run:
                what = _described(matched, tenant, status, reason)
                confirm(f"retry {what}", yes=yes, as_json=as_json)
                if yes and not as_json:
                    output.write(f"Retrying {what}.")
            queued = 0
            if matched and not dry_run:
                chosen = f"all {status.value}" + (f" with {reason}" if reason else "")
                await session.tenant(tenant, change="document retry", target=chosen)
                queued = await documents.retry_all(owner, status=status.value, reason=reason, project=project)
            return matched, queued

    matched, queued = run(call())
    if dry_run:
        would(f"retry {_described(matched, tenant, status, reason)}", as_json=as_json, count=matched)
        return
    if as_json:
        output.document({"matched": matched, "queued": queued})
    elif not matched:
        output.write("No documents match.")
    else:
        output.write(f"{counted(queued)} queued")


def _described(matched: int, tenant: str, status: Retriable, reason: str | None) -> str:
    why = "" if reason is None else f" with reason {reason}"
    return f"{counted(matched)} of tenant {tenant}, {status.value}{why}"
