"""One provider's authorisation server: authorise, exchange, refresh, revoke, and who the user is."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.oauth import consent, microsoft
from penstock.simulators.providers.oauth.grants import Grant, Grants
from penstock.simulators.providers.oauth.proofs import basic, challenge
from penstock.simulators.providers.oauth.vendors import HUB_ID, USER_ID, Vendor
from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.mail import OWNER


class OAuthServer:
    """`auto_consent` skips the consent page; `redirect_uris` empty means any on this machine."""

    def __init__(self, vendor: Vendor, clock: SimulatedClock) -> None:
        self.vendor = vendor
        self.clock = clock
        self.client_id = f"sim-{vendor.provider}-client"
        self.client_secret = f"sim-{vendor.provider}-secret"
        self.redirect_uris: frozenset[str] = frozenset()
        self.auto_consent = False
        self.withheld_scopes: frozenset[str] = frozenset()
        """Scopes the user does not grant, though the client asked for them."""
        lifetimes = (vendor.access_seconds, vendor.refresh_seconds)
        self.grants = Grants(vendor, clock, vendor.rotation, *lifetimes)
        self._asked: dict[str, consent.Asked] = {}
        self._codes: dict[str, consent.Code] = {}

    def issue(self, scopes: frozenset[str] | None = None, account: str = OWNER) -> tuple[str, str]:
        """An access and a refresh token without a browser, by default for all scopes."""
        chosen = (scopes or self.vendor.scopes) - self.withheld_scopes
        grant = self.grants.open(self.client_id, account, chosen, offline=True)
        assert grant.refresh_token is not None, "an offline grant has one"
        return self.grants.access_token(grant), grant.refresh_token

    def authorize(self, query: Mapping[str, str]) -> Response:
        asked = consent.read(self.vendor, query, self.client_id, self.redirect_uris)
        if isinstance(asked, Response):
            return asked
        if self.auto_consent:
            return self._allow(asked)
        request_id = secrets.token_urlsafe(16)
        self._asked[request_id] = asked
        return consent.ask(self.vendor, asked, request_id, asked.account or OWNER)

    def decide(self, form: Mapping[str, str]) -> Response:
        """The user has pressed a button on the consent page."""
        asked = self._asked.pop(form.get("request", ""), None)
        if asked is None:
            return Response("This request was already answered. Start again from the client.", 400)
        return self._allow(asked) if form.get("decision") == "allow" else consent.denied(asked)

    def token(self, form: Mapping[str, str], authorization: str | None) -> Response:
        if not self.is_client(form, authorization):
            return self.refusal(
                401, "invalid_client", "The OAuth client was not found or its secret is wrong."
            )
        match form.get("grant_type"):
            case "authorization_code":
                return self._exchange(form)
            case "refresh_token":
                grant = self.grants.use_refresh_token(form.get("refresh_token", ""), self.client_id)
                if grant is None:
                    return self._dead(form.get("refresh_token", ""))
                return self._tokens(grant, refreshed=True)
            case other:
                return self.refusal(400, "unsupported_grant_type", f"Invalid grant_type: {other}")

    def revoke(self, token: str, form: Mapping[str, str], authorization: str | None) -> Response:
        if self.vendor.family != "google" and not self.is_client(form, authorization):
            return self.refusal(
                401, "invalid_client", "The OAuth client was not found or its secret is wrong."
            )
        if not self.grants.revoke(token):
            return self.refusal(400, "invalid_token", "Token expired or revoked")
        return JSONResponse({}) if self.vendor.family == "google" else Response(status_code=200)

    def forget(self, token: str) -> Response:
        """HubSpot's older revocation, which needs no client."""
        return Response(status_code=204 if self.grants.revoke(token) else 404)

    def refusal(self, status: int, error: str, why: str) -> Response:
        """An error of the token endpoint in the vendor's words."""
        body: dict[str, Any] = {"error": error, "error_description": why}
        if self.vendor.family == "microsoft":
            body = microsoft.refusal(error, why, self.clock.now())
        if self.vendor.family == "hubspot":
            words = {"invalid_grant": "BAD_REFRESH_TOKEN", "invalid_client": "BAD_CLIENT_ID"}
            correlation = secrets.token_hex(16)
            body |= {"status": words.get(error, "error"), "message": why, "correlationId": correlation}
        return JSONResponse(body, status, headers={"cache-control": "no-store"})

    def _allow(self, asked: consent.Asked) -> Response:
        code = consent.new_code(self.vendor)
        self._codes[code] = consent.Code(asked, self.clock.now())
        return consent.allowed(self.vendor, asked, code)

    def _exchange(self, form: Mapping[str, str]) -> Response:
        code = self._codes.pop(form.get("code", ""), None)
        if code is None or self.clock.now() - code.made > timedelta(minutes=10):
            return self.refusal(400, "invalid_grant", "The authorization code is invalid or has expired.")
        if form.get("redirect_uri") != code.asked.redirect_uri:
            return self.refusal(400, "invalid_grant", "The redirect_uri differs from the one of the request.")
        if (
            code.asked.challenge is not None
            and challenge(form.get("code_verifier", "")) != code.asked.challenge
        ):
            return self.refusal(400, "invalid_grant", "Invalid code verifier.")
        account = code.asked.account or OWNER
        scopes = code.asked.scopes - self.withheld_scopes
        grant = self.grants.open(code.asked.client_id, account, scopes, offline=code.asked.offline)
        return self._tokens(grant, refreshed=False)

    def _tokens(self, grant: Grant, *, refreshed: bool) -> Response:
        body: dict[str, Any] = {
            "token_type": "Bearer" if self.vendor.family in ("google", "microsoft") else "bearer",
            "access_token": self.grants.access_token(grant),
            "expires_in": int(self.grants.access_seconds),
        }
        # Google sends no refresh token with a refresh, unless it is told to rotate them.
        if grant.offline and not (
            refreshed and self.vendor.family == "google" and self.grants.rotation == "never"
        ):
            body["refresh_token"] = grant.refresh_token
        match self.vendor.family:
            case "google":
                body["scope"] = " ".join(sorted(grant.scopes))
            case "microsoft":
                body |= {
                    "scope": " ".join(sorted(grant.scopes - {"offline_access"})),
                    "ext_expires_in": body["expires_in"],
                }
            case "intuit":
                body["x_refresh_token_expires_in"] = int(self.grants.refresh_seconds or 0)
            case "hubspot":
                body |= {"hub_id": HUB_ID, "user_id": USER_ID, "scopes": sorted(grant.scopes)}
        return JSONResponse(body, headers={"cache-control": "no-store", "pragma": "no-cache"})

    def _dead(self, token: str) -> Response:
        """A refresh token that does not work (any more)."""
        if self.vendor.family == "microsoft":
            return self.refusal(400, "invalid_grant", microsoft.why_dead(self.grants, token))
        return self.refusal(400, "invalid_grant", "Token has been expired or revoked.")

    def is_client(self, form: Mapping[str, str], authorization: str | None) -> bool:
        """Intuit wants Basic, HubSpot the form; Google and Microsoft take both."""
        in_form = (form.get("client_id"), form.get("client_secret"))
        by_basic = basic(authorization)
        match self.vendor.family:
            case "intuit":
                given = by_basic
            case "hubspot":
                given = in_form
            case "google" | "microsoft":
                given = by_basic if by_basic != (None, None) else in_form
        return given == (self.client_id, self.client_secret)
