"""Creates and finds tenants, projects and keys; every change goes through an SQL function."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, Final

from penstock.accounts.caller import Caller, caller_of_key
from penstock.accounts.installation_keys import INSTALLATION_PREFIX
from penstock.accounts.quotas import Quota, Quotas
from penstock.accounts.rows import (
    SCOPES,
    ApiKey,
    NewKey,
    Project,
    ProjectDeleted,
    Scope,
    Tenant,
    Usage,
)
from penstock.accounts.token_hash import token_hash
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument, KeyRefused, TenantClosed
from penstock.model import KeyId, ProjectId, TenantId, uuid7
from penstock.model.pipeline_options import LARGEST_CHUNK, SMALLEST_CHUNK, STRATEGIES
from penstock.model.rows import items, row_from, row_from_json
from penstock.settings import Settings

KEY_PREFIX = "pk_"
_SLUG: Final = re.compile("[a-z0-9][a-z0-9-]{0,62}")
_TEXT_CONFIGS: Final = """
select array_agg(c.cfgname::text order by c.cfgname) from pg_catalog.pg_ts_config c
where c.cfgnamespace = 'pg_catalog'::regnamespace
"""


class Accounts:
    """`tenants` connects as a role that may do this: operators create tenants, the API does the rest.

    `check_embedder` raises for an embedder that a new project could not use.
    """

    def __init__(
        self,
        tenants: TenantPool,
        settings: Settings,
        check_embedder: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._tenants = tenants
        self._settings = settings
        self._check_embedder = check_embedder

    async def create_tenant(
        self,
        slug: str,
        name: str | None = None,
        *,
        max_upload_bytes: int | None = None,
        requests_per_minute: int | None = None,
        monthly_token_budget: int | None = None,
        max_documents: int | None = None,
        max_stored_bytes: int | None = None,
        max_keys: int | None = None,
    ) -> Tenant:
        """Create a tenant with a project `default`; operators only. Quota 0: none; None: the default."""
        embedder = self._usable(None)
        async with self._tenants.all_tenants() as conn:
            row = await conn.fetchval(
                "select all_tenants.create_tenant($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                uuid7(),
                uuid7(),
                slug,
                name,
                embedder,
                max_upload_bytes,
                requests_per_minute,
                monthly_token_budget,
                max_documents,
                max_stored_bytes,
                max_keys,
            )
        return row_from_json(Tenant, row)

    async def list_tenants(self) -> list[Tenant]:
        async with self._tenants.all_tenants() as conn:
            rows = await conn.fetch("select all_tenants.list_tenants()")
        return [self._with_limits(row_from_json(Tenant, row[0])) for row in rows]

    async def find_tenant(self, slug: str) -> Tenant:
        async with self._tenants.all_tenants() as conn:
            return row_from_json(Tenant, await conn.fetchval("select all_tenants.find_tenant($1)", slug))

    async def show_tenant(self, tenant_id: TenantId) -> Tenant:
        async with self._tenants.transaction(tenant_id) as conn:
            shown = row_from_json(Tenant, await conn.fetchval("select accounts.show_tenant()"))
        return self._with_limits(shown)

    async def holdings(self, tenant_id: TenantId) -> Quotas:
        """The tenant's quotas and how much of each is used."""
        async with self._tenants.transaction(tenant_id) as conn:
            return row_from_json(Quotas, await conn.fetchval("select accounts.show_holdings()"))

    async def set_tenant(self, tenant_id: TenantId, **changes: Any) -> Tenant:
        """Change limits, budget, name, webhook or contact_email; None removes a limit or the contact."""
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval("select accounts.set_tenant($1)", json.dumps(changes, default=str))
        return row_from_json(Tenant, row)

    async def create_key(
        self, tenant_id: TenantId, name: str, scopes: Sequence[Scope], expires_at: datetime | None = None
    ) -> NewKey:
        if unknown := [scope for scope in scopes if scope not in SCOPES] or not scopes:
            raise InvalidArgument(
                f"there is no scope {unknown[0]!r}" if isinstance(unknown, list) else "a key needs a scope",
                "scopes",
                f"Use some of {', '.join(SCOPES)}.",
            )
        if expires_at is not None and expires_at <= datetime.now(UTC):
            raise InvalidArgument("the key would already be expired", "expires_at", "Use a future time.")
        secret = KEY_PREFIX + secrets.token_urlsafe(32)
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval(
                "select accounts.create_key($1, $2, $3, $4, $5, $6)",
                uuid7(),
                name,
                secret[:8],
                token_hash(secret),
                list(scopes),
                expires_at,
            )
        return row_from(NewKey, json.loads(row) | {"secret": secret})

    async def list_keys(
        self, tenant_id: TenantId, chosen: Mapping[str, str | None] | None = None
    ) -> list[ApiKey]:
        """Newest first; `chosen` filters by state and part of a name, as operations do."""
        given = {name: value for name, value in (chosen or {}).items() if value}
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch("select accounts.list_keys($1)", json.dumps(given))
        return [row_from_json(ApiKey, row[0]) for row in rows]

    async def revoke_key(self, tenant_id: TenantId, key_id: KeyId) -> None:
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute("select accounts.revoke_key($1)", key_id)

    async def authenticate(self, secret: str) -> Caller:
        """The owner of this tenant's key; raises KeyRefused with the reason."""
        if secret.startswith(INSTALLATION_PREFIX):
            raise KeyRefused(
                "a key of the installation is for calls of the HTTP API, and this needs a tenant's key",
                "api_key",
                "Create one: penstock tenant key create, or sign in: penstock login",
            )
        async with self._tenants.all_tenants() as conn:
            row = await conn.fetchval("select all_tenants.find_key($1)", token_hash(secret))
        if row is None:
            raise KeyRefused("there is no such key", "api_key")
        found = json.loads(row)
        if found["revoked"]:
            raise KeyRefused("the key was revoked", "api_key")
        if found["expired"]:
            raise KeyRefused("the key has expired", "api_key")
        if found["status"] != "active":
            raise TenantClosed("this key's tenant is deleted", "tenant")
        return caller_of_key(found)

    async def check_project(
        self,
        slug: str,
        *,
        embedder: str | None = None,
        text_config: str = "english",
        chunk_strategy: str = "structure",
        chunk_tokens: int | None = None,
        chunk_overlap: int | None = None,
    ) -> None:
        """Raise InvalidArgument for what no tenant can have as a project, before there is a tenant."""
        check_chunking(chunk_strategy, chunk_tokens, chunk_overlap)
        self._usable(embedder)
        if _SLUG.fullmatch(slug) is None:
            raise InvalidArgument(
                f"{slug[:80]!r} is not a valid slug",
                "slug",
                "Use 1 to 63 lower-case letters, digits and hyphens, starting with a letter or digit.",
            )
        async with self._tenants.all_tenants() as conn:
            known = await conn.fetchval(_TEXT_CONFIGS)
        if text_config not in known:
            raise InvalidArgument(
                f"the server has no text-search configuration {text_config[:80]!r}",
                "text_config",
                f"Use one of {', '.join(known)}.",
            )

    async def create_project(
        self,
        tenant_id: TenantId,
        slug: str,
        name: str | None = None,
        *,
        embedder: str | None = None,
        text_config: str = "english",
        chunk_strategy: str = "structure",
        chunk_tokens: int | None = None,
        chunk_overlap: int | None = None,
    ) -> Project:
        check_chunking(chunk_strategy, chunk_tokens, chunk_overlap)
        usable = self._usable(embedder)
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval(
                "select accounts.create_project($1, $2, $3, $4, $5, $6, $7, $8)",
                uuid7(),
                slug,
                name,
                usable,
                text_config,
                chunk_strategy,
                chunk_tokens,
                chunk_overlap,
            )
        return row_from_json(Project, row)

    async def list_projects(self, tenant_id: TenantId) -> list[Project]:
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch("select accounts.list_projects()")
        return [row_from_json(Project, row[0]) for row in rows]

    async def show_project(self, tenant_id: TenantId, project: str | ProjectId) -> Project:
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval("select accounts.show_project($1)", str(project))
        return row_from_json(Project, row)

    async def set_project(self, tenant_id: TenantId, project: str | ProjectId, **changes: Any) -> Project:
        """Change name, text_config or chunking; to change the embedder, re-index."""
        current = await self.show_project(tenant_id, project)
        check_chunking(
            changes.get("chunk_strategy", current.chunk_strategy),
            changes.get("chunk_tokens", current.chunk_tokens),
            changes.get("chunk_overlap", current.chunk_overlap),
        )
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval(
                "select accounts.set_project($1, $2)", str(project), json.dumps(changes)
            )
        return row_from_json(Project, row)

    async def delete_project(
        self, tenant_id: TenantId, project: str | ProjectId, *, confirm: str
    ) -> ProjectDeleted:
        """Delete a project with all its documents; `confirm` is its slug."""
        found = await self.show_project(tenant_id, project)
        if confirm != found.slug:
            count = sum(found.documents.values())
            documents = "1 document" if count == 1 else f"{count:,} documents"
            raise InvalidArgument(
                f"deleting the project {found.slug!r} deletes its {documents} and cannot be undone",
                "confirm",
                f"Confirm it with the project's slug: {found.slug}",
            )
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval("select accounts.delete_project($1)", str(found.project_id))
        return row_from_json(ProjectDeleted, row)

    def _with_limits(self, tenant: Tenant) -> Tenant:
        """The tenant with default limits filled in."""
        if tenant.holdings is None:
            return tenant
        limits = {}
        for name, holding in items(tenant.holdings):
            own = getattr(tenant, f"max_{name}")
            limit = self._settings.quotas[f"max_{name}"] if own is None else own
            limits[name] = Quota(used=holding.used, limit=limit or None)
        return replace(tenant, holdings=Quotas(**limits))

    async def usage(self, tenant_id: TenantId, month: date | None = None) -> list[Usage]:
        """Tokens embedded in a month, by model; the current month by default."""
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch("select accounts.usage_of_month($1)", month)
        return [row_from_json(Usage, row[0]) for row in rows]

    def _usable(self, embedder: str | None) -> str:
        """The embedder of a new project; the setting is named if it is the one that cannot be used."""
        if embedder is not None:
            self._check_embedder(embedder)
            return embedder
        try:
            self._check_embedder(self._settings.embedder)
        except InvalidArgument as error:
            raise InvalidArgument(
                f"PENSTOCK_EMBEDDER: {error.message}", error.field, error.remedy or ""
            ) from None
        return self._settings.embedder


def check_chunking(strategy: str, tokens: int | None, overlap: int | None) -> None:
    """Reject an impossible chunking, naming the field."""
    if strategy not in STRATEGIES:
        raise InvalidArgument(
            f"there is no strategy {strategy!r}", "chunk_strategy", f"Use one of {', '.join(STRATEGIES)}."
        )
    if tokens is not None and not SMALLEST_CHUNK <= tokens <= LARGEST_CHUNK:
        raise InvalidArgument(
            f"chunks of {tokens} tokens are out of range",
            "chunk_tokens",
            f"Use {SMALLEST_CHUNK} to {LARGEST_CHUNK}, or leave it out.",
        )
    if overlap is not None and not 0 <= overlap <= (tokens or LARGEST_CHUNK) // 2:
        raise InvalidArgument(
            f"an overlap of {overlap} tokens is out of range", "chunk_overlap", "Use 0 to half a chunk."
        )
