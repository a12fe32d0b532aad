"""Items of a mail: one for each attachment, and one for its text if the source keeps texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.sources.mail.attachments import TextContent
from penstock.sources.mail.keys import TEXT_PART, mail_key, repeat_key, thread_key
from penstock.sources.mail.known import NOTHING, KnownAboutMail
from penstock.sources.mail.message import MOST_ATTACHMENTS, Mail, MailAttachment
from penstock.sources.mail.rules_of import KEPT, RESTORED, MailRules
from penstock.sources.mail.verdict import Verdict
from penstock.sources.protocol import Failed, FileContent, Item
from penstock.sources.reading.times import iso


class MailItems:
    """`kind` is the kind of source, `largest` how many bytes a document may have."""

    def __init__(
        self, *, kind: str, rules: MailRules, attachments: bool, mail_text: bool, largest: int
    ) -> None:
        self._kind = kind
        self._rules = rules
        self._attachments = attachments
        self._mail_text = mail_text
        self._largest = largest

    def of(self, mail: Mail, known: KnownAboutMail = NOTHING) -> Iterator[Item | Failed]:
        """The items of a mail. An item that the rules drop has no content and says why.

        What a person restored is kept, whatever the rules say, and so is what was kept before.
        """
        key = mail_key(mail)
        judged = self._rules.judge(mail, known.context)
        if self._attachments:
            verdicts = {
                each.part: _verdict(f"{key}#{each.part}", judged.attachments[each.part], known)
                for each in mail.attachments[:MOST_ATTACHMENTS]
            }
            yield from self._of_attachments(mail, key, verdicts)
        if self._mail_text and mail.text:
            item_id = f"{key}#{TEXT_PART}"
            yield self._text(mail, item_id, _verdict(item_id, judged.text, known))

    def _of_attachments(
        self, mail: Mail, key: str, verdicts: Mapping[str, Verdict]
    ) -> Iterator[Item | Failed]:
        if (count := len(mail.attachments)) > MOST_ATTACHMENTS:
            message = f"the mail has {count} attachments; the first {MOST_ATTACHMENTS} are read"
            yield Failed(id=key, code="too_many_attachments", message=message)
        for attachment in mail.attachments[:MOST_ATTACHMENTS]:
            item_id, verdict = f"{key}#{attachment.part}", verdicts[attachment.part]
            # Providers count more than the content; only what is far too large is not even begun.
            size = 0 if verdict.decision == "drop" else attachment.size or 0
            if size > 2 * self._largest:
                message = f"the attachment has {size:,} bytes, more than {self._largest:,}"
                yield Failed(id=item_id, code="file_too_large", message=message)
            else:
                yield self._attachment(mail, item_id, attachment, verdict)

    def _attachment(self, mail: Mail, item_id: str, attachment: MailAttachment, verdict: Verdict) -> Item:
        reason = "link" if attachment.kind == "link" and verdict.decision != "drop" else verdict.skip_reason
        described = {
            "filename": attachment.filename,
            "media_type": attachment.media_type,
            "size": attachment.size,
            "part": attachment.part,
            "kind": attachment.kind,
            "disposition": attachment.disposition,
            "content_id": attachment.content_id,
            "is_shown": attachment.is_shown,
            "url": attachment.url,
        }
        return self._item(
            mail,
            item_id,
            verdict,
            skip_reason=reason if verdict.decision == "drop" or reason == "link" else None,
            document_type="attachment",
            described={"attachment": _given(described), "repeat_key": repeat_key(mail, attachment)},
            noted={"attachment_filename": attachment.filename},
            content=attachment.content,
        )

    def _text(self, mail: Mail, item_id: str, verdict: Verdict) -> Item:
        name = "".join(" " if each in '/\\:*?"<>|' else each for each in mail.subject).strip()
        return self._item(
            mail,
            item_id,
            verdict,
            skip_reason=verdict.skip_reason if verdict.decision == "drop" else None,
            document_type="mail",
            described={"characters": len(mail.text)},
            noted={},
            content=TextContent(f"{name[:200] or 'mail'}.txt", as_text(mail)),
        )

    def _item(
        self,
        mail: Mail,
        item_id: str,
        verdict: Verdict,
        *,
        skip_reason: str | None,
        document_type: str,
        described: dict[str, Any],
        noted: dict[str, Any],
        content: FileContent | None,
    ) -> Item:
        is_skipped = verdict.decision == "drop" or skip_reason is not None or content is None
        judged = {
            "decision": verdict.decision,
            "score": verdict.score,
            "skip_reason": verdict.skip_reason,
            "fired": [
                {"rule": each.rule, "weight": each.weight, "reason": each.reason} for each in verdict.fired
            ],
            "rules_version": verdict.rules_version,
        }
        about = _about(self._kind, mail)
        payload = {
            **about,
            "mailbox_id": mail.id,
            "to": list(mail.to),
            "cc": list(mail.cc),
            "thread_id": mail.thread_id,
            "thread_key": None if mail.thread_id is None else thread_key(mail.thread_id),
            "sent_at": iso(mail.sent_at),
            **described,
            "verdict": judged,
            "status": "skipped" if is_skipped else "taken_in",
        }
        return Item(
            id=item_id,
            document_type=f"{self._kind}.{document_type}",
            payload=_given(payload),
            # Not the payload: a mail that was moved or read is the mail it was.
            fingerprint=f"{item_id} {payload['status']}",
            created_at=mail.received_at or mail.sent_at,
            content=None if is_skipped else content,
            by_content=True,
            skip_reason=(skip_reason or "dropped") if is_skipped else None,
            source_metadata=_given({**about, **noted, "verdict": judged}),
            decision=_decision(mail, verdict, skip_reason or "dropped", noted) if is_skipped else None,
        )


def _about(kind: str, mail: Mail) -> dict[str, Any]:
    return {
        "provider": kind,
        "message_id": None if mail.message_id is None else f"<{mail.message_id}>",
        "from": mail.sender,
        "from_name": mail.sender_name or None,
        "subject": mail.subject,
        "received_at": iso(mail.received_at),
        "folder": mail.folder,
    }


def _verdict(item_id: str, judged: Verdict, known: KnownAboutMail) -> Verdict:
    if item_id in known.restored:
        return RESTORED
    return KEPT if judged.decision == "drop" and item_id in known.kept else judged


def _decision(mail: Mail, verdict: Verdict, skip_reason: str, noted: Mapping[str, Any]) -> dict[str, Any]:
    """The row of ingest.decision; the name is that of the rule that counts most against the item."""
    against = min(verdict.fired, key=lambda each: each.weight, default=None)
    is_dropped = verdict.decision == "drop" and against is not None
    return {
        "message_id": mail.id,
        "name": against.rule if is_dropped and against else skip_reason,
        "skip_reason": skip_reason,
        "score": verdict.score,
        "reasons": [
            {"rule": each.rule, "weight": each.weight, "reason": each.reason} for each in verdict.fired
        ],
        "sender": mail.sender,
        "subject": mail.subject,
        "filename": noted.get("attachment_filename"),
        "version": f"rules-{verdict.rules_version}",
    }


def as_text(mail: Mail) -> str:
    """The mail as a person would read it; the subject first, so that nothing takes it for a mail file."""
    sender = f"{mail.sender_name} <{mail.sender}>" if mail.sender_name else mail.sender
    head = [f"From: {sender}", f"To: {', '.join(mail.to)}"]
    if mail.cc:
        head.append(f"Cc: {', '.join(mail.cc)}")
    if (date := mail.sent_at or mail.received_at) is not None:
        head.append(f"Date: {date:%Y-%m-%d %H:%M} UTC")
    return "\n\n".join((mail.subject or "(no subject)", "\n".join(head), mail.text))


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
