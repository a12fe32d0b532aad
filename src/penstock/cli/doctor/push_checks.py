"""Checks that mail arrives by push, and that somebody is told when a mailbox must be connected again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from penstock.cli import output
from penstock.cli.doctor.checks import Check
from penstock.model.document_class import MAILBOXES
from penstock.sources.mail.push import PUSH_KINDS, why_off

if TYPE_CHECKING:
    from penstock.db import Connection
    from penstock.settings import Settings

HEALTH = "select all_tenants.push_health($1)"


async def check_push(connection: Connection, settings: Settings) -> list[Check]:
    """Checks of mailboxes over all tenants, on a migrated database; none without a mailbox."""
    checks = []
    for kind in PUSH_KINDS:
        health = json.loads(await connection.fetchval(HEALTH, [kind]))
        if health["sources"]:
            checks.append(_subscriptions(kind, health, why_off(settings, kind)))
    health = json.loads(await connection.fetchval(HEALTH, sorted(MAILBOXES)))
    return [*checks, *_contacts(health, settings)]


def _subscriptions(kind: str, health: dict[str, Any], off: str | None) -> Check:
    mailboxes = output.count(health["sources"], "mailbox", "mailboxes")
    if off is not None:
        return Check(
            f"push {kind}",
            "warn",
            f"{mailboxes} without notifications, because {off}; mail arrives by the schedule alone",
            "See docs/guides/mail-push.md; without notifications mail takes minutes instead of seconds",
        )
    states = health["states"]
    if lapsed := states.get("expired", 0) + states.get("failed", 0):
        because = f" ({health['error_code']})" if health["error_code"] else ""
        return Check(
            f"push {kind}",
            "warn",
            f"{lapsed} of {mailboxes} without a subscription{because}; their mail arrives by the schedule",
            "To see why: penstock source show SOURCE. It is tried again by itself, at least every hour",
        )
    waiting = states.get("pending", 0) + states.get("none", 0)
    return Check(
        f"push {kind}",
        "ok",
        f"{states.get('active', 0)} of {mailboxes} subscribed" + (f", {waiting} to be" if waiting else ""),
    )


def _contacts(health: dict[str, Any], settings: Settings) -> list[Check]:
    checks = []
    if health["reconnect"]:
        untold = f", {health['reconnect_untold']} of a tenant without a contact" * bool(
            health["reconnect_untold"]
        )
        checks.append(
            Check(
                "reconnect",
                "warn",
                f"{output.count(health['reconnect'], 'source')} must be connected again{untold}",
                "To see them: penstock source list, with --tenant for another tenant",
            )
        )
    if health["without_contact"]:
        checks.append(
            Check(
                "contact",
                "warn",
                f"{output.count(health['without_contact'], 'tenant')} with mailboxes and no contact: nobody "
                "is told when one must be connected again",
                "Run: penstock tenant set SLUG --contact EMAIL",
            )
        )
    elif health["sources"] and settings.smtp_host is None:
        checks.append(
            Check(
                "contact",
                "warn",
                "no mail server is set, so nobody is told when a mailbox must be connected again",
                "Set PENSTOCK_SMTP_HOST and PENSTOCK_SMTP_FROM",
            )
        )
    return checks
