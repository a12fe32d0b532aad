"""Gmail's watches and the Pub/Sub topic that they publish to, with its push subscription."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call
from penstock.simulators.providers.google.errors import error
from penstock.simulators.providers.push.addresses import is_on_this_machine
from penstock.simulators.providers.push.emitter import Emitter, Notice
from penstock.simulators.providers.push.oidc import TOKENS, Signer, Token
from penstock.simulators.providers.world.clock import SimulatedClock, iso_ms
from penstock.simulators.providers.world.mail import History, Mailbox

if TYPE_CHECKING:
    from penstock.simulators.providers.world.world import World

TOPIC: Final = "projects/simulated/topics/gmail"
SUBSCRIPTION: Final = "projects/simulated/subscriptions/gmail-push"
AUDIENCE: Final = "penstock-gmail-push"
SERVICE_ACCOUNT: Final = "gmail-push@simulated.iam.gserviceaccount.com"
LIFETIME: Final = timedelta(days=7)


@dataclass(slots=True)
class Watch:
    """One mailbox's watch; without labels it is about all of them."""

    labels: frozenset[str]
    excludes: bool
    expires: datetime
    sent: datetime | None = None

    def wants(self, labels: Sequence[str]) -> bool:
        if not self.labels:
            return True
        return self.labels.isdisjoint(labels) if self.excludes else not self.labels.isdisjoint(labels)


class PubSub:
    """The topic and its push subscription; nothing is pushed until `push_to` names an address."""

    def __init__(self, clock: SimulatedClock) -> None:
        self._clock = clock
        self._numbers = count(8_112_000_001)
        self.endpoint: str | None = None
        self.audience = AUDIENCE
        self.service_account = SERVICE_ACCOUNT
        self.token: Token = "good"  # noqa: S105  # a kind of token
        """How the identity token of each push is: `good`, or wrong in one way."""
        self.signer = Signer(clock.now)
        self.emitter = Emitter("gmail", self._pack, clock.now, most=1)
        self.emitter.reliability.timeout = 10.0
        self.emitter.reliability.longest_retry = 600.0
        self.unrouted = 0
        """Messages that were published while there was no address to push to."""

    def push_to(
        self, endpoint: str | None, *, audience: str | None = None, service_account: str | None = None
    ) -> None:
        """Push to this address from now on; none stops it."""
        if endpoint is not None and not is_on_this_machine(endpoint):
            raise ValueError(f"the push endpoint must be on this machine, not {endpoint[:200]!r}")
        self.endpoint = endpoint
        self.audience = audience or self.audience
        self.service_account = service_account or self.service_account

    def set_token(self, kind: str) -> None:
        if kind not in TOKENS:
            raise ValueError(f"there is no token {kind!r}; choose one of {', '.join(TOKENS)}")
        self.token = kind  # type: ignore[assignment]  # one of the kinds

    def publish(self, data: dict[str, Any]) -> None:
        if self.endpoint is None:
            self.unrouted += 1
            return
        number, now = str(next(self._numbers)), iso_ms(self._clock.now())
        message = {
            "data": base64.b64encode(json.dumps(data).encode()).decode(),
            "messageId": number,
            "message_id": number,
            "publishTime": now,
            "publish_time": now,
        }
        content = {"message": message, "subscription": SUBSCRIPTION}
        self.emitter.send([Notice(self.endpoint, "push", content)])

    def _pack(self, notices: Sequence[Notice]) -> tuple[bytes, dict[str, str]]:
        (notice,) = notices
        headers = {"content-type": "application/json", "user-agent": "APIs-Google"}
        token = self.signer.authorization(self.token, self.audience, self.service_account)
        if token is not None:
            headers["authorization"] = token
        return json.dumps(notice.content).encode(), headers


class Watches:
    """The watches of all mailboxes."""

    def __init__(self, world: World, pubsub: PubSub) -> None:
        self._clock = world.clock
        self._pubsub = pubsub
        self.open: dict[str, Watch] = {}
        self.one_per_second = False
        """Drop what is more than one event per second and mailbox, as Gmail does."""
        world.gmail_listeners.append(self.hear)

    def watch(self, call: Call, mailbox: Mailbox) -> Response:
        """Begins or renews the watch; a first notification follows at once."""
        given = call.json if isinstance(call.json, dict) else {}
        topic = given.get("topicName")
        if not isinstance(topic, str) or not topic.startswith("projects/"):
            return error(
                400, "Invalid topicName does not match projects/simulated/topics/*", "invalidArgument"
            )
        if topic != TOPIC:
            said = "Error sending test message to Cloud PubSub: User not authorized to perform this action."
            return error(403, said, "forbidden")
        excludes = "exclude" in (
            str(given.get("labelFilterBehavior", "")).lower(),
            str(given.get("labelFilterAction", "")).lower(),
        )
        expires = self._clock.now() + LIFETIME
        labels = frozenset(str(each) for each in given.get("labelIds") or ())
        self.open[mailbox.address] = Watch(labels, excludes, expires)
        self._publish(mailbox)
        millis = str(int(expires.timestamp() * 1000))
        return JSONResponse({"historyId": str(mailbox.history_id), "expiration": millis})

    def stop(self, mailbox: Mailbox) -> Response:
        self.open.pop(mailbox.address, None)
        return Response(status_code=204)

    def drop(self) -> int:
        """End all watches without a word; how many there were."""
        dropped = len(self.open)
        self.open.clear()
        return dropped

    def hear(self, mailbox: Mailbox, entry: History) -> None:
        """A mailbox tells that something happened."""
        watch, now = self.open.get(mailbox.address), self._clock.now()
        if watch is None or watch.expires <= now:
            return
        message = mailbox.messages.get(entry.message_id)
        if not watch.wants((*(message.labels if message else ()), *entry.labels)):
            return
        if self.one_per_second and watch.sent is not None and now - watch.sent < timedelta(seconds=1):
            return
        watch.sent = now
        self._publish(mailbox)

    def _publish(self, mailbox: Mailbox) -> None:
        self._pubsub.publish({"emailAddress": mailbox.address, "historyId": mailbox.history_id})
