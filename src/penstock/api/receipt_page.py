"""The receipt of a deletion as a page for people: the facts of its JSON, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Final

from penstock.api.server_pages import page

if TYPE_CHECKING:
    from fastapi import Request, Response

    from penstock.accounts import Deletion

RELOAD_SECONDS: Final = 5
_TITLES: Final = {
    "running": "The account is being deleted",
    "failed": "The deletion of the account is stuck",
    "succeeded": "The account was deleted",
}
_TIMES: Final = {
    "files_removed_at": "Files removed",
    "anonymized_at": "Remaining rows overwritten",
    "completed_at": "Completed",
}


def wants_page(request: Request) -> bool:
    """Whether a browser asks; programs get JSON."""
    return "text/html" in request.headers.get("accept", "")


def receipt_page(request: Request, found: Deletion) -> Response:
    facts = [
        ("Account", str(found.account_id)),
        ("Deletion", str(found.account_deletion_task_id)),
        ("Requested", _moment(found.requested_at)),
        *_facts_of(found.receipt or {}),
    ]
    if found.receipt_sha256 is not None:
        facts.append(("SHA-256 of this receipt", found.receipt_sha256))
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    return page(
        request,
        _TITLES[found.status],
        _lines(found),
        form=f"<dl>{listed}</dl>",
        error=found.error if found.status == "failed" else None,
        reload=RELOAD_SECONDS if found.status == "running" else None,
    )


def unknown_receipt_page(request: Request) -> Response:
    return page(
        request,
        "There is no such receipt",
        ["Check the address: the token in it is from the answer to the request to delete the account."],
        status=404,
    )


def _lines(found: Deletion) -> list[str]:
    left = f"Left to remove: files {found.files_left:,}, parameters {found.parameters_left:,}."
    flags = [] if not found.flags else [f"The account is {' and '.join(found.flags)}."]
    match found.status:
        case "running":
            return ["Its keys no longer work. This page reloads until everything is deleted.", *flags, left]
        case "failed":
            again = "Once the cause is fixed, request the deletion again: it continues where it stopped."
            return ["The account stays closed.", again, *flags, left]
        case "succeeded":
            unchanged = (
                "The receipt matches its SHA-256."
                if found.receipt_is_unchanged
                else "The receipt no longer matches its SHA-256: it was changed."
            )
            return [*flags, left, unchanged]


def _facts_of(receipt: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [
        (name, _moment(datetime.fromisoformat(receipt[field])))
        for field, name in _TIMES.items()
        if receipt.get(field)
    ]
    for field, name in (("removed", "Removed"), ("overwritten", "Overwritten, without personal data")):
        if receipt.get(field):
            facts.append((name, _counts(receipt[field])))
    if receipt.get("contents_sha256"):
        facts.append(("SHA-256 of the contents", receipt["contents_sha256"]))
    backups = receipt.get("backups") or {}
    if backups.get("held_until"):
        until = _moment(datetime.fromisoformat(backups["held_until"]))
        facts.append(("Backups", f"kept for {backups['retention_days']} days, until {until}"))
    return facts


def _counts(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in counts.items())


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
