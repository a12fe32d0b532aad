"""Hard rules: each drops an item by itself, so each is certain, and spares what may be a document."""

from __future__ import annotations

from typing import Final

from penstock.sources.mail.rules.candidate import SMALLEST_PAGE, Candidate
from penstock.sources.mail.rules.context import seen_key
from penstock.sources.mail.rules.rule import Rule
from penstock.sources.mail.rules.settings import is_listed
from penstock.sources.mail.rules.vocabulary import AUTO_REPLIES

LARGEST_PIXEL: Final = 256
SMALLEST_PICTURE: Final = 10_000
LARGEST_LOGO: Final = 100_000
OFTEN: Final = 3
REPORTS: Final = ("delivery-status", "disposition-notification", "feedback-report")
DAEMONS: Final = ("mailer-daemon", "postmaster", "microsoftexchange")
LONGEST_FOLDER: Final = 100
DISCARDED_FOLDERS: Final = frozenset(
    {
        *("junk", "junk email", "junk e-mail", "junk-e-mail", "spam", "bulk mail", "trash", "deleted items"),
        *("deleted messages", "gelöschte elemente", "gelöschte objekte", "papierkorb", "unerwünscht"),
        *("courrier indésirable", "indésirables", "éléments supprimés", "corbeille"),
        *("correo no deseado", "elementos eliminados", "papelera"),
    }
)


def _blocked_sender(item: Candidate) -> str | None:
    sender, settings = item.view.sender, item.view.settings
    if not is_listed(sender, settings.block_senders) or is_listed(sender, settings.allow_senders):
        return None
    return f"{sender} is in the source's block_senders"


def _own_mail(item: Candidate) -> str | None:
    mail, own = item.mail, item.view.context.own_addresses
    if not mail.is_outgoing and mail.sender not in own:
        return None
    if mail.sender in mail.to or not own.isdisjoint(mail.to):
        return None  # a scan or a note to the same mailbox
    return "the mailbox's owner sent it to somebody else"


def _spam(item: Candidate) -> str | None:
    if _is_allowed(item):
        return None
    if label := next((each for each in ("SPAM", "TRASH") if each in item.mail.labels), None):
        return f"it has the label {label}"
    folder = (item.mail.folder or "")[:LONGEST_FOLDER].lower()
    return f"it is in the folder {folder}" if folder in DISCARDED_FOLDERS else None


def _delivery_status(item: Candidate) -> str | None:
    content_type = item.view.header("content-type")
    if content_type.startswith("multipart/report") and any(each in content_type for each in REPORTS):
        return "a mail server or program reports what became of an earlier mail"
    is_returned = item.view.header("return-path") == "<>" or "report" in item.view.kinds
    if item.view.sender.startswith(DAEMONS) and is_returned:
        return "a mail server reports what became of an earlier mail"
    return "a report of a mail server about an earlier mail" if item.kind == "report" else None


def _auto_reply(item: Candidate) -> str | None:
    """Files survive it: order desks confirm orders by automatic reply."""
    view, headers = item.view, item.mail.headers
    if item.may_be_document or view.has_document or _is_allowed(item):
        return None
    if view.text_document and view.has_amount:
        return None
    submitted = view.header("auto-submitted")
    if submitted.startswith("auto-replied"):
        return "the mail says that it is an automatic reply"
    is_machine = any(
        name in headers for name in ("x-auto-response-suppress", "in-reply-to", "references")
    ) or submitted.startswith("auto-")
    opening = view.subject.starts_with(AUTO_REPLIES)
    return f"the subject begins with {opening!r}" if opening and is_machine else None


def _calendar_invitation(item: Candidate) -> str | None:
    view = item.view
    if item.kind == "calendar":
        return "an entry for a calendar"
    is_invitation = "calendar" in view.kinds or view.header("content-type").startswith("text/calendar")
    if not item.is_text or not is_invitation or view.has_document or view.names_document:
        return None
    return "the text of an invitation"


def _empty_file(item: Candidate) -> str | None:
    if item.attachment is None or item.attachment.kind != "file" or item.size != 0:
        return None
    return "the file is empty"


def _tracking_pixel(item: Candidate) -> str | None:
    if not item.is_image or item.size is None or item.size > LARGEST_PIXEL:
        return None
    return f"a picture of {item.size} bytes"


def _shown_image(item: Candidate) -> str | None:
    attachment, size = item.attachment, item.size
    if attachment is None or not item.is_image or not attachment.is_shown:
        return None
    if size is None or size > LARGEST_LOGO or item.document_name or _may_be_pasted_page(item):
        return None
    return f"the text shows this picture of {size:,} bytes"


def _small_image(item: Candidate) -> str | None:
    attachment, size = item.attachment, item.size
    if attachment is None or not item.is_image or attachment.disposition == "attachment":
        return None
    if size is None or size >= SMALLEST_PICTURE or item.document_name:
        return None
    return f"a picture of {size:,} bytes that is not a real attachment"


def _repeated_image(item: Candidate) -> str | None:
    if item.attachment is None or not item.is_image or item.document_name:
        return None
    times = item.view.context.seen.get(seen_key(item.attachment), 0)
    return f"the same picture was in {times} earlier mails of this sender" if times >= OFTEN else None


def _is_allowed(item: Candidate) -> bool:
    return is_listed(item.view.sender, item.view.settings.allow_senders)


def _may_be_pasted_page(item: Candidate) -> bool:
    """A person writes about a document and attaches none: the picture in the text may be it."""
    view = item.view
    return (
        (item.size or 0) >= SMALLEST_PAGE
        and view.names_document
        and not view.has_document
        and not view.is_bulk
    )


HARD_RULES: Final = (
    Rule(
        name="blocked_sender",
        about="Drops everything from a sender in `block_senders`.",
        applies=_blocked_sender,
        skip_reason="blocked_sender",
    ),
    Rule(
        name="own_mail",
        about="Drops copies of mails that the mailbox's owner sent to others.",
        applies=_own_mail,
        skip_reason="own_mail",
    ),
    Rule(
        name="spam",
        about="Drops what lies in spam or trash, unless the sender is allowed.",
        applies=_spam,
        skip_reason="spam",
    ),
    Rule(
        name="delivery_status",
        about="Drops delivery failures and read receipts, with the mail they return.",
        applies=_delivery_status,
        skip_reason="delivery_status",
    ),
    Rule(
        name="empty_file",
        about="Drops files of zero bytes.",
        applies=_empty_file,
        skip_reason="empty_file",
    ),
    Rule(
        name="tracking_pixel",
        about="Drops pictures of at most 256 bytes.",
        applies=_tracking_pixel,
        skip_reason="tracking_pixel",
    ),
    Rule(
        name="shown_image",
        about="Drops pictures of at most 100 KB that the text shows, such as logos.",
        applies=_shown_image,
        skip_reason="signature_image",
    ),
    Rule(
        name="small_image",
        about="Drops pictures below 10 KB that are not real attachments.",
        applies=_small_image,
        skip_reason="signature_image",
    ),
    Rule(
        name="repeated_image",
        about="Drops a picture that was in three or more earlier mails of its sender.",
        applies=_repeated_image,
        skip_reason="signature_image",
    ),
    Rule(
        name="auto_reply",
        about="Drops the text and small pictures of absence notices and other automatic replies.",
        applies=_auto_reply,
        skip_reason="auto_reply",
    ),
    Rule(
        name="calendar_invitation",
        about="Drops calendar entries, and the text that comes with one and names no document.",
        applies=_calendar_invitation,
        skip_reason="calendar_invitation",
    ),
)
