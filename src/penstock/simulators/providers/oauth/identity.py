"""Whose account a token stands for: HubSpot's introspection, and OpenID Connect's userinfo."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.oauth.grants import AccessToken, Grant
from penstock.simulators.providers.oauth.vendors import APP_ID, HUB_ID, USER_ID
from penstock.simulators.providers.world.mail import OWNER_NAME

if TYPE_CHECKING:
    from penstock.simulators.providers.oauth.server import OAuthServer


def introspect(oauth: OAuthServer, form: Mapping[str, str]) -> Response:
    """HubSpot's description of a token."""
    if not oauth.is_client(form, None):
        return oauth.refusal(401, "invalid_client", "The OAuth client was not found or its secret is wrong.")
    token = form.get("token", "")
    found = oauth.grants.check(f"Bearer {token}")
    if isinstance(found, AccessToken):
        left = int((found.expires - oauth.clock.now()).total_seconds())
        more = {"token_use": "access_token", "expires_in": left}
        return JSONResponse({"active": True, **more, **_account(found.grant)})
    grant = oauth.grants.refresh.get(token)
    if grant is None or grant.revoked or grant.refresh_token != token:
        return JSONResponse({"active": False})
    return JSONResponse({"active": True, "token_use": "refresh_token", **_account(grant)})


def token_info(oauth: OAuthServer, token: str) -> Response:
    """HubSpot's older description of an access token."""
    found = oauth.grants.check(f"Bearer {token}")
    if not isinstance(found, AccessToken):
        return JSONResponse({"status": "error", "message": "access token not found"}, 404)
    left = int((found.expires - oauth.clock.now()).total_seconds())
    more = {"token": token, "expires_in": left, "token_type": "access"}
    return JSONResponse(_account(found.grant) | more)


def userinfo(grant: Grant) -> dict[str, Any]:
    """The user by OpenID Connect."""
    subject = hashlib.sha256(grant.account.encode()).hexdigest()[:21]
    return {
        "sub": str(int(subject, 16))[:21],
        "name": OWNER_NAME,
        "given_name": OWNER_NAME.split()[0],
        "family_name": OWNER_NAME.split()[1],
        "email": grant.account,
        "email_verified": True,
    }


def _account(grant: Grant) -> dict[str, Any]:
    return {
        "client_id": grant.client_id,
        "hub_id": HUB_ID,
        "hub_domain": "millbrook.example",
        "app_id": APP_ID,
        "user": grant.account,
        "user_id": USER_ID,
        "scopes": sorted(grant.scopes),
    }
