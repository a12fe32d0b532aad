"""`penstock document retry --status`: sends all documents that match through again, their number first."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.document_health import counted
from penstock.cli.product_session import stay
from penstock.cli.session import run
from penstock.errors import InvalidArgument


class Retriable(StrEnum):
    FAILED = "failed"
    SKIPPED = "skipped"


Status = Annotated[
    Retriable | None, typer.Option("--status", help="Retry all documents that are failed (or skipped).")
]
Reason = Annotated[
    str | None,
    typer.Option("--reason", metavar="CODE", help="Only those with this reason, as document list shows it."),
]


def retry_all(
    tenant: str, status: Retriable, reason: str | None, project: str | None, *, yes: bool, as_json: bool
) -> None:
    async def call() -> tuple[int, int]:
        async with stay() as here:
            owner = await here.tenant(tenant)
            documents = here.product.documents
            matched = await documents.count_to_retry(
                owner, status=status.value, reason=reason, project=project
            )
            if matched:
                _confirm(_described(matched, tenant, status, reason), yes=yes, as_json=as_json)
            queued = 0
            if matched:
                queued = await documents.retry_all(owner, status=status.value, reason=reason, project=project)
            return matched, queued

    matched, queued = run(call())
    if as_json:
        output.document({"matched": matched, "queued": queued})
    elif not matched:
        output.write("No document matches.")
    else:
        output.write(f"{counted(queued)} queued")


def _described(matched: int, tenant: str, status: Retriable, reason: str | None) -> str:
    why = "" if reason is None else f" with reason {reason}"
    return f"{counted(matched)} of tenant {tenant}, {status.value}{why}"


def _confirm(what: str, *, yes: bool, as_json: bool) -> None:
    if yes:
        if not as_json:
            output.write(f"Retrying {what}.")
        return
    if as_json or not sys.stdin.isatty():
        raise InvalidArgument(f"nobody confirmed to retry {what}", "yes", "Use --yes")
    typer.confirm(f"Retry {what}?", abort=True, err=True)
