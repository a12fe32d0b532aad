"""Reads from the database what the rules have to know about mails, in one call for several of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from penstock.sources.mail.keys import TEXT_PART, mail_key, repeat_key, thread_key
from penstock.sources.mail.known import KnownAboutMail, ToRestore
from penstock.sources.mail.message import MOST_ATTACHMENTS, Mail
from penstock.sources.mail.rules.context import MailContext, seen_key

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.model import SourceId, TenantId

CONTEXT = "select ingest.mail_context($1, $2, $3, $4, $5, $6)"
TO_RESTORE = "select * from ingest.items_to_restore($1)"

STREAM: Final = "mail/"
"""What external ids of a mailbox's items begin with."""
MOST_LABELS: Final = 10


class StoredMemory:
    """The memory of one source, for one sync."""

    def __init__(self, tenants: TenantPool, tenant_id: TenantId, source_id: SourceId) -> None:
        self._tenants = tenants
        self._tenant_id = tenant_id
        self._source_id = source_id

    async def about(self, mails: Sequence[Mail]) -> Sequence[KnownAboutMail]:
        if not mails:
            return []
        keys = [mail_key(mail) for mail in mails]
        repeats = {repeat_key(mail, each) for mail in mails for each in mail.attachments[:MOST_ATTACHMENTS]}
        async with self._tenants.transaction(self._tenant_id, durable=False) as conn:
            row = await conn.fetchval(
                CONTEXT,
                self._source_id,
                _storable({mail.sender for mail in mails}),
                _storable({domain for mail in mails for domain in _domains(mail.sender)}),
                _storable(
                    {each for mail, key in zip(mails, keys, strict=True) for each in _items(mail, key)}
                ),
                sorted(repeats),
                sorted({thread_key(mail.thread_id) for mail in mails if mail.thread_id}),
            )
        found = json.loads(row)
        return [_known(mail, key, found) for mail, key in zip(mails, keys, strict=True)]

    async def to_restore(self) -> Sequence[ToRestore]:
        async with self._tenants.transaction(self._tenant_id, durable=False) as conn:
            rows = await conn.fetch(TO_RESTORE, self._source_id)
        return [
            ToRestore(row["external_id"].removeprefix(STREAM), row["message_id"])
            for row in rows
            if row["external_id"].startswith(STREAM) and row["message_id"] is not None
        ]


def _known(mail: Mail, key: str, found: Mapping[str, Any]) -> KnownAboutMail:
    threads = found["accepted_threads"]
    seen = {
        seen_key(each): len(others)
        for each in mail.attachments[:MOST_ATTACHMENTS]
        if (others := {*found["seen"].get(repeat_key(mail, each), ())} - {f"{STREAM}{key}"})
    }
    overruled = found["restored"].get(mail.sender)
    context = MailContext(
        own_addresses=frozenset(found["own_addresses"]),
        client_domains=frozenset(found["client_domains"]),
        restored={mail.sender: frozenset(overruled)} if overruled else {},
        seen=seen,
        accepted_threads=frozenset({mail.thread_id})
        if mail.thread_id and thread_key(mail.thread_id) in threads
        else frozenset(),
    )
    return KnownAboutMail(context, _item_ids(found["restored_items"]), _item_ids(found["kept_items"]))


def _item_ids(external_ids: Sequence[str]) -> frozenset[str]:
    return frozenset(each.removeprefix(STREAM) for each in external_ids)


def _domains(sender: str) -> list[str]:
    """The sender's domain and those above it; a client is known by any of them."""
    labels = sender.rpartition("@")[2].split(".")[-MOST_LABELS:]
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]


def _items(mail: Mail, key: str) -> list[str]:
    parts = [each.part for each in mail.attachments[:MOST_ATTACHMENTS]]
    return [f"{STREAM}{key}#{part}" for part in (*parts, TEXT_PART)]


def _storable(texts: set[str]) -> list[str]:
    """Postgres stores no NUL and no lone surrogates: a text with them is not there."""
    return sorted(
        each for each in texts if "\x00" not in each and each.encode("utf-8", "ignore").decode() == each
    )
