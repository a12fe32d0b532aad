"""Who makes a request: the holder of a key, or somebody signed in to a tenant or to the installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias
from uuid import UUID

from penstock.accounts.rows import SCOPES, Scope
from penstock.errors import InvalidArgument
from penstock.model import KeyId, TenantId
from penstock.model.rows import row_from

TENANT_HEADER: Final = "X-Penstock-Tenant"

Role: TypeAlias = Literal["viewer", "operator", "admin"]
"""What somebody signed in may do; each includes the one before it."""

_VIEWER: Final[tuple[Scope, ...]] = ("documents:read", "search")
_OPERATOR: Final[tuple[Scope, ...]] = (*_VIEWER, "documents:write", "projects:write", "operate")
SCOPES_OF: Final[Mapping[Role, tuple[Scope, ...]]] = {
    "viewer": _VIEWER,
    "operator": _OPERATOR,
    "admin": SCOPES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerTenant:
    """The tenant a request is about, with its limits."""

    tenant_id: TenantId
    slug: str
    name: str
    requests_per_minute: int | None
    max_upload_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Somebody with a key or a session; `tenant` is None for the whole installation."""

    name: str
    role: Role
    scopes: list[Scope]
    tenant: CallerTenant | None
    is_installation: bool = False
    """Whether it may name any tenant, or none."""
    key_id: KeyId | None = None
    session_id: UUID | None = None
    expires_at: datetime | None = None

    @property
    def tenant_id(self) -> TenantId:
        return self._tenant().tenant_id

    @property
    def tenant_slug(self) -> str:
        return self._tenant().slug

    @property
    def requests_per_minute(self) -> int | None:
        return None if self.tenant is None else self.tenant.requests_per_minute

    @property
    def max_upload_bytes(self) -> int | None:
        return None if self.tenant is None else self.tenant.max_upload_bytes

    @property
    def credential_id(self) -> UUID:
        """The id of the key or session; the same for everybody where no sign-in is needed."""
        return self.key_id or self.session_id or UUID(int=0)

    @property
    def via(self) -> Literal["key", "session"]:
        return "session" if self.key_id is None else "key"

    @property
    def signature(self) -> str:
        """How what it did is signed: the key's id, or the name of somebody signed in."""
        return f"session:{self.name}" if self.key_id is None else f"key:{self.key_id}"

    @property
    def decider(self) -> str:
        """The same for what somebody decided, as people read it."""
        return self.name if self.key_id is None else f"key {self.key_id}"

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    def _tenant(self) -> CallerTenant:
        if self.tenant is None:
            raise InvalidArgument(
                "you are signed in to the installation, and this call is about one tenant",
                TENANT_HEADER,
                f"Send the tenant's slug in the header {TENANT_HEADER}",
            )
        return self.tenant


def role_of(scopes: list[Scope]) -> Role:
    """The role that says most of what these scopes allow."""
    if "admin" in scopes:
        return "admin"
    return "viewer" if set(scopes) <= set(_VIEWER) else "operator"


def caller_of_key(found: Mapping[str, Any]) -> Caller:
    """The caller for a row of all_tenants.find_key()."""
    tenant = {**found, "slug": found["tenant_slug"], "name": found["tenant_name"]}
    return Caller(
        name=found["name"],
        role=role_of(found["scopes"]),
        scopes=found["scopes"],
        tenant=row_from(CallerTenant, tenant),
        key_id=KeyId(UUID(found["key_id"])),
    )


def caller_of_installation_key(found: Mapping[str, Any]) -> Caller:
    """The caller for a row of all_tenants.find_operator_key()."""
    role: Role = found["role"]
    tenant = found["tenant"]
    return Caller(
        name=found["name"],
        role=role,
        scopes=list(SCOPES_OF[role]),
        tenant=None if tenant is None else row_from(CallerTenant, tenant),
        is_installation=True,
        key_id=KeyId(UUID(found["key_id"])),
    )


def caller_of_session(found: Mapping[str, Any]) -> Caller:
    """The caller for a row of all_tenants.find_session()."""
    role: Role = found["role"]
    tenant = found["tenant"]
    return Caller(
        name=found["name"],
        role=role,
        scopes=list(found.get("scopes") or SCOPES_OF[role]),
        tenant=None if tenant is None else row_from(CallerTenant, tenant),
        is_installation=found["is_installation"],
        session_id=UUID(found["session_id"]),
        expires_at=datetime.fromisoformat(found["expires_at"]),
    )
