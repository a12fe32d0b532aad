"""What users allowed: grants with their access and refresh tokens, which expire, rotate and are revoked."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from penstock.simulators.providers.oauth.vendors import DAY, Rotation, Vendor
from penstock.simulators.providers.world.clock import SimulatedClock

Refusal: TypeAlias = Literal["missing", "unknown", "expired", "revoked"]


@dataclass(slots=True)
class Grant:
    """One user's consent for one client; `refresh_token` is the one that works now."""

    id: int
    client_id: str
    account: str
    scopes: frozenset[str]
    offline: bool
    refresh_token: str | None = None
    rotated_at: datetime | None = None
    used_at: datetime | None = None
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class AccessToken:
    """An access token and when it expires."""

    grant: Grant
    expires: datetime


@dataclass(slots=True)
class Grants:
    """The grants of one provider; the lifetimes and the rotation can be changed at any time."""

    vendor: Vendor
    clock: SimulatedClock
    rotation: Rotation
    access_seconds: float
    refresh_seconds: float | None
    grants: list[Grant] = field(default_factory=list)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refresh: dict[str, Grant] = field(default_factory=dict)

    def open(self, client_id: str, account: str, scopes: frozenset[str], *, offline: bool) -> Grant:
        grant = Grant(len(self.grants) + 1, client_id, account, scopes, offline)
        self.grants.append(grant)
        if offline:
            self._rotate(grant)
        return grant

    def access_token(self, grant: Grant) -> str:
        """A new access token."""
        now = self.clock.now()
        self.access = {token: each for token, each in self.access.items() if each.expires > now - _KEPT}
        token = f"sim-{self.vendor.provider}-access-{grant.id}-{secrets.token_urlsafe(24)}"
        self.access[token] = AccessToken(grant, now + timedelta(seconds=self.access_seconds))
        return token

    def use_refresh_token(self, token: str, client_id: str) -> Grant | None:
        """The grant, its refresh token rotated if it is time; none if the token does not work (any more)."""
        grant = self.refresh.get(token)
        if grant is None or grant.revoked or grant.client_id != client_id:
            return None
        if grant.refresh_token != token and self.rotation != "each_use_kept":
            return None
        now = self.clock.now()
        assert grant.used_at is not None
        assert grant.rotated_at is not None
        if self.refresh_seconds is not None and now - grant.used_at > timedelta(seconds=self.refresh_seconds):
            return None
        age = now - grant.rotated_at
        if self.rotation in ("each_use", "each_use_kept") or (
            self.rotation == "24h" and age >= timedelta(seconds=DAY)
        ):
            self._rotate(grant)
        grant.used_at = now
        return grant

    def check(self, authorization: str | None) -> AccessToken | Refusal:
        """What a bearer token in a header stands for."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            return "missing"
        found = self.access.get(token.strip())
        if found is None:
            return "unknown"
        if found.grant.revoked:
            return "revoked"
        return "expired" if found.expires <= self.clock.now() else found

    def revoke(self, token: str) -> bool:
        """Revoke the grant of an access or refresh token; whether the token was known."""
        access = self.access.get(token)
        grant = access.grant if access else self.refresh.get(token)
        if grant is not None:
            grant.revoked = True
        return grant is not None

    def revoke_all(self) -> int:
        """Revoke every grant, as users do in the provider's settings; how many there were."""
        open_ones = [grant for grant in self.grants if not grant.revoked]
        for grant in open_ones:
            grant.revoked = True
        return len(open_ones)

    def expire_access_tokens(self) -> int:
        """No access token works until the client has refreshed; how many there were."""
        past = self.clock.now() - timedelta(seconds=1)
        self.access = {token: AccessToken(each.grant, past) for token, each in self.access.items()}
        return len(self.access)

    def _rotate(self, grant: Grant) -> None:
        token = f"sim-{self.vendor.provider}-refresh-{grant.id}-{secrets.token_urlsafe(32)}"
        grant.refresh_token = token
        grant.rotated_at = grant.used_at = self.clock.now()
        self.refresh[token] = grant


_KEPT = timedelta(days=2)
"""An expired token is remembered this long, so that it is refused as expired and not as unknown."""
