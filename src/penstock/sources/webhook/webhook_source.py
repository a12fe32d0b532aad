"""The tenant's incoming webhook: create it, find it with its secrets, rotate them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.errors import Conflict, NotFound
from penstock.model import ProjectId, SourceId, TenantId, uuid7
from penstock.sources.sources import Sources
from penstock.vault.secrets import Secrets
from penstock.webhooks.signature import VerifiedMessage, generate_secret

SECRET_NAME = "webhook"  # noqa: S105  # a name, not a secret


@dataclass(frozen=True, slots=True)
class WebhookSecret:
    """Shown once, when it is created."""

    source_id: SourceId
    secret: str


class Provenance(TypedDict):
    """What intake is told about a delivery besides its content."""

    project: ProjectId
    source_id: SourceId
    source_metadata: Mapping[str, Any]
    replay: tuple[SourceId, bytes]


@dataclass(frozen=True, slots=True)
class WebhookSource:
    source_id: SourceId
    project_id: ProjectId
    secrets: tuple[str, ...]

    def provenance(
        self,
        message: VerifiedMessage,
        *,
        path: str,
        source_ip: str | None,
        fields: Mapping[str, str] | None = None,
    ) -> Provenance:
        """The provenance of a verified delivery; `replay` makes intake reject a repeat."""
        noted: dict[str, Any] = {
            "webhook_path": path,
            "source_ip": source_ip,
            "message_id": message.message_id,
        }
        if fields:
            noted["fields"] = dict(fields)
        return Provenance(
            project=self.project_id,
            source_id=self.source_id,
            source_metadata=noted,
            replay=(self.source_id, message.replay_key),
        )


class WebhookSources:
    """A tenant has at most one webhook."""

    def __init__(self, tenants: TenantPool, sources: Sources, secrets: Secrets) -> None:
        self._tenants = tenants
        self._sources = sources
        self._secrets = secrets

    async def rotate(self, tenant_id: TenantId, project: str | ProjectId = "default") -> WebhookSecret:
        """Create the webhook, or give it a new secret; the previous one stays valid until the next call."""
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

    async def create(self, tenant_id: TenantId, project: str | ProjectId = "default") -> WebhookSecret:
        """Create the webhook; Conflict if there is one."""
        if any(source.kind == "webhook" for source in await self._sources.list(tenant_id)):
            raise Conflict(
                "the tenant already has a webhook",
                "source",
                "Rotate its secret: POST /v1/sources/webhook/rotate, or penstock source rotate",
            )
        return await self.rotate(tenant_id, project)

    async def renew(self, tenant_id: TenantId) -> WebhookSecret:
        """Give the existing webhook a new secret, even while paused; NotFound if there is none."""
        for source in await self._sources.list(tenant_id):
            if source.kind == "webhook":
                return await self.rotate(tenant_id, source.project)
        raise _no_webhook()

    async def find(self, tenant_id: TenantId) -> WebhookSource:
        """The active webhook; a paused one is not found."""
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


def _no_webhook() -> NotFound:
    return NotFound(
        "this tenant has no webhook", "tenant", "Create one: POST /v1/sources/webhook with an admin key"
    )
