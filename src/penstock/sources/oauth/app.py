"""How one provider grants access: its endpoints, our client id there, and its peculiarities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthApp:
    """All of it comes from the settings; `extra` is added to the address of the consent page."""

    provider: str
    title: str
    authorize_url: str
    token_url: str
    revoke_url: str | None
    identity_url: str | None
    client_id: str
    client_secret: str = field(repr=False)
    scopes: Sequence[str]
    extra: Mapping[str, str] = field(default_factory=dict)
    basic_auth: bool = False
    """The token endpoint wants client id and secret as Basic authentication, not in the body."""
    revokes_by_json: bool = False
    """The revocation endpoint wants the token in a JSON object, not in a form."""
    issuer: str | None = None
    """What the callback's parameter `iss` must be, if it has one (RFC 9207): a code of another server is not
    sent to this one."""
    account_parameter: str | None = None
    """The callback's parameter that names the account, such as QuickBooks' realmId."""
    introspects: bool = False
    """The identity endpoint describes the token in a form; others describe the user by the bearer token."""
    account_field: str = "sub"
    """The field of the identity endpoint's answer that is the account's id."""
    label_field: str | None = "email"
    """The field of that answer by which people recognise the account."""
