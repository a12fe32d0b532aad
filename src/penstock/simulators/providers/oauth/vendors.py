"""How the authorisation servers of HubSpot, Google, Intuit and Microsoft differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Rotation: TypeAlias = Literal["never", "each_use", "each_use_kept", "24h"]
"""`each_use_kept`: a new refresh token with every use, and the earlier ones work on."""
Family: TypeAlias = Literal["hubspot", "google", "intuit", "microsoft"]

DAY: Final = 86_400
HUB_ID: Final = 44_820_017
USER_ID: Final = 7_310_442
APP_ID: Final = 3_190_881
REALM_ID: Final = "9341453908059321"


@dataclass(frozen=True, slots=True)
class Vendor:
    """One provider's authorisation server; paths come after the provider's prefix."""

    provider: str
    family: Family
    title: str
    authorize_path: str
    token_path: str
    revoke_path: str | None
    access_seconds: int
    refresh_seconds: int | None
    """How long a refresh token lives without being used; none: until it is revoked."""
    rotation: Rotation
    scopes: frozenset[str]
    needs_pkce: bool

    @property
    def scope_prefix(self) -> str:
        """What may stand before a scope without meaning anything."""
        return "https://graph.microsoft.com/" if self.family == "microsoft" else "\0"


HUBSPOT: Final = Vendor(
    provider="hubspot",
    family="hubspot",
    title="HubSpot",
    authorize_path="/oauth/authorize",
    token_path="/oauth/2026-03/token",  # noqa: S106  # a path
    revoke_path="/oauth/2026-03/token/revoke",
    access_seconds=1_800,
    refresh_seconds=None,
    rotation="never",
    scopes=frozenset(
        {
            "oauth",
            "crm.objects.contacts.read",
            "crm.objects.companies.read",
            "crm.objects.deals.read",
            "crm.schemas.contacts.read",
            "crm.schemas.companies.read",
            "crm.schemas.deals.read",
            "crm.objects.owners.read",
        }
    ),
    needs_pkce=True,
)

_GOOGLE: Final = "https://www.googleapis.com/auth/"
_IDENTITY: Final = {"openid", "email", "profile", f"{_GOOGLE}userinfo.email", f"{_GOOGLE}userinfo.profile"}

GOOGLE_DRIVE: Final = Vendor(
    provider="google_drive",
    family="google",
    title="Google",
    authorize_path="/o/oauth2/v2/auth",
    token_path="/token",  # noqa: S106  # a path
    revoke_path="/revoke",
    access_seconds=3_600,
    refresh_seconds=180 * DAY,
    rotation="never",
    scopes=frozenset(
        _IDENTITY | {f"{_GOOGLE}drive", f"{_GOOGLE}drive.readonly", f"{_GOOGLE}drive.metadata.readonly"}
    ),
    needs_pkce=True,
)

GMAIL: Final = Vendor(
    provider="gmail",
    family="google",
    title="Google",
    authorize_path="/o/oauth2/v2/auth",
    token_path="/token",  # noqa: S106  # a path
    revoke_path="/revoke",
    access_seconds=3_600,
    refresh_seconds=180 * DAY,
    rotation="never",
    scopes=frozenset(
        _IDENTITY
        | {
            "https://mail.google.com/",
            f"{_GOOGLE}gmail.readonly",
            f"{_GOOGLE}gmail.modify",
            f"{_GOOGLE}gmail.metadata",
        }
    ),
    needs_pkce=True,
)

QUICKBOOKS: Final = Vendor(
    provider="quickbooks",
    family="intuit",
    title="Intuit",
    authorize_path="/connect/oauth2",
    token_path="/oauth2/v1/tokens/bearer",  # noqa: S106  # a path
    revoke_path="/v2/oauth2/tokens/revoke",
    access_seconds=3_600,
    refresh_seconds=100 * DAY,
    rotation="24h",
    scopes=frozenset({"com.intuit.quickbooks.accounting", "openid", "profile", "email"}),
    needs_pkce=False,
)

TENANT: Final = "organizations"
"""The tenant in the addresses that the simulators print; any other works, too."""

OUTLOOK: Final = Vendor(
    provider="outlook",
    family="microsoft",
    title="Microsoft",
    authorize_path="/{tenant}/oauth2/v2.0/authorize",
    token_path="/{tenant}/oauth2/v2.0/token",  # noqa: S106  # a path
    revoke_path=None,
    access_seconds=4_200,
    refresh_seconds=90 * DAY,
    rotation="each_use_kept",
    scopes=frozenset(
        {
            "openid",
            "profile",
            "email",
            "offline_access",
            "User.Read",
            "Mail.Read",
            "Mail.ReadWrite",
            "Mail.Read.Shared",
            "Mail.ReadWrite.Shared",
        }
    ),
    needs_pkce=False,
)
