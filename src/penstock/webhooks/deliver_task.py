"""Notifies a tenant's completion webhook that an ingestion ended; the queue retries failures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.model import IngestionId, TenantId
from penstock.observe import get_logger
from penstock.queue.task_run import TaskRun
from penstock.vault.secrets import Secrets
from penstock.webhooks.delivery import deliver

if TYPE_CHECKING:
    import httpx2

log = get_logger(__name__)


class DeliverWebhook(BaseModel):
    """The payload of `deliver-webhook`."""

    model_config = ConfigDict(frozen=True)

    ingestion_id: IngestionId


class Delivering:
    def __init__(self, tenants: TenantPool, secrets: Secrets, client: httpx2.AsyncClient) -> None:
        self._tenants = tenants
        self._secrets = secrets
        self._client = client

    async def __call__(self, payload: DeliverWebhook, run: TaskRun) -> None:
        assert run.tenant_id is not None, "an ingestion's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval("select ingest.delivery_of($1)", payload.ingestion_id)
            if row is None:
                return  # the tenant removed its webhook
            delivery = json.loads(row)
            secret = await self._secrets.get(conn, tenant_id, UUID(delivery["secret_id"]))
        # The message id is the ingestion's, so that receivers can drop repeats.
        result = await deliver(
            self._client, delivery["url"], secret.decode(), str(payload.ingestion_id), delivery["body"]
        )
        if result.outcome == "gone":
            async with self._tenants.transaction(tenant_id) as conn:
                await conn.execute("select accounts.set_tenant($1)", json.dumps({"webhook_url": None}))
        log.info("webhook_delivered", outcome=result.outcome, status=result.status)
