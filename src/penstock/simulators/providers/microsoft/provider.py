"""Outlook: OAuth by Microsoft's identity platform, mail and subscriptions by Graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call, Endpoint
from penstock.simulators.providers.microsoft import batch, errors
from penstock.simulators.providers.microsoft.delta import Deltas
from penstock.simulators.providers.microsoft.mail_rest import SHARED, MailRest
from penstock.simulators.providers.microsoft.subscription_rest import SubscriptionRest
from penstock.simulators.providers.microsoft.subscriptions import Subscriptions
from penstock.simulators.providers.oauth.grants import Grant, Refusal
from penstock.simulators.providers.oauth.vendors import OUTLOOK, TENANT
from penstock.simulators.providers.provider import SimulatedProvider

if TYPE_CHECKING:
    from penstock.simulators.providers.faults import ProviderFault
    from penstock.simulators.providers.push.emitter import Emitter
    from penstock.simulators.providers.tools import Tool
    from penstock.simulators.providers.world.outlook import StoredMailbox
    from penstock.simulators.providers.world.world import World

_QUOTED = re.compile(r"/(users|mailfolders|messages|attachments)\('([^']+)'\)", re.IGNORECASE)
_NAMES = {"mailfolders": "mailFolders"}
_FUNCTION = re.compile(r"/messages/(?:microsoft\.graph\.)?delta(?:\(\))?$", re.IGNORECASE)


class Outlook(SimulatedProvider):
    """The mailboxes of an organisation."""

    vendor = OUTLOOK
    mcp_path = None
    sandbox_path = None
    identity_path = "/v1.0/me"
    most_at_once = 4
    emitter: Emitter

    def __init__(self, world: World) -> None:
        self.deltas = Deltas(world.clock.now)
        self.subscriptions = Subscriptions(world.clock.now)
        self.subscription_rest = SubscriptionRest(self)
        world.exchange.listeners.append(self.subscriptions.hear)
        super().__init__(world)
        self.emitter = self.subscriptions.emitter

    def rest(self) -> Sequence[Endpoint]:
        async def in_one(call: Call) -> Response:
            return await batch.batch(self, call)

        return [
            Endpoint("GET", "/v1.0/me", "me", self._me, "identity", frozenset({"User.Read"})),
            self.userinfo_endpoint("/oidc/userinfo"),
            Endpoint("POST", "/v1.0/$batch", "batch", in_one),
            *self.subscription_rest.endpoints(),
            *MailRest(self).endpoints(),
        ]

    def tools(self) -> Sequence[Tool]:
        return ()

    def sandbox_tools(self) -> Sequence[Tool]:
        return ()

    def more_settings(self, root: str) -> dict[str, str]:
        scopes = ("openid", "email", "offline_access", "User.Read", "Mail.Read", "Mail.Read.Shared")
        return {"tenant": TENANT, "scopes": " ".join(scopes)}

    def canonical(self, path: str) -> str:
        """Graph takes mailFolders('inbox') for mailFolders/inbox, and beta for v1.0."""
        plain = _QUOTED.sub(lambda m: f"/{_NAMES.get(m[1].lower(), m[1].lower())}/{m[2]}", path)
        plain = _FUNCTION.sub("/messages/delta", plain)
        plain = re.sub(r"/mailfolders(?=/|$)", "/mailFolders", plain, flags=re.IGNORECASE)
        return "/v1.0/" + plain.removeprefix("/beta/") if plain.startswith("/beta/") else plain

    def mailbox_for(self, grant: Grant, user: str | None) -> StoredMailbox:
        """The user's own mailbox, or a shared one that the user may read; GraphRefused otherwise."""
        exchange = self.world.outlook
        if user is None or user.lower() == grant.account.lower():
            return exchange.mailbox(grant.account)
        known = exchange.mailboxes.get(user.lower())
        known = known or next((each for each in exchange.mailboxes.values() if each.user_id == user), None)
        if known is None:
            raise errors.refuse(404, "ErrorInvalidUser", f"The requested user '{user}' is invalid.")
        if known.address == grant.account.lower():
            return known
        if grant.account.lower() not in known.shared_with or not SHARED & grant.scopes:
            raise errors.refuse(
                403, "ErrorAccessDenied", "Access is denied. Check credentials and try again."
            )
        return known

    def concurrency_key(self, grant: Grant, path: str) -> str:
        """Requests of one app to one mailbox count together."""
        found = re.match(r"/v1\.0/users/([^/]+)/", path)
        return found[1].lower() if found else grant.account.lower()

    def unauthorized(self, refusal: Refusal) -> Response:
        return errors.unauthorized(refusal)

    def missing_scopes(self, scopes: Sequence[str]) -> Response:
        return errors.missing_scopes(scopes)

    def rate_limited(self, fault: ProviderFault) -> Response:
        return errors.rate_limited(fault)

    def server_error(self, status: int, message: str) -> Response:
        return errors.server_error(status, message)

    def expired_page_token(self) -> Response | None:
        return None  # the delta query knows the address to start again from

    def not_found(self, path: str) -> Response:
        return errors.error(400, "BadRequest", f"Resource not found for the segment '{path}'.")

    def _me(self, call: Call) -> Response:
        assert call.grant is not None, "the endpoint is not public"
        mailbox = self.world.outlook.mailbox(call.grant.account)
        first, _, last = mailbox.name.partition(" ")
        return JSONResponse(
            {
                "@odata.context": f"{call.base}/outlook/v1.0/$metadata#users/$entity",
                "businessPhones": [],
                "displayName": mailbox.name,
                "givenName": first,
                "surname": last,
                "mail": mailbox.address,
                "userPrincipalName": mailbox.address,
                "id": mailbox.user_id,
                "jobTitle": None,
            }
        )
