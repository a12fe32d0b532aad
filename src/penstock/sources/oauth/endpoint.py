"""Calls a provider's OAuth endpoints: exchange a code, refresh, revoke, and ask who the account is."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from penstock.net.errors import AddressRefused, ResponseRefused
from penstock.net.outbound import open_client
from penstock.sources.errors import ClientRejected, GrantRejected, ProviderUnavailable
from penstock.sources.oauth.answers import Granted, clean_code, failure, granted, json_object

if TYPE_CHECKING:
    import httpx2

    from penstock.sources.oauth.app import OAuthApp

CALL_SECONDS: Final = 20.0
MAX_ANSWER_BYTES: Final = 1_048_576
LONGEST_ACCOUNT: Final = 200


@dataclass(frozen=True, slots=True)
class Account:
    """The account at the provider: its id, and the name by which people recognise it."""

    account: str
    label: str


class OAuthEndpoints:
    """One client for all providers; a call takes at most `seconds`."""

    def __init__(self, *, allow_private: bool, seconds: float = CALL_SECONDS) -> None:
        self.seconds = seconds
        self._http = open_client(
            allow_private=allow_private, max_answer_bytes=MAX_ANSWER_BYTES, total_seconds=seconds
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def exchange(self, app: OAuthApp, code: str, verifier: str, redirect_uri: str) -> Granted:
        """The tokens for an authorisation code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
        }
        return granted(app, *await self._post(app, app.token_url, form, "TOKEN_URL"))

    async def refresh(self, app: OAuthApp, refresh_token: str) -> Granted:
        """New tokens; GrantRejected if the refresh token is dead, or somebody else has already used it."""
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return granted(app, *await self._post(app, app.token_url, form, "TOKEN_URL"))

    async def revoke(self, app: OAuthApp, token: str) -> bool:
        """End the grant at the provider; False if it has no such endpoint. An unknown token is revoked."""
        if app.revoke_url is None:
            return False
        form = {"token": token, "token_type_hint": "refresh_token"}
        if app.revokes_by_json:
            form.pop("token_type_hint")
        response, body = await self._post(
            app, app.revoke_url, form, "REVOKE_URL", as_json=app.revokes_by_json
        )
        if 200 <= response.status_code < 300 or response.status_code == 404:
            return True
        failed = failure(app, response, body, "REVOKE_URL")
        if isinstance(failed, GrantRejected):  # it was revoked at the provider, or has expired
            return True
        raise failed

    async def identify(self, app: OAuthApp, access_token: str, parameters: Mapping[str, str]) -> Account:
        """Which account the tokens are for; `parameters` are the callback's."""
        if app.account_parameter is not None:
            account = clean_code(parameters.get(app.account_parameter))
            if not account:
                raise GrantRejected(app.title, f"no_{app.account_parameter}")
            return Account(account, account)
        assert app.identity_url is not None, "an app has an account parameter or an identity endpoint"
        if app.introspects:
            response, body = await self._post(app, app.identity_url, {"token": access_token}, "IDENTITY_URL")
        else:
            headers = {"authorization": f"Bearer {access_token}"}
            response, body = await self._send(app, "GET", app.identity_url, "IDENTITY_URL", headers=headers)
        if not 200 <= response.status_code < 300:
            raise failure(app, response, body, "IDENTITY_URL")
        answer = json_object(body)
        found = answer.get(app.account_field)
        if isinstance(found, bool) or not isinstance(found, int | str) or not str(found).strip():
            raise ProviderUnavailable(app.title, "it did not say which account was connected")
        account = str(found).replace("\0", "")[:LONGEST_ACCOUNT]
        label = answer.get(app.label_field or "")
        shown = " ".join(label.replace("\0", "").split()) if isinstance(label, str) else ""
        return Account(account, shown[:LONGEST_ACCOUNT] or account)

    async def _post(
        self, app: OAuthApp, url: str, form: Mapping[str, str], address: str, *, as_json: bool = False
    ) -> tuple[httpx2.Response, bytes]:
        headers = {"accept": "application/json"}
        if app.basic_auth:
            login = f"{quote(app.client_id, safe='')}:{quote(app.client_secret, safe='')}"
            headers["authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
        else:
            form = {**form, "client_id": app.client_id, "client_secret": app.client_secret}
        if as_json:
            return await self._send(app, "POST", url, address, headers=headers, json=dict(form))
        return await self._send(app, "POST", url, address, headers=headers, data=dict(form))

    async def _send(
        self,
        app: OAuthApp,
        method: str,
        url: str,
        address: str,
        *,
        headers: Mapping[str, str],
        data: dict[str, str] | None = None,
        json: dict[str, str] | None = None,
    ) -> tuple[httpx2.Response, bytes]:
        # Errors of the client hold the request, and that holds the tokens: none is passed on as a cause.
        import httpx2

        try:
            response = await self._http.request(method, url, headers=dict(headers), data=data, json=json)
        except httpx2.HTTPError as error:
            raise ProviderUnavailable(app.title, type(error).__name__) from None
        except ResponseRefused as refused:
            raise ProviderUnavailable(app.title, refused.reason) from None
        except AddressRefused as refused:
            variables = f"PENSTOCK_{app.provider.upper()}_{address} and PENSTOCK_ALLOW_PRIVATE_ADDRESSES"
            raise ClientRejected(app.title, f"{refused.host}: {refused.reason}", variables) from None
        return response, response.content
