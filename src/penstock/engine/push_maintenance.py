"""Keeps push healthy every minute: starts due subscriptions, and tells people to connect a source again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError
from penstock.model import TenantId
from penstock.observe import get_logger
from penstock.sources.mail.push import push_kinds

if TYPE_CHECKING:
    from penstock.db import Record
    from penstock.engine.services import Services

log = get_logger(__name__)

DUE: Final = "select all_tenants.start_due_subscriptions($1)"
INCIDENTS: Final = "select * from all_tenants.note_incidents()"
NOTICE: Final = "select ingest.send_reconnect_notice($1, $2, $3)"


class PushMaintenance:
    """One per engine, run by its maintenance task."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def run_once(self) -> None:
        kinds = push_kinds(self._services.settings, self._services.providers)
        async with self._services.tenants.all_tenants() as conn:
            due = await conn.fetchval(DUE, kinds)
            untold = await conn.fetch(INCIDENTS)
        if due:
            log.info("subscriptions_due", count=due)
        if self._services.settings.smtp_host is None:
            return  # doctor says so; they are told once there is a mail server
        for incident in untold:
            await self._tell(incident)

    async def _tell(self, incident: Record) -> None:
        source_id = incident["source_id"]
        kind = incident["kind"]
        command = f"set-password {source_id}" if kind == "imap" else f"connect {kind}"
        subject, text = notice(
            incident["title"], incident["name"], command, self._services.settings.public_url
        )
        try:
            async with self._services.tenants.transaction(TenantId(incident["tenant_id"])) as conn:
                message_id = await conn.fetchval(NOTICE, source_id, subject, text)
        except PenstockError as error:
            log.warning("reconnect_not_told", source_id=str(source_id), reason=error.message)
            return
        if message_id is not None:
            log.info("reconnect_told", source_id=str(source_id), message_id=message_id)


def notice(title: str, name: str, command: str, public_url: str | None) -> tuple[str, str]:
    """The subject and the text of the email; the name is the provider's and must not break a line."""
    shown = " ".join(name.split())[:200]
    where = "" if public_url is None else f" ({public_url})"
    text = (
        f"Penstock{where} can no longer read the {title} account {shown}: its access has expired or was"
        " revoked.\n\nNothing new comes in from it until somebody connects it again:\n\n"
        f"    penstock source {command}\n\n"
        "What was read before stays searchable, and what arrives in the meantime is read after that.\n"
        "You get this message once; the next one comes only if it fails again after it has worked.\n"
    )
    return f"Connect {title} again: {shown}", text
