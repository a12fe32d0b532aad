"""A mailbox at Microsoft Graph: changes of each folder by delta, and mails with their attachments."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

from penstock.sources.errors import ProviderUnavailable
from penstock.sources.mail.fields import address_of
from penstock.sources.mail.mailbox import Arrived, Left, MailEvent, Subscription
from penstock.sources.mail.message import Mail
from penstock.sources.outlook import subscriptions
from penstock.sources.outlook.folders import Folder, find_folder, folder_name
from penstock.sources.outlook.graph import PROVIDER, Graph, is_gone
from penstock.sources.outlook.messages import QUERY, Owner, mail_of
from penstock.sources.outlook.progress import Progress
from penstock.sources.protocol import Cursor, Failed
from penstock.sources.responses import CallRejected

PAGE: Final = 50
OVERLAP: Final = timedelta(days=1)
"""How far a new beginning reaches back before the last complete pass."""
_FORGOTTEN: Final = ("syncstatenotfound", "syncstateinvalid", "resyncrequired")


class OutlookMailbox:
    """`folders` are names; `look_back` and `most` bound the first pass over each folder."""

    def __init__(
        self,
        graph: Graph,
        *,
        folders: Sequence[str],
        mailbox: str | None,
        look_back: timedelta,
        most: int,
    ) -> None:
        self._graph = graph
        self._names = folders
        self._address = mailbox
        self._look_back = look_back
        self._most = most
        self._owner: Owner | None = None
        self._folders: dict[str, Folder] = {}
        self._folder_names: dict[str, str | None] = {}

    async def sync_since(self, cursor: Cursor) -> AsyncIterator[MailEvent]:
        at = Progress.of(cursor)
        for name in self._names:
            folder = await find_folder(self._graph, name)
            if folder is None:
                yield Failed(
                    id=None, code="folder_missing", message=f"there is no folder {name!r}", path="folders"
                )
                continue
            self._folders[name] = folder
            if folder.id not in at.done:
                async for event in self._changes(folder, at):
                    yield event
        yield at.finished()

    async def _changes(self, folder: Folder, at: Progress) -> AsyncIterator[MailEvent]:
        known = at.folders.get(folder.id, {})
        if not known:
            known = {"first": True}
        is_restarted = False
        while True:
            link = known.get("next") or known.get("delta")
            try:
                page = await self._page(folder, at, known, link)
            except CallRejected as rejected:
                if link is None or is_restarted or not _is_forgotten(rejected):
                    raise
                is_restarted = True
                # A folder that was never read to its end keeps the bounds of the first pass.
                known = {"first": True} if known.get("first") else {}
                continue
            for event in self._events(page, known, at):
                yield event
            known = self._moved(known, page, link)
            at.folders[folder.id] = known
            if "delta" in known:
                at.done.append(folder.id)
            yield at.checkpoint()
            if "delta" in known:
                return

    async def _page(
        self, folder: Folder, at: Progress, known: dict[str, Any], link: str | None
    ) -> dict[str, Any]:
        if link is not None:
            if not self._graph.is_ours(link):  # the address of Graph has been changed in the settings
                raise CallRejected(PROVIDER, "a stored link", 410)
            return await self._graph.get(link, page_size=PAGE)
        since = at.began - self._look_back
        if not known.get("first") and at.before is not None:
            since = at.before - OVERLAP
        query = {
            "$select": "id,receivedDateTime",
            "$filter": f"receivedDateTime ge {since:%Y-%m-%dT%H:%M:%SZ}",
            "$orderby": "receivedDateTime desc",
        }
        path = f"{self._graph.root}/mailFolders/{quote(folder.id, safe='')}/messages/delta"
        return await self._graph.get(path, query, page_size=PAGE)

    def _events(self, page: dict[str, Any], known: dict[str, Any], at: Progress) -> Sequence[MailEvent]:
        """What a page names, each mail once; in a first pass the most recent up to the limit."""
        listed = page.get("value")
        found: dict[str, MailEvent] = {}
        for each in listed if isinstance(listed, list) else ():
            message_id = each.get("id") if isinstance(each, dict) else None
            if not isinstance(message_id, str) or not message_id:
                continue
            if "@removed" in each:
                found[message_id] = Left(message_id)
            elif known.get("first") and known.get("seen", 0) >= self._most:
                at.left_out += 1
            else:
                known["seen"] = known.get("seen", 0) + 1
                found[message_id] = Arrived(message_id)
        return list(found.values())

    def _moved(self, known: dict[str, Any], page: dict[str, Any], link: str | None) -> dict[str, Any]:
        """Where the folder goes on; the bounds of a first pass hold until its end."""
        following, delta = page.get("@odata.nextLink"), page.get("@odata.deltaLink")
        if isinstance(delta, str) and delta:
            return {"delta": delta}
        if not isinstance(following, str) or not following or following == link:
            raise ProviderUnavailable(PROVIDER, "the changes of a folder have no next page and no end")
        moved: dict[str, Any] = {"next": following}
        if known.get("first"):
            moved |= {"first": True, "seen": known.get("seen", 0)}
        return moved

    async def fetch_message(self, message_id: str) -> Mail | None:
        path = f"{self._graph.root}/messages/{quote(message_id, safe='')}"
        try:
            message = await self._graph.get(path, QUERY)
        except CallRejected as rejected:
            if is_gone(rejected):
                return None
            raise
        if message.get("isDraft") is True:
            return None
        owner = await self._who()
        return await mail_of(
            self._graph, message, owner, await self._folder_of(message.get("parentFolderId"))
        )

    async def create_subscription(self, callback_url: str, client_state: str) -> Subscription:
        """Lifecycle notifications go to the same address."""
        return await subscriptions.create(
            self._graph, await self._watched(), callback_url=callback_url, client_state=client_state
        )

    async def renew_subscription(self, subscription: Subscription) -> Subscription:
        return await subscriptions.renew(self._graph, subscription)

    async def drop_subscription(self, subscription: Subscription) -> None:
        await subscriptions.drop(self._graph, subscription)

    async def _watched(self) -> str:
        """What a subscription is about: one folder, or with several all mails of the mailbox."""
        root = self._graph.root.lstrip("/")
        if len(self._names) == 1 and (folder := await find_folder(self._graph, self._names[0])) is not None:
            return f"{root}/mailFolders('{folder.id}')/messages"
        return f"{root}/messages"

    async def _who(self) -> Owner:
        if self._owner is None:
            if self._address is not None:
                self._owner = Owner(frozenset({self._address.lower()}))
            else:
                user = await self._graph.get(self._graph.root, {"$select": "mail,userPrincipalName"})
                found = (address_of(user.get(name)) for name in ("mail", "userPrincipalName"))
                self._owner = Owner(frozenset(filter(None, found)))
        return self._owner

    async def _folder_of(self, folder_id: Any) -> str | None:
        if not isinstance(folder_id, str) or not folder_id:
            return None
        if folder_id not in self._folder_names:
            known = list(self._folders.values())
            self._folder_names[folder_id] = await folder_name(self._graph, folder_id, known)
        return self._folder_names[folder_id]


def _is_forgotten(rejected: CallRejected) -> bool:
    """Graph no longer knows where the link led; it says so with 410, or by the error's code."""
    return rejected.status == 410 or (rejected.error or "").lower() in _FORGOTTEN
