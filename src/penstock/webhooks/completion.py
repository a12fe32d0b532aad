"""A tenant's completion webhook: its address, and the secret that signs its deliveries."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument
from penstock.model import TenantId
from penstock.net.errors import AddressRefused, WebhookSecretInvalid
from penstock.net.outbound import check_url
from penstock.vault.secrets import Secrets
from penstock.webhooks.signature import generate_secret, sign

SECRET_NAME = "completion webhook"  # noqa: S105 - a name, not a secret


@dataclass(frozen=True, slots=True)
class CompletionWebhook:
    """The secret is shown once, when it is set."""

    url: str | None
    secret: str | None = field(repr=False)


class CompletionWebhooks:
    """The secret goes into the vault; the address and the secret's id change in one transaction."""

    def __init__(self, tenants: TenantPool, secrets: Secrets, *, allow_private: bool) -> None:
        self._tenants = tenants
        self._secrets = secrets
        self._allow_private = allow_private

    async def put(self, tenant_id: TenantId, url: str | None, secret: str | None = None) -> CompletionWebhook:
        """Set the address with a secret, a new one by default; no address switches notifications off."""
        if url is not None:
            secret = self._checked(url, secret)
        async with self._tenants.transaction(tenant_id) as conn:
            before = json.loads(await conn.fetchval("select accounts.show_tenant()"))["webhook_secret_id"]
            secret_id = None
            if url is not None:
                assert secret is not None
                secret_id = await self._secrets.put(
                    conn, tenant_id, SECRET_NAME, secret.encode(), purpose="completion_webhook"
                )
            changes = {"webhook_url": url, "webhook_secret_id": secret_id and str(secret_id)}
            await conn.execute("select accounts.set_tenant($1)", json.dumps(changes))
            if before is not None:
                await self._secrets.drop(conn, UUID(before))
        return CompletionWebhook(url, secret if url is not None else None)

    def _checked(self, url: str, secret: str | None) -> str:
        try:
            check_url(url, allow_private=self._allow_private)
        except AddressRefused as refused:
            raise InvalidArgument(refused.message, "url", refused.remedy) from refused
        if secret is None:
            return generate_secret()
        try:
            sign(secret, "check", datetime.now(UTC), b"")
        except WebhookSecretInvalid as invalid:
            raise InvalidArgument(invalid.message, "secret", invalid.remedy) from invalid
        return secret
