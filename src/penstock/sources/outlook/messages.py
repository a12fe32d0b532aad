"""Graph's JSON of a message as a mail; the bytes of its attachments stay at Microsoft."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from penstock.sources.mail.attachments import AttachmentContent, named
from penstock.sources.mail.fields import address_of, bare_id, header_fields, line, lines
from penstock.sources.mail.message import LONGEST_TEXT, AttachmentKind, Mail, MailAttachment
from penstock.sources.mail.text import shown_ids, text_of_page, tidy
from penstock.sources.outlook.graph import PROVIDER
from penstock.sources.reading.records import required_text
from penstock.sources.reading.times import parse_time
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.outlook.graph import Graph

QUERY: Final = {
    "$select": "id,internetMessageId,conversationId,subject,from,sender,toRecipients,ccRecipients,"
    "receivedDateTime,sentDateTime,isDraft,parentFolderId,hasAttachments,body,internetMessageHeaders",
    # contentId is of files only, so it needs its type. hasAttachments is false if all are inline: so always.
    "$expand": "attachments($select=id,name,contentType,size,isInline,"
    "microsoft.graph.fileAttachment/contentId)",
}
_ITEM: Final = {"$expand": "microsoft.graph.itemattachment/item"}
_ITEM_TYPES: Final = {"event": ("text/calendar", "ics"), "contact": ("text/vcard", "vcf")}


@dataclass(frozen=True, slots=True)
class Owner:
    """The addresses of the mailbox: a mail from one of them was sent by its owner."""

    addresses: frozenset[str]


async def mail_of(graph: Graph, message: Mapping[str, Any], owner: Owner, folder: str | None) -> Mail:
    """RecordUnusable names a field that is missing."""
    message_id = required_text(message, "id")
    body = message.get("body")
    content = str(body.get("content") or "") if isinstance(body, Mapping) else ""
    is_html = isinstance(body, Mapping) and str(body.get("contentType")).lower() == "html"
    sender = _person(message.get("from")) or _person(message.get("sender")) or ("", "")
    path = f"{graph.root}/messages/{quote(message_id, safe='')}/attachments"
    shown = shown_ids(content) if is_html else frozenset()
    return Mail(
        id=message_id,
        message_id=bare_id(message.get("internetMessageId")),
        thread_id=line(message.get("conversationId")) or None,
        sender=sender[0],
        sender_name=sender[1],
        to=tuple(_addresses(message.get("toRecipients"))),
        cc=tuple(_addresses(message.get("ccRecipients"))),
        subject=line(message.get("subject")),
        sent_at=parse_time(message.get("sentDateTime")),
        received_at=parse_time(message.get("receivedDateTime")),
        headers=header_fields(message.get("internetMessageHeaders")),
        folder=folder,
        is_outgoing=sender[0] in owner.addresses,
        text=(text_of_page(content) if is_html else tidy(content))[:LONGEST_TEXT],
        attachments=tuple([each async for each in _Attachments(graph, path, shown).of(message)]),
    )


class _Attachments:
    """The attachments of one mail, in their order."""

    def __init__(self, graph: Graph, path: str, shown: Collection[str]) -> None:
        self._graph = graph
        self._path = path
        self._shown = shown
        self._parts: dict[str, int] = {}

    async def of(self, message: Mapping[str, Any]) -> AsyncIterator[MailAttachment]:
        listed = message.get("attachments")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, Mapping) and isinstance(each.get("id"), str):
                yield await self._attachment(each)

    async def _attachment(self, given: Mapping[str, Any]) -> MailAttachment:
        kind = _kind(given)
        name, media_type = line(given.get("name")), line(given.get("contentType")).lower()
        url = None
        if kind == "message":
            media_type, ending = await self._item_type(given["id"])
            name = named(name, ending)
        elif kind == "link":
            url = await self._link(given["id"])
        name = name or "attachment"
        content_id = bare_id(given.get("contentId"))
        size = given.get("size")
        path = f"{self._path}/{quote(given['id'], safe='')}/$value"
        return MailAttachment(
            part=self._part(kind, name, media_type, size, content_id),
            filename=name,
            media_type=media_type or "application/octet-stream",
            size=size if isinstance(size, int) and not isinstance(size, bool) else None,
            kind=kind,
            disposition="inline" if given.get("isInline") is True else "attachment",
            content_id=content_id,
            is_shown=content_id is not None and content_id.lower() in self._shown,
            url=url,
            content=None
            if kind == "link"
            else AttachmentContent(PROVIDER, name, media_type, lambda: self._graph.content(path)),
        )

    def _part(self, *described: object) -> str:
        """The same for every copy of the mail: ids of attachments differ from copy to copy."""
        digest = hashlib.sha256("\0".join(map(str, described)).encode("utf-8", "replace")).hexdigest()[:12]
        self._parts[digest] = number = self._parts.get(digest, 0) + 1
        return digest if number == 1 else f"{digest}-{number}"

    async def _item_type(self, attachment_id: str) -> tuple[str, str]:
        """The type of an attached item, which is a mail unless Graph says otherwise."""
        found = await self._look(attachment_id, _ITEM)
        item = found.get("item")
        kind = str(item.get("@odata.type")) if isinstance(item, Mapping) else ""
        return _ITEM_TYPES.get(kind.rpartition(".")[2], ("message/rfc822", "eml"))

    async def _link(self, attachment_id: str) -> str | None:
        url = (await self._look(attachment_id, None)).get("sourceUrl")
        return line(url) or None

    async def _look(self, attachment_id: str, query: Mapping[str, str] | None) -> Mapping[str, Any]:
        try:
            return await self._graph.get(f"{self._path}/{quote(attachment_id, safe='')}", query)
        except CallRejected:
            return {}


def _kind(given: Mapping[str, Any]) -> AttachmentKind:
    match str(given.get("@odata.type")).rpartition(".")[2]:
        case "itemAttachment":
            return "message"
        case "referenceAttachment":
            return "link"
        case _:
            return "file"


def _person(given: Any) -> tuple[str, str] | None:
    """Address and name."""
    found = given.get("emailAddress") if isinstance(given, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    return address_of(found.get("address")), line(found.get("name"))


def _addresses(given: Any) -> Iterator[str]:
    for each in lines(given):
        if (person := _person(each)) is not None and person[0]:
            yield person[0]
