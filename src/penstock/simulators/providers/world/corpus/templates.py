"""The templates by name: what a mail can look like, from an ordinary invoice to a winmail.dat."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from penstock.simulators.providers.world.corpus import files
from penstock.simulators.providers.world.corpus.draft import PDF, Draft, alternative, file_part, text_part
from penstock.simulators.providers.world.locked_pdf import make_locked_pdf
from penstock.simulators.providers.world.mime import RFC822, Link, Part, SentMail
from penstock.simulators.providers.world.pdf import make_pdf

PASSWORD: Final = "millbrook"  # noqa: S105  # of the password-protected PDF
LOGO: Final = "logo@signature"


def _plain(draft: Draft) -> SentMail:
    said = f"Shall we talk about {draft.person.company.offer} on Thursday?"
    return draft.mail(f"Thursday ({draft.number})", draft.letter(said))


def _invoice(draft: Draft) -> SentMail:
    said = f"Please find invoice {draft.invoice} attached."
    return draft.mail(f"Invoice {draft.invoice}", draft.letter(said), draft.invoice_pdf())


def _two_files(draft: Draft) -> SentMail:
    terms = make_pdf((f"Terms of delivery of {draft.person.company.name}", f"As of {draft.at:%Y-%m-%d}"))
    said = f"Invoice {draft.invoice} and our terms of delivery."
    return draft.mail(
        f"Invoice {draft.invoice} and terms",
        draft.letter(said),
        draft.invoice_pdf(),
        file_part("terms.pdf", PDF, terms),
    )


def _newsletter(draft: Draft) -> SentMail:
    company = draft.person.company
    headers = {
        "List-Unsubscribe": f"<mailto:unsubscribe@{company.domain}>",
        "List-Id": f"<news.{company.domain}>",
        "Precedence": "bulk",
    }
    text = f"This month: {company.offer} at a lower price.\n\nUnsubscribe at any time.\n"
    sender = f"{company.name} News <news@{company.domain}>"
    return draft.mail(f"What is new at {company.name}", text, sender=sender, headers=headers)


def _large(draft: Draft) -> SentMail:
    noise = draft.random.randbytes(draft.size // 2).hex().encode()
    filling = b"".join(b"%" + noise[at : at + 98] + b"\n" for at in range(0, len(noise), 98))
    scan = make_pdf((f"Scanned contract {draft.number}", draft.person.company.name), filling)
    return draft.mail("Scanned contract", draft.letter("A large file."), file_part("scan.pdf", PDF, scan))


def _forwarded(draft: Draft) -> SentMail:
    within = _invoice(draft).as_bytes()
    eml = file_part(f"{draft.invoice}.eml", RFC822, within)
    return draft.mail(f"Fwd: Invoice {draft.invoice}", draft.letter("See the attached mail."), eml)


def _forwarded_unnamed(draft: Draft) -> SentMail:
    within = Part(RFC822, _invoice(draft).as_bytes())
    return draft.mail(f"Fwd: Invoice {draft.invoice}", draft.letter("See below."), within)


def _calendar(draft: Draft) -> SentMail:
    title, address = f"Review {draft.number}", draft.to.rpartition("<")[2].rstrip(">")
    event = files.invitation(draft.number, draft.person.email, address, draft.at, title)
    method = (("charset", "utf-8"), ("method", "REQUEST"))
    text = alternative(draft.letter("You are invited."))
    request = Part("text/calendar", event, parameters=method)
    body = Part("multipart/alternative", parts=(*text.parts, request))
    return draft.mail(title, "", file_part("invite.ics", "application/ics", event), body=body)


def _tnef(draft: Draft) -> SentMail:
    content = files.winmail(f"{draft.invoice}.pdf", make_pdf(draft.invoice_lines))
    said = draft.letter(f"Invoice {draft.invoice} attached.")
    return draft.mail(
        f"Invoice {draft.invoice}", said, file_part("winmail.dat", "application/ms-tnef", content)
    )


def _signature_image(draft: Draft) -> SentMail:
    return draft.mail(f"Thursday ({draft.number})", "", body=_with_logo(draft, "Shall we talk on Thursday?"))


def _signature_and_invoice(draft: Draft) -> SentMail:
    body = _with_logo(draft, f"Please find invoice {draft.invoice} attached.")
    return draft.mail(f"Invoice {draft.invoice}", "", draft.invoice_pdf(), body=body)


def _inline_pdf(draft: Draft) -> SentMail:
    said = draft.letter(f"Invoice {draft.invoice}, as Apple Mail sends it.")
    return draft.mail(f"Invoice {draft.invoice}", said, draft.invoice_pdf(disposition="inline"))


def _content_id_pdf(draft: Draft) -> SentMail:
    file = draft.invoice_pdf(content_id=f"{draft.invoice}@outlook")
    return draft.mail(f"Invoice {draft.invoice}", draft.letter("The invoice is attached."), file)


def _locked_pdf(draft: Draft) -> SentMail:
    locked = make_locked_pdf(draft.invoice_lines, PASSWORD)
    said = draft.letter("The password comes by a separate mail.")
    return draft.mail(f"Statement {draft.invoice}", said, file_part(f"{draft.invoice}.pdf", PDF, locked))


def _only_pdf(draft: Draft) -> SentMail:
    return draft.mail(f"Scan {draft.number}", "", body=draft.invoice_pdf())


def _zip(draft: Draft) -> SentMail:
    packed = files.zipped(
        {f"{draft.invoice}.pdf": make_pdf(draft.invoice_lines), "readme.txt": b"Two files.\n"}
    )
    said = draft.letter("All files in one archive.")
    return draft.mail(
        f"Documents for {draft.invoice}", said, file_part("documents.zip", "application/zip", packed)
    )


def _unknown_charset(draft: Draft) -> SentMail:
    text = draft.letter(f"Rechnung {draft.invoice} über die Prüfung.").encode("latin-1")
    body = Part("text/plain", text, parameters=(("charset", "x-unknown-8bit"),))
    return draft.mail(f"Rechnung {draft.invoice}", "", draft.invoice_pdf(), body=body)


def _rtl(draft: Draft) -> SentMail:
    name = f"\u05d7\u05e9\u05d1\u05d5\u05e0\u05d9\u05ea-{draft.number}.pdf"
    file = file_part(name, PDF, make_pdf(draft.invoice_lines))
    subject = f"\u05d7\u05e9\u05d1\u05d5\u05e0\u05d9\u05ea \u05de\u05e1 {draft.invoice}"
    return draft.mail(subject, f"{subject}\n", file)


def _reference(draft: Draft) -> SentMail:
    name = f"{draft.invoice}.pdf"
    url = f"https://{draft.person.company.domain}/files/{draft.number}/{name}"
    html = f'<html><body><p>The file is <a href="{url}">{name}</a>.</p></body></html>'
    said = draft.letter(f"The file is at {url}")
    return draft.mail(f"Shared: {name}", said, html=html, links=(Link(name, url),))


def _auto_reply(draft: Draft) -> SentMail:
    headers = {"Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All"}
    return draft.mail("Automatic reply: out of office", draft.letter("I am away."), headers=headers)


def _bounce(draft: Draft) -> SentMail:
    status = b"Reporting-MTA: dns; mx.millbrook.example\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n"
    said = text_part("text/plain", "Your message could not be delivered.\n")
    body = Part("multipart/report", parts=(said, Part("message/delivery-status", status)))
    sender = "Mail Delivery Subsystem <mailer-daemon@mx.millbrook.example>"
    return draft.mail("Undelivered Mail Returned to Sender", "", sender=sender, body=body)


def _empty_file(draft: Draft) -> SentMail:
    return draft.mail("Scan", draft.letter("The scan failed."), file_part("scan.pdf", PDF, b""))


TEMPLATES: Final[Mapping[str, Callable[[Draft], SentMail]]] = {
    "plain": _plain,
    "invoice": _invoice,
    "two_files": _two_files,
    "newsletter": _newsletter,
    "large": _large,
    "forwarded": _forwarded,
    "forwarded_unnamed": _forwarded_unnamed,
    "calendar": _calendar,
    "tnef": _tnef,
    "signature_image": _signature_image,
    "signature_and_invoice": _signature_and_invoice,
    "inline_pdf": _inline_pdf,
    "content_id_pdf": _content_id_pdf,
    "locked_pdf": _locked_pdf,
    "only_pdf": _only_pdf,
    "zip": _zip,
    "unknown_charset": _unknown_charset,
    "rtl": _rtl,
    "reference": _reference,
    "auto_reply": _auto_reply,
    "bounce": _bounce,
    "empty_file": _empty_file,
}


def compose(template: str, draft: Draft, fields: Mapping[str, Any]) -> SentMail:
    """A mail by a template's name; `fields` replace its headers and text and add attachments.

    `{"from": …, "to": …, "cc": …, "subject": …, "message_id": …, "text": …, "headers": {…},
    "attachments": [{"filename": …, "lines": [...] or "content": base64, "media_type": …,
    "disposition": …, "content_id": …}]}`. ValueError if there is no such template.
    """
    if template not in TEMPLATES:
        raise ValueError(f"there is no template {template!r}; choose one of {', '.join(TEMPLATES)}")
    mail = TEMPLATES[template](draft)
    named = {"from": "From", "to": "To", "cc": "Cc", "subject": "Subject", "message_id": "Message-ID"}
    given = {header: str(fields[name]) for name, header in named.items() if name in fields}
    given |= {str(name): str(value) for name, value in (fields.get("headers") or {}).items()}
    if given:
        mail = mail.with_headers(given)
    if "text" in fields:
        mail = replace(mail, body=_with_text(mail.body, str(fields["text"])))
    if added := tuple(_given_file(each) for each in fields.get("attachments") or ()):
        mail = replace(mail, body=Part("multipart/mixed", parts=(mail.body, *added)))
    return mail


def _with_text(body: Part, text: str) -> Part:
    if body.media_type == "multipart/mixed":
        return replace(body, parts=(alternative(text), *body.parts[1:]))
    return alternative(text)


def _given_file(given: Mapping[str, Any]) -> Part:
    content = base64.b64decode(given["content"]) if "content" in given else make_pdf(given.get("lines", ()))
    more = {name: str(given[name]) for name in ("disposition", "content_id") if given.get(name)}
    return file_part(
        str(given.get("filename", "file.pdf")), str(given.get("media_type", PDF)), content, **more
    )


def _with_logo(draft: Draft, said: str) -> Part:
    """Text and HTML whose signature shows an image by `cid:`."""
    letter = draft.letter(said)
    shown = letter.replace("\n", "<br>\n")
    html = f'<html><body><div>{shown}<img src="cid:{LOGO}" width="160" height="48"></div></body></html>'
    # The same image in every mail of a sender, as signatures are.
    image = files.png(type(draft.random)(draft.person.company.domain))
    logo = file_part("image001.png", "image/png", image, disposition="inline", content_id=LOGO)
    return Part("multipart/related", parts=(alternative(letter, html), logo))
