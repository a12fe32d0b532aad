"""Checks documents: which have failed, wait for an embedder or a gate, or use a fallback; and re-indexes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from penstock.cli.doctor.checks import Check

if TYPE_CHECKING:
    from penstock.db import Connection

HEALTH = "select all_tenants.document_health()"
REASONS_SHOWN = 5


async def check_health(connection: Connection) -> list[Check]:
    """All checks of documents' states, over all tenants, on a migrated database."""
    health: dict[str, Any] = json.loads(await connection.fetchval(HEALTH))
    return [
        _failed(health["failed"]),
        *_outages(health),
        *_fallback(health["fallback"]),
        *_gates(health["gates"]),
        *_undriven(health["undriven"]),
    ]


def _failed(reasons: dict[str, int]) -> Check:
    if not reasons:
        return Check("documents", "ok", "none failed")
    ordered = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    said = ", ".join(f"{count} {reason}" for reason, count in ordered[:REASONS_SHOWN])
    more = f", and {len(ordered) - REASONS_SHOWN} other reasons" if len(ordered) > REASONS_SHOWN else ""
    return Check(
        "documents",
        "warn",
        f"{counted(sum(reasons.values()))} failed: {said}{more}",
        "To see them: penstock document list --status failed. Once the cause is fixed: penstock "
        "document retry --status failed --reason CODE. Add --tenant for another tenant",
    )


def _outages(health: dict[str, Any]) -> list[Check]:
    return [
        Check(
            "embedder",
            "warn",
            f"{outage['embedder']} has been unavailable since {outage['since']}: {outage['reason']}; "
            f"{counted(health['waiting'])} waiting",
            "Documents continue by themselves when it answers; set PENSTOCK_EMBEDDER_FALLBACK to "
            "index with a second model until then",
        )
        for outage in health["outages"]
    ]


def _fallback(count: int) -> list[Check]:
    if not count:
        return []
    return [
        Check(
            "fallback",
            "warn",
            f"{counted(count)} indexed with the fallback",
            "Nothing to do: they are embedded again once their own model is available",
        )
    ]


def _gates(waiting: list[dict[str, str]]) -> list[Check]:
    return [
        Check(
            "gate",
            "warn",
            f"the project {gate['project']} of {gate['tenant']} {gate['says'].partition('; to go live')[0]}",
            f"To go live anyway: penstock project gate accept {gate['project']} --tenant {gate['tenant']}. "
            f"To stay: penstock project gate cancel {gate['project']} --tenant {gate['tenant']}",
        )
        for gate in waiting
    ]


def _undriven(runs: list[dict[str, str]]) -> list[Check]:
    """A driver on Ray that was killed leaves its run open, and a command that waits for it waits forever."""
    return [
        Check(
            "reindex",
            "warn",
            f"the re-index {run['run_id']} of the project {run['project']} of {run['tenant']} has had no "
            f"driver since {datetime.fromisoformat(run['since']).astimezone(UTC):%Y-%m-%d %H:%M} UTC",
            f"To leave the rest to the workers: penstock reindex resume {run['run_id']} --engine queue "
            f"--tenant {run['tenant']}. On a cluster: the same with --engine ray --address HOST:PORT. "
            f"To end it: penstock reindex stop {run['run_id']} --tenant {run['tenant']}",
        )
        for run in runs
    ]


def counted(count: int) -> str:
    return f"{count} document{'' if count == 1 else 's'}"
