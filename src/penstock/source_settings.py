"""Settings of the providers of connected sources: our OAuth client there, its endpoints, the scopes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Final
from urllib.parse import urlsplit

from penstock.environment import Field, FromEnvironment, field_validator
from penstock.errors import InvalidArgument

Secret = Annotated[str | None, Field(default=None, repr=False)]
Most = Annotated[int, Field(ge=1, le=10_000_000)]
Skew = Annotated[float, Field(ge=0, le=3_600, allow_inf_nan=False)]

Watches = Annotated[int, Field(ge=0, le=10_000)]
Days = Annotated[int, Field(ge=1, le=3_650)]

PROVIDERS: Final = ("hubspot", "google_drive", "quickbooks", "gmail", "outlook")
GOOGLE: Final = ("google_drive", "gmail")
_TENANT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,99}")


class SourceSettings(FromEnvironment):
    """The part of the settings that is about connected sources."""

    public_url: str | None = None
    """The API's address as browsers reach it; unset: http://localhost and the API's port."""
    token_refresh_skew_seconds: Skew = 60.0
    """An access token that expires within this time is refreshed before a sync begins."""
    integrations_use_fixtures: bool = False
    """Read recorded responses instead of the providers; no token is needed."""

    hubspot_client_id: str | None = None
    hubspot_client_secret: Secret
    hubspot_scopes: str = "oauth crm.objects.contacts.read crm.objects.companies.read crm.objects.deals.read"
    hubspot_authorize_url: str = "https://app.hubspot.com/oauth/authorize"
    hubspot_token_url: str = "https://api.hubapi.com/oauth/2026-03/token"  # noqa: S105  # an address
    hubspot_revoke_url: str = "https://api.hubapi.com/oauth/2026-03/token/revoke"
    hubspot_identity_url: str = "https://api.hubapi.com/oauth/2026-03/token/introspect"
    hubspot_api_url: str = "https://api.hubapi.com"
    hubspot_api_version: str = "2026-03"
    """v3 for /crm/v3/objects/…, a date for /crm/objects/DATE/…"""
    hubspot_mcp_url: str = "https://mcp.hubspot.com"
    hubspot_bindings: str = "hubspot-mcp@2026-04 hubspot-rest@v3"
    """How its methods are called: the first binding that has a method is used."""

    google_client_id: str | None = None
    """Used by Drive and Gmail, unless they have a client of their own."""
    google_client_secret: Secret

    google_drive_client_id: str | None = None
    google_drive_client_secret: Secret
    google_drive_scopes: str = "openid email https://www.googleapis.com/auth/drive.readonly"
    google_drive_authorize_url: str = "https://accounts.google.com/o/oauth2/v2/auth"
    google_drive_token_url: str = "https://oauth2.googleapis.com/token"  # noqa: S105  # an address
    google_drive_revoke_url: str = "https://oauth2.googleapis.com/revoke"
    google_drive_identity_url: str = "https://openidconnect.googleapis.com/v1/userinfo"
    google_drive_api_url: str = "https://www.googleapis.com"
    google_drive_api_version: str = "v3"
    google_drive_mcp_url: str = "https://drivemcp.googleapis.com/mcp/v1"
    google_drive_bindings: str = "drive-mcp@v1 drive-rest@v3"
    drive_initial_sync_max_files: Most = 200
    """A full sync reads this many files, the most recently changed first."""

    quickbooks_client_id: str | None = None
    quickbooks_client_secret: Secret
    quickbooks_scopes: str = "com.intuit.quickbooks.accounting"
    quickbooks_authorize_url: str = "https://appcenter.intuit.com/connect/oauth2"
    quickbooks_token_url: str = "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer"  # noqa: S105  # an address
    quickbooks_revoke_url: str = "https://developer.api.intuit.com/v2/oauth2/tokens/revoke"
    quickbooks_api_url: str = "https://quickbooks.api.intuit.com"
    quickbooks_api_version: str = "75"
    """The minor version of the accounting API."""
    quickbooks_mcp_url: str = "https://ai-inc.quickbooks.intuit.com/v1/mcp"
    quickbooks_bindings: str = "quickbooks-mcp@1 quickbooks-rest@v3"

    gmail_client_id: str | None = None
    gmail_client_secret: Secret
    gmail_scopes: str = "openid email https://www.googleapis.com/auth/gmail.readonly"
    gmail_authorize_url: str = "https://accounts.google.com/o/oauth2/v2/auth"
    gmail_token_url: str = "https://oauth2.googleapis.com/token"  # noqa: S105  # an address
    gmail_revoke_url: str = "https://oauth2.googleapis.com/revoke"
    gmail_identity_url: str = "https://openidconnect.googleapis.com/v1/userinfo"
    gmail_api_url: str = "https://gmail.googleapis.com"
    gmail_api_version: str = "v1"
    gmail_mcp_url: str = "https://gmailmcp.googleapis.com/mcp/v1"
    gmail_bindings: str = "gmail-mcp@v1 gmail-rest@v1"
    gmail_initial_sync_max_threads: Most = 500
    """A full sync reads this many threads, the most recent first."""
    gmail_push_topic: str | None = None
    """The Pub/Sub topic that Gmail publishes to: projects/PROJECT/topics/TOPIC; unset: no notifications."""
    gmail_push_service_account: str | None = None
    """The service account whose token Pub/Sub sends with each notification; required for notifications."""
    gmail_push_audience: str | None = None
    """The audience of that token; unset: the public URL with /webhooks/gmail."""
    gmail_certs_url: str = "https://www.googleapis.com/oauth2/v3/certs"
    """Where the keys are that Google signs these tokens with."""

    mail_sweep_seconds: Annotated[int, Field(ge=60, le=86_400)] = 600
    """A new mailbox is synced this often, whether its provider notifies us or not."""

    @field_validator("gmail_push_topic")
    @classmethod
    def _is_topic(cls, topic: str | None) -> str | None:
        if topic is not None:
            match topic.split("/"):
                case ["projects", str(project), "topics", str(name)] if project and name:
                    pass
                case _:
                    raise ValueError("it must be projects/PROJECT/topics/TOPIC")
        return topic

    outlook_client_id: str | None = None
    outlook_client_secret: Secret
    outlook_tenant: str = "common"
    """Whose accounts may connect: common, organizations, consumers, or the id of one Entra tenant."""
    outlook_scopes: str = "offline_access User.Read Mail.Read"
    outlook_authorize_url: str = "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize"
    outlook_token_url: str = "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token"  # noqa: S105  # an address
    outlook_identity_url: str = "https://graph.microsoft.com/v1.0/me"
    outlook_api_url: str = "https://graph.microsoft.com"
    outlook_api_version: str = "v1.0"

    mail_look_back_days: Days = 30
    """The first sync of a mailbox reads mails received within this time."""
    mail_initial_sync_max_messages: Most = 500
    """The first sync of a mailbox reads this many mails, the most recent first."""
    imap_watches: Watches = 100
    """How many IMAP servers a worker waits on for new mails; 0: none, mails are found by the schedule."""

    @field_validator("outlook_tenant")
    @classmethod
    def _is_tenant(cls, tenant: str) -> str:
        if _TENANT.fullmatch(tenant) is None:
            raise ValueError("it must be common, organizations, consumers, or the id or domain of a tenant")
        return tenant

    @field_validator(
        "public_url",
        "gmail_certs_url",
        *(
            f"{provider}_{address}_url"
            for provider in PROVIDERS
            for address in ("authorize", "token", "revoke", "identity", "api", "mcp")
        ),
    )
    @classmethod
    def _is_address(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("it must be an http or https address")
        if parts.username is not None or parts.fragment or parts.query:
            raise ValueError("it must have no user name, no query and no fragment")
        return url.rstrip("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """What one provider's settings say; the client is None until somebody has registered one."""

    provider: str
    client_id: str | None
    client_secret: str | None = field(repr=False)
    authorize_url: str
    token_url: str
    revoke_url: str | None
    identity_url: str | None
    scopes: tuple[str, ...]
    api_url: str
    api_version: str
    mcp_url: str | None


def provider_settings(settings: SourceSettings, provider: str) -> ProviderSettings:
    """The settings PENSTOCK_<PROVIDER>_…; Drive and Gmail use Google's client unless they have their own.

    `{tenant}` in an address of Microsoft's stands for the setting of that name.
    """
    if provider not in PROVIDERS:
        raise InvalidArgument(
            f"there is no provider {provider!r}", "provider", f"Choose one of {', '.join(PROVIDERS)}"
        )

    def setting(name: str) -> str | None:
        value: str | None = getattr(settings, f"{provider}_{name}", None)
        if value is None and provider in GOOGLE and name.startswith("client_"):
            value = getattr(settings, f"google_{name}")
        if value is not None and name.endswith("_url"):
            value = value.replace("{tenant}", getattr(settings, f"{provider}_tenant", "{tenant}"))
        return value

    def required(name: str) -> str:
        value = setting(name)
        assert value is not None, f"{provider}_{name} has a default"
        return value

    return ProviderSettings(
        provider=provider,
        client_id=setting("client_id"),
        client_secret=setting("client_secret"),
        authorize_url=required("authorize_url"),
        token_url=required("token_url"),
        revoke_url=setting("revoke_url"),
        identity_url=setting("identity_url"),
        scopes=tuple(part for part in re.split(r"[\s,]+", required("scopes")) if part),
        api_url=required("api_url"),
        api_version=required("api_version"),
        mcp_url=setting("mcp_url"),
    )
