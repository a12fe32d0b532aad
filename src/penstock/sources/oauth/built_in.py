"""The OAuth apps of the providers that Penstock knows, from the settings."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from penstock.source_settings import GOOGLE, SourceSettings, provider_settings
from penstock.sources.errors import ClientMissing
from penstock.sources.oauth.app import OAuthApp

# Without both parameters Google grants no refresh token, or only the first time.
_GOOGLE: Final[dict[str, Any]] = {"extra": {"access_type": "offline", "prompt": "consent"}}
_PECULIARITIES: Final[dict[str, dict[str, Any]]] = {
    "hubspot": {
        "title": "HubSpot",
        "introspects": True,
        "account_field": "hub_id",
        "label_field": "hub_domain",
    },
    "google_drive": {"title": "Google Drive", **_GOOGLE},
    "gmail": {"title": "Gmail", **_GOOGLE},
    "quickbooks": {
        "title": "QuickBooks",
        "basic_auth": True,
        "revokes_by_json": True,
        "account_parameter": "realmId",
    },
    # Microsoft has no endpoint that revokes a token: the user removes the app at myapps.microsoft.com.
    "outlook": {
        "title": "Outlook",
        "account_field": "id",
        "label_field": "userPrincipalName",
        "extra": {"prompt": "select_account"},
    },
}


def oauth_app(settings: SourceSettings, provider: str) -> OAuthApp:
    """The app of a built-in provider; ClientMissing names the variable that is not set."""
    found = provider_settings(settings, provider)
    for name, value in (("client_id", found.client_id), ("client_secret", found.client_secret)):
        if not value:
            raise ClientMissing(_PECULIARITIES[provider]["title"], f"PENSTOCK_{provider}_{name}".upper())
    assert found.client_id is not None
    assert found.client_secret is not None
    return OAuthApp(
        provider=provider,
        authorize_url=found.authorize_url,
        token_url=found.token_url,
        revoke_url=found.revoke_url,
        identity_url=found.identity_url,
        client_id=found.client_id,
        client_secret=found.client_secret,
        scopes=found.scopes,
        issuer=_origin(found.authorize_url) if provider in GOOGLE else None,
        **_PECULIARITIES[provider],
    )


def _origin(url: str) -> str:
    """Google's issuer is the address of its consent page without the path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
