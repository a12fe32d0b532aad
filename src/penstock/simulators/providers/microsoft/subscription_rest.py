"""Graph's subscriptions over REST: create with a handshake, renew, reauthorize, list and delete."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import httpx2
from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call, Endpoint
from penstock.simulators.providers.microsoft import odata
from penstock.simulators.providers.microsoft.errors import GraphRefused, error, refuse
from penstock.simulators.providers.microsoft.mail_rest import MAIL, SHARED
from penstock.simulators.providers.microsoft.subscriptions import (
    CHANGES,
    LONGEST,
    SHORTEST,
    GraphSubscription,
    Resource,
    new_id,
    parse_resource,
)
from penstock.simulators.providers.push.addresses import is_on_this_machine
from penstock.simulators.providers.world.clock import parse_time

if TYPE_CHECKING:
    from penstock.simulators.providers.microsoft.provider import Outlook

HANDSHAKE_SECONDS: Final = 10.0
_CLIENT_STATE: Final = 128


class SubscriptionRest:
    """The handlers."""

    def __init__(self, outlook: Outlook) -> None:
        self._outlook = outlook
        self.handshake_seconds = HANDSHAKE_SECONDS

    def endpoints(self) -> list[Endpoint]:
        one = "/v1.0/subscriptions/{id}"
        operations = (
            ("POST", "/v1.0/subscriptions", "subscriptions.create", self.create),
            ("GET", "/v1.0/subscriptions", "subscriptions.list", self.list),
            ("GET", one, "subscriptions.get", self.get),
            ("PATCH", one, "subscriptions.renew", self.renew),
            ("DELETE", one, "subscriptions.delete", self.delete),
            ("POST", f"{one}/reauthorize", "subscriptions.reauthorize", self.reauthorize),
        )
        return [
            Endpoint(method, path, operation, _answered(handler), scopes=MAIL | SHARED)
            for method, path, operation, handler in operations
        ]

    async def create(self, call: Call) -> Response:
        assert call.grant is not None, "the endpoint is not public"
        given = call.json if isinstance(call.json, dict) else {}
        url, lifecycle = _address(given, "notificationUrl"), given.get("lifecycleNotificationUrl")
        if lifecycle is not None:
            lifecycle = _address(given, "lifecycleNotificationUrl")
        resource = self._resource(given)
        mailbox = self._outlook.mailbox_for(call.grant, resource.user)
        folder = None if resource.folder is None else _folder(mailbox.folder(resource.folder))
        state = given.get("clientState")
        if state is not None and not (isinstance(state, str) and len(state) <= _CLIENT_STATE):
            raise refuse(400, "InvalidRequest", f"clientState must have at most {_CLIENT_STATE} characters.")
        made = GraphSubscription(
            id=new_id(),
            grant=call.grant.id,
            account=call.grant.account,
            resource=str(given["resource"]),
            mailbox=mailbox,
            folder=folder,
            change_types=_change_types(given),
            notification_url=url,
            lifecycle_url=lifecycle,
            client_state=state,
            expires=self._expiration(given),
            immutable_ids=odata.of_call(call).immutable_ids,
            application=call.grant.client_id,
        )
        for address in filter(None, (url, lifecycle)):
            await self._shake_hands(address)
        self._outlook.subscriptions.add(made)
        shown = made.described() | {"clientState": state}
        return JSONResponse({"@odata.context": f"{call.base}/outlook/v1.0/$metadata", **shown}, 201)

    async def list(self, call: Call) -> Response:
        assert call.grant is not None, "the endpoint is not public"
        own = [e for e in self._outlook.subscriptions.all() if e.account == call.grant.account]
        return JSONResponse({"value": [each.described() for each in own]})

    async def get(self, call: Call) -> Response:
        return JSONResponse(self._found(call).described())

    async def renew(self, call: Call) -> Response:
        """Extends it, and reauthorizes it at the same time."""
        found, given = self._found(call), call.json if isinstance(call.json, dict) else {}
        wrong = sorted(set(given) - {"expirationDateTime", "notificationUrl"})
        if wrong:
            raise refuse(400, "InvalidRequest", f"{', '.join(wrong)} cannot be changed.")
        expires = self._expiration(given)
        if "notificationUrl" in given:
            url = _address(given, "notificationUrl")
            await self._shake_hands(url)
            found.notification_url = url
        found.expires, found.needs_reauthorization = expires, False
        return JSONResponse(found.described())

    async def delete(self, call: Call) -> Response:
        self._outlook.subscriptions.remove(self._found(call).id)
        return Response(status_code=204)

    async def reauthorize(self, call: Call) -> Response:
        self._found(call).needs_reauthorization = False
        return Response(status_code=202)

    def _found(self, call: Call) -> GraphSubscription:
        assert call.grant is not None, "the endpoint is not public"
        found = self._outlook.subscriptions.get(call.path["id"])
        if found is None or found.account != call.grant.account:
            raise refuse(404, "ResourceNotFound", "The object was not found.")
        return found

    def _resource(self, given: dict[str, Any]) -> Resource:
        found = parse_resource(str(given.get("resource", "")))
        if found is None:
            said = f"Resource {str(given.get('resource'))[:200]!r} cannot be subscribed to."
            raise refuse(400, "InvalidRequest", said)
        return found

    def _expiration(self, given: dict[str, Any]) -> datetime:
        """Between 45 minutes, which a shorter time is raised to, and 10,080 minutes."""
        now = self._outlook.world.clock.now()
        try:
            asked = parse_time(str(given.get("expirationDateTime", "")))
        except ValueError:
            raise refuse(400, "InvalidRequest", "expirationDateTime is missing or not a time.") from None
        if asked <= now:
            raise refuse(400, "InvalidRequest", "GraphSubscription expiration must be in the future.")
        if asked - now > LONGEST:
            most = int(LONGEST.total_seconds() / 60)
            raise refuse(
                400,
                "InvalidRequest",
                f"GraphSubscription expiration can only be {most} minutes in the future.",
            )
        return max(asked, now + SHORTEST)

    async def _shake_hands(self, url: str) -> None:
        """The address has to give back the token as plain text within ten seconds."""
        token = f"Validation: Testing client application reachability for subscription Request-Id: {new_id()}"
        joint = "&" if "?" in url else "?"
        said = "no answer"
        try:
            client = httpx2.AsyncClient(verify=False, trust_env=False)  # loopback only
            async with client, asyncio.timeout(self.handshake_seconds):
                target = f"{url}{joint}{urlencode({'validationToken': token})}"
                response = await client.post(target, headers={"content-type": "text/plain"}, timeout=None)
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL):
            response = None
        if response is not None:
            kind = response.headers.get("content-type", "").partition(";")[0].strip()
            if response.status_code == 200 and kind == "text/plain" and response.text == token:
                return
            said = f"status {response.status_code}, {kind or 'no content type'}"
        raise refuse(
            400,
            "ValidationError",
            "GraphSubscription validation request failed. Notification endpoint must respond with 200 OK to "
            f"validation request. ({said})",
        )


def _answered(handler: Callable[[Call], Awaitable[Response]]) -> Callable[[Call], Awaitable[Response]]:
    async def answer(call: Call) -> Response:
        try:
            return await handler(call)
        except GraphRefused as refused:
            return refused.response

    return answer


def _address(given: dict[str, Any], name: str) -> str:
    url = str(given.get(name) or "")
    if not is_on_this_machine(url):
        raise refuse(400, "InvalidRequest", f"{name} must be an address on this machine, not {url[:200]!r}.")
    return url


def _change_types(given: dict[str, Any]) -> frozenset[str]:
    asked = frozenset(part.strip() for part in str(given.get("changeType", "")).split(",") if part.strip())
    if not asked or not asked <= set(CHANGES):
        raise refuse(400, "InvalidRequest", f"changeType must be some of {', '.join(CHANGES)}.")
    return asked


def _folder(found: Any) -> Any:
    if found is None:
        raise GraphRefused(error(404, "ResourceNotFound", "The folder was not found."))
    return found
