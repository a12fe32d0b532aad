"""A Gmail mailbox: mails that arrived since a history id, or within a time; notifications by Pub/Sub."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from penstock.sources.errors import ProviderUnavailable
from penstock.sources.gmail.contents import PROVIDER
from penstock.sources.gmail.messages import mail_of
from penstock.sources.gmail.progress import GmailProgress
from penstock.sources.mail.mailbox import Arrived, Left, MailEvent, Subscription
from penstock.sources.mail.message import Mail
from penstock.sources.protocol import Cursor
from penstock.sources.reading.paging import EXPIRED
from penstock.sources.reading.times import parse_time
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

OVERLAP: Final = timedelta(days=1)
"""How far a new beginning reaches back before the last complete pass."""
HIDDEN: Final = frozenset({"CHAT", "DRAFT", "SPAM", "TRASH"})


class GmailMailbox:
    """`look_back` and `most` bound the first pass; after it, the history says what arrived."""

    def __init__(self, calls: Calls, *, look_back: timedelta, most: int) -> None:
        self._calls = calls
        self._look_back = look_back
        self._most = most

    async def sync_since(self, cursor: Cursor) -> AsyncIterator[MailEvent]:
        at = GmailProgress.of(cursor)
        if at.history is None and at.phase == "history":
            at = await self._first(at)
        if at.phase == "history":
            try:
                async for event in self._changed(at):
                    yield event
            except CallRejected as rejected:
                if rejected.status != 404:
                    raise
                at = await self._first(at)
            else:
                yield at.finished()
                return
        async for event in self._listed(at):
            yield event
        # What arrived during the list is in the history since it began.
        at.phase, at.page, at.history, at.following = "history", None, at.following, None
        yield at.checkpoint()
        try:
            async for event in self._changed(at):
                yield event
        except CallRejected as rejected:
            if rejected.status != 404:
                raise
        yield at.finished()

    async def _first(self, at: GmailProgress) -> GmailProgress:
        """A list instead of the history. Its id is taken before the list, or mails in between are lost."""
        profile = await self._calls.page("gmail.profile")
        history = profile.values["token"]
        if not history:
            raise ProviderUnavailable(PROVIDER, "the profile has no history id")
        since = at.began - self._look_back if at.before is None else at.before - OVERLAP
        return GmailProgress(
            began=at.began,
            before=at.before,
            phase="list",
            following=str(history),
            since=int(since.timestamp()),
            is_first=at.before is None,
        )

    async def _listed(self, at: GmailProgress) -> AsyncIterator[MailEvent]:
        """The mails within a time, the most recent first, up to the limit if it is the first pass."""
        is_restarted = False
        while True:
            try:
                page = await self._calls.page("gmail.messages.list", {"query": f"after:{at.since}"}, at.page)
            except CallRejected as rejected:
                if at.page is None or is_restarted or rejected.status not in EXPIRED:
                    raise
                is_restarted = True
                at.page, at.seen, at.left_out = None, 0, 0
                continue
            ids = [each["id"] for each in page.records if isinstance(each, Mapping) and each.get("id")]
            room = max(0, self._most - at.seen) if at.is_first else len(ids)
            for message_id in ids[:room]:
                yield Arrived(str(message_id))
            at.seen += min(room, len(ids))
            at.left_out += max(0, len(ids) - room)
            at.page = page.next
            if at.page is None:
                return
            yield at.checkpoint()

    async def _changed(self, at: GmailProgress) -> AsyncIterator[MailEvent]:
        is_restarted = False
        while True:
            try:
                page = await self._calls.page("gmail.history.list", {"token": at.history}, at.page)
            except CallRejected as rejected:
                if at.page is None or is_restarted or rejected.status != 400:
                    raise
                is_restarted = True
                at.page = None
                continue
            for event in _events(page.records):
                yield event
            # The first page's id: what happens between the pages is read again by the next pass.
            at.following = at.following or str(page.values["token"] or at.history)
            at.page = page.next
            if at.page is None:
                at.history, at.following = at.following, None
                return
            yield at.checkpoint()

    async def fetch_message(self, message_id: str) -> Mail | None:
        try:
            page = await self._calls.page("gmail.messages.get", {"id": message_id})
        except CallRejected as rejected:
            if rejected.status == 404:
                return None
            raise
        message = page.records[0] if page.records and isinstance(page.records[0], Mapping) else {}
        if HIDDEN.intersection(message.get("labelIds") or ()):
            return None
        return mail_of(self._calls, message)

    async def create_subscription(self, callback_url: str, client_state: str) -> Subscription:
        """`callback_url` is the Pub/Sub topic. Google signs what it sends, so there is no client state."""
        page = await self._calls.page("gmail.watch", {"topic": callback_url})
        expires_at = parse_time(page.values["expires"])
        if expires_at is None:
            raise ProviderUnavailable(PROVIDER, "the answer about a watch has no expiry")
        return Subscription(
            provider_id=None,
            expires_at=expires_at,
            details={"topic": callback_url, "history": str(page.values["token"] or "")},
        )

    async def renew_subscription(self, subscription: Subscription) -> Subscription:
        """Watching again extends the watch."""
        return await self.create_subscription(str(subscription.details.get("topic", "")), "")

    async def drop_subscription(self, subscription: Subscription) -> None:
        try:
            await self._calls.page("gmail.stop")
        except CallRejected as rejected:
            if rejected.status != 404:
                raise


def _events(history: Sequence[Any]) -> Iterator[MailEvent]:
    """What arrived or left, each mail once; a mail that was freed from spam arrives, too."""
    found: dict[str, MailEvent] = {}
    for entry in history:
        if not isinstance(entry, Mapping):
            continue
        for message, labels in _changes(entry, "messagesAdded"):
            if not HIDDEN.intersection(labels):
                found[message] = Arrived(message)
        for message, labels in _changes(entry, "labelsAdded", of="change"):
            if HIDDEN.intersection(labels):
                found[message] = Left(message)
        for message, labels in _changes(entry, "labelsRemoved", of="change"):
            if HIDDEN.intersection(labels):
                found[message] = Arrived(message)
        for message, _ in _changes(entry, "messagesDeleted"):
            found[message] = Left(message)
    yield from found.values()


def _changes(
    entry: Mapping[str, Any], kind: str, *, of: str = "message"
) -> Iterator[tuple[str, Sequence[str]]]:
    """The messages of one kind of change, with their labels or those that changed."""
    listed = entry.get(kind)
    for change in listed if isinstance(listed, list) else ():
        message = change.get("message") if isinstance(change, Mapping) else None
        if isinstance(message, Mapping) and message.get("id"):
            labelled = change if of == "change" else message
            yield str(message["id"]), [str(each) for each in labelled.get("labelIds") or ()]
