"""What an attachment is to the rules: a picture, a document, or a part that programs write for programs."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from penstock.sources.mail.message import MailAttachment

Kind: TypeAlias = Literal["document", "image", "calendar", "report", "technical"]

_ENDINGS: Final[dict[Kind, tuple[str, ...]]] = {
    "image": (
        *("avif", "bmp", "gif", "heic", "heif", "ico", "jfif", "jpe", "jpeg", "jpg", "png", "svg", "webp"),
    ),
    "calendar": ("ics", "ical", "ifb", "vcs"),
    "technical": ("asc", "p7s", "pgp", "sig", "vcf"),
    "document": (
        *("7z", "csv", "dat", "doc", "docm", "docx", "eml", "htm", "html", "msg", "odp", "ods", "odt"),
        *("p7m", "pages", "pdf", "ppt", "pptx", "rar", "rtf", "tif", "tiff", "txt", "xls", "xlsb"),
        *("xlsm", "xlsx", "xml", "zip"),
    ),
}
_BY_ENDING: Final = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings}
_BY_TYPE: Final[dict[str, Kind]] = {
    **dict.fromkeys(("text/calendar", "application/ics", "text/x-vcalendar"), "calendar"),
    **dict.fromkeys(
        (
            "message/delivery-status",
            "message/disposition-notification",
            "message/feedback-report",
            "text/rfc822-headers",
        ),
        "report",
    ),
    **dict.fromkeys(
        (
            "application/pgp-keys",
            "application/pgp-signature",
            "application/pkcs7-signature",
            "application/x-pkcs7-signature",
            "text/directory",
            "text/vcard",
            "text/x-vcard",
        ),
        "technical",
    ),
}
_SAYS_NOTHING: Final = frozenset(
    {"", "application/octet-stream", "application/x-download", "binary/octet-stream"}
)
_SCANS: Final = frozenset({"image/tiff", "image/tiff-fx", "image/x-tiff", "image/vnd.djvu"})
"""Formats of scanners and fax machines, in which nobody sends a logo."""
_LONGEST_ENDING: Final = 12


def kind_of(attachment: MailAttachment) -> Kind:
    """What type and file name say; a document if either names one, because in doubt it is worth a look."""
    if attachment.kind != "file":
        return "document"
    media_type = media_type_of(attachment)
    by_ending = _BY_ENDING.get(_ending(attachment.filename))
    if media_type in _BY_TYPE and _BY_TYPE[media_type] == "report":
        return "report"
    if media_type in _SCANS or by_ending == "document":
        return "document"
    if media_type in _SAYS_NOTHING:
        return by_ending or "document"
    return "image" if media_type.startswith("image/") else _BY_TYPE.get(media_type, "document")


def media_type_of(attachment: MailAttachment) -> str:
    """In lower case, without parameters."""
    return attachment.media_type[:200].partition(";")[0].strip().lower()


def _ending(filename: str) -> str:
    _, dot, ending = filename[-_LONGEST_ENDING:].rpartition(".")
    return ending.strip().lower() if dot else ""
