"""The tenant's webhook: verified deliveries come in, secrets rotate; sources are paused and removed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.errors import Conflict, NotFound
from penstock.intake.intake import Intake
from penstock.intake.rows import Taken
from penstock.intake.spool import Spooled
from penstock.model import ProjectId, SourceId, TenantId, uuid7
from penstock.net.webhooks import VerifiedMessage, generate_secret
from penstock.vault.secrets import Secrets

SECRET_NAME = "webhook"  # noqa: S105  # a name, not a secret


@dataclass(frozen=True, slots=True)
class WebhookSecret:
    """Shown once, when it is made."""

    source_id: SourceId
    secret: str


@dataclass(frozen=True, slots=True)
class WebhookSource:
    source_id: SourceId
    project_id: ProjectId
    secrets: tuple[str, ...]


class Source(BaseModel):
    """A source as people see it; `paused` ones take nothing in."""

    model_config = ConfigDict(frozen=True)

    source_id: SourceId
    kind: str
    name: str
    project: str
    status: str
    status_message: str | None
    created_at: datetime
    updated_at: datetime


class WebhookSources:
    def __init__(self, tenants: TenantPool, intake: Intake, secrets: Secrets) -> None:
        self._tenants = tenants
        self._intake = intake
        self._secrets = secrets

    async def rotate(self, tenant_id: TenantId, project: str | ProjectId = "default") -> WebhookSecret:
        """Make the webhook, or give it a new secret; the one before stays good until the next rotation."""
        secret = generate_secret()
        async with self._tenants.transaction(tenant_id) as conn:
            secret_id = await self._secrets.put(conn, tenant_id, SECRET_NAME, secret.encode())
            source = json.loads(
                await conn.fetchval(
                    "select ingest.put_webhook_source($1, $2, $3)", uuid7(), secret_id, str(project)
                )
            )
            for dropped in source["dropped"]:
                await self._secrets.drop(conn, UUID(dropped))
        return WebhookSecret(SourceId(UUID(source["source_id"])), secret)

    async def list(self, tenant_id: TenantId) -> Sequence[Source]:
        """The tenant's sources, the oldest first."""
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch("select ingest.list_sources()")
        return [Source.model_validate_json(row[0]) for row in rows]

    async def pause(self, tenant_id: TenantId, source_id: SourceId) -> None:
        """From now on its deliveries are refused, as those of a webhook that does not exist."""
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute("select ingest.pause_source($1, true)", source_id)

    async def resume(self, tenant_id: TenantId, source_id: SourceId) -> None:
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute("select ingest.pause_source($1, false)", source_id)

    async def remove(self, tenant_id: TenantId, source_id: SourceId) -> None:
        """Remove it for good, with its secrets; the documents that came by it stay."""
        async with self._tenants.transaction(tenant_id) as conn:
            for secret_id in await conn.fetchval("select ingest.remove_source($1)", source_id):
                await self._secrets.drop(conn, secret_id)

    async def create(self, tenant_id: TenantId, project: str | ProjectId = "default") -> WebhookSecret:
        """Make the webhook; Conflict when there is one."""
        if any(source.kind == "webhook" for source in await self.list(tenant_id)):
            raise Conflict(
                "the tenant has a webhook already",
                "source",
                "Rotate its secret: POST /v1/sources/webhook/rotate, or penstock source rotate",
            )
        return await self.rotate(tenant_id, project)

    async def renew(self, tenant_id: TenantId) -> WebhookSecret:
        """Give the webhook there is a new secret, also while it is paused; NotFound when there is none."""
        for source in await self.list(tenant_id):
            if source.kind == "webhook":
                return await self.rotate(tenant_id, source.project)
        raise _no_webhook()

    async def find(self, tenant_id: TenantId) -> WebhookSource:
        """The webhook that takes deliveries; one that is paused is not found either."""
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval("select ingest.webhook_source()")
            source = None if row is None else json.loads(row)
            if source is None or source["status"] == "paused":
                raise _no_webhook()
            secrets = [
                (await self._secrets.get(conn, tenant_id, UUID(secret_id))).decode()
                for secret_id in source["secret_ids"]
            ]
        return WebhookSource(
            SourceId(UUID(source["source_id"])), ProjectId(UUID(source["project_id"])), tuple(secrets)
        )

    async def take_in(
        self,
        tenant_id: TenantId,
        source: WebhookSource,
        message: VerifiedMessage,
        content: AsyncIterable[bytes] | Spooled,
        *,
        path: str,
        source_ip: str | None,
        filename: str | None = None,
        declared_type: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        max_bytes: int | None = None,
    ) -> Taken:
        """Take the content of a delivery in, whose signature was checked; a second time is refused."""
        return await self._intake.take_in(
            tenant_id,
            content,
            project=source.project_id,
            filename=filename,
            declared_type=declared_type,
            source_id=source.source_id,
            source_metadata={
                "webhook_path": path,
                "source_ip": source_ip,
                "message_id": message.message_id,
                **(metadata or {}),
            },
            replay=(source.source_id, message.replay_key),
            max_bytes=max_bytes,
        )


def _no_webhook() -> NotFound:
    return NotFound(
        "this tenant has no webhook", "tenant", "Make one: POST /v1/sources/webhook with an admin key"
    )
