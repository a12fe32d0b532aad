"""Subscriptions to folders: what they match, when they expire, and the notifications they cause."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias
from uuid import uuid4

from penstock.simulators.providers.microsoft.shapes import View, stamp
from penstock.simulators.providers.push.emitter import Emitter, Notice
from penstock.simulators.providers.world.outlook import Change, StoredFolder, StoredMailbox

TENANT_ID: Final = "7f2c6d1e-5b0a-4c1d-9e57-0a6f3b8d2c41"
LONGEST: Final = timedelta(minutes=10_080)
SHORTEST: Final = timedelta(minutes=45)
CHANGES: Final = ("created", "updated", "deleted")
Lifecycle: TypeAlias = Literal["reauthorizationRequired", "subscriptionRemoved", "missed"]

_RESOURCE: Final = re.compile(
    r"/?(?:me|users(?:/(?P<user>[^/']+)|\('(?P<quoted>[^']+)'\)))"
    r"(?:/mailFolders(?:/(?P<folder>[^/'()]+)|\('(?P<named>[^']+)'\)))?/messages(?:\?.*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Resource:
    """What a subscription is about; no user: the caller's own mailbox, no folder: all of them."""

    user: str | None
    folder: str | None


def parse_resource(text: str) -> Resource | None:
    found = _RESOURCE.fullmatch(text)
    if found is None:
        return None
    return Resource(found["user"] or found["quoted"], found["folder"] or found["named"])


@dataclass(slots=True, eq=False)
class GraphSubscription:
    """One subscription, of one grant."""

    id: str
    grant: int
    account: str
    resource: str
    mailbox: StoredMailbox
    folder: StoredFolder | None
    change_types: frozenset[str]
    notification_url: str
    lifecycle_url: str | None
    client_state: str | None
    expires: datetime
    immutable_ids: bool
    application: str
    needs_reauthorization: bool = False
    """Nothing is sent until the subscription is renewed or reauthorized."""

    def described(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "resource": self.resource,
            "applicationId": self.application,
            "changeType": ",".join(each for each in CHANGES if each in self.change_types),
            "clientState": None,
            "notificationUrl": self.notification_url,
            "lifecycleNotificationUrl": self.lifecycle_url,
            "expirationDateTime": stamp(self.expires),
            "creatorId": self.mailbox.user_id,
            "latestSupportedTlsVersion": "v1_2",
            "includeResourceData": False,
        }


class Subscriptions:
    """All subscriptions; a change in a folder becomes one notification for each that matches."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._known: dict[str, GraphSubscription] = {}
        self.emitter = Emitter("outlook", pack, now)

    def add(self, subscription: GraphSubscription) -> None:
        self._known[subscription.id] = subscription

    def remove(self, subscription_id: str) -> GraphSubscription | None:
        return self._known.pop(subscription_id, None)

    def get(self, subscription_id: str) -> GraphSubscription | None:
        found = self._known.get(subscription_id)
        if found is not None and found.expires <= self._now():
            del self._known[subscription_id]
            return None
        return found

    def all(self) -> list[GraphSubscription]:
        """Those that have not expired."""
        return [each for name in list(self._known) if (each := self.get(name)) is not None]

    def hear(self, folder: StoredFolder, change: Change) -> None:
        """A mailbox tells that something happened."""
        if not self._known:
            return
        kind = {"moved": "deleted"}.get(change.kind, change.kind)
        notices = [
            Notice(each.notification_url, "notify", notification(each, kind, change))
            for each in self.all()
            if each.mailbox is folder.mailbox
            and (each.folder is None or each.folder is folder)
            and kind in each.change_types
            and not each.needs_reauthorization
        ]
        self.emitter.send(notices)

    def notify(self, subscription_id: str, **changed: Any) -> dict[str, Any]:
        """One more notification, with these fields changed, as a forger would send it."""
        chosen = self._known[subscription_id]
        content = self._lifeless(chosen) | {"changeType": "created", "resource": chosen.resource} | changed
        self.emitter.send([Notice(chosen.notification_url, "notify", content)])
        return content

    def tell(self, event: Lifecycle, ids: Iterable[str] | None = None) -> int:
        """Send a lifecycle event to subscriptions, by default to all; how many were told.

        `subscriptionRemoved` removes them, `reauthorizationRequired` silences them until they are renewed.
        """
        chosen = self.all() if ids is None else [each for name in ids if (each := self.get(name)) is not None]
        told = []
        for each in chosen:
            if event == "subscriptionRemoved":
                self.remove(each.id)
            if event == "reauthorizationRequired":
                each.needs_reauthorization = True
            if each.lifecycle_url is not None:
                content = self._lifeless(each) | {"lifecycleEvent": event, "resource": each.resource}
                told.append(Notice(each.lifecycle_url, "lifecycle", content))
        self.emitter.send(told)
        return len(chosen)

    def drop(self) -> int:
        """Remove all without a word; how many there were."""
        dropped = len(self.all())
        self._known.clear()
        return dropped

    def _lifeless(self, subscription: GraphSubscription) -> dict[str, Any]:
        return {
            "subscriptionId": subscription.id,
            "subscriptionExpirationDateTime": stamp(subscription.expires),
            "tenantId": TENANT_ID,
            "clientState": subscription.client_state,
        }


def notification(subscription: GraphSubscription, kind: str, change: Change) -> dict[str, Any]:
    view = View(subscription.immutable_ids)
    shown = view.id_of(change.item) if subscription.immutable_ids else change.id
    path = f"Users/{subscription.mailbox.user_id}/Messages/{shown}"
    return {
        "subscriptionId": subscription.id,
        "subscriptionExpirationDateTime": stamp(subscription.expires),
        "changeType": kind,
        "resource": path,
        "resourceData": {
            "@odata.type": "#Microsoft.Graph.Message",
            "@odata.id": path,
            "@odata.etag": change.item.etag,
            "id": shown,
        },
        "clientState": subscription.client_state,
        "tenantId": TENANT_ID,
    }


def new_id() -> str:
    return str(uuid4())


def pack(notices: Sequence[Notice]) -> tuple[bytes, dict[str, str]]:
    """One POST for notifications of one address; they may be of several subscriptions."""
    body = json.dumps({"value": [each.content for each in notices]}).encode()
    return body, {"content-type": "application/json; charset=utf-8"}
