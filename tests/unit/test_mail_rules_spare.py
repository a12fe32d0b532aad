"""What the rules of stage 1 must not drop: the hard cases, and every document whatever soft rules say."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sources.mail.message import HEADERS, Mail, MailAttachment
from penstock.sources.mail.rules.context import MailContext, seen_key
from penstock.sources.mail.rules.hard import HARD_RULES
from penstock.sources.mail.rules.judge import judge
from penstock.sources.mail.rules.kinds import kind_of
from penstock.sources.mail.rules.settings import RuleSettings
from penstock.sources.mail.rules.soft import SOFT_RULES
from penstock.sources.mail.rules.vocabulary import MARKETING, NOTIFICATIONS, SOCIAL, UNSUBSCRIBE
from tests.unit.mails import IMAGE, LOGO, OWN, PDF, mail

NOISE = [
    word
    for vocabulary in (MARKETING, SOCIAL, NOTIFICATIONS, UNSUBSCRIBE)
    for word in (*sorted(vocabulary.words), *vocabulary.phrases)
]
OURS = MailContext(own_addresses=frozenset({OWN}))
REPLIED = {"auto-submitted": "auto-replied"}


def decision(given: Mail, context: MailContext = OURS, part: str = "2") -> str:
    return judge(given, context).attachments[part].decision


texts = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(NOISE), max_size=20).map(", ".join))
senders = st.sampled_from(
    [
        "noreply@linkedin.com",
        "newsletter@x.com",
        "robot@facebookmail.com",
        "ann@example.com",
        "",
        "@",
        "no-at",
    ]
)
documents = st.builds(
    MailAttachment,
    part=st.just("2"),
    filename=st.one_of(st.text(max_size=40), st.sampled_from(["promo.pdf", "Katalog.pdf", "a.xml", ""])),
    media_type=st.sampled_from(
        ["application/pdf", "text/xml", "application/zip", "application/ms-tnef", "image/tiff", "text/html"]
    ),
    size=st.one_of(st.none(), st.integers(1, 10**8)),
    kind=st.sampled_from(["file", "message", "link"]),
    disposition=st.sampled_from(["attachment", "inline", None]),
    content_id=st.sampled_from([None, "a@b"]),
    is_shown=st.booleans(),
)
headers = st.dictionaries(
    st.sampled_from([name for name in HEADERS if name not in ("content-type", "auto-submitted")]),
    st.sampled_from(["", "bulk", "<x@example.com>", "All"]),
)
settings = st.builds(
    RuleSettings,
    weights=st.fixed_dictionaries(
        {},
        optional={
            rule.name: st.floats(-10, 0) if rule.weight < 0 else st.floats(0, 10)
            for rule in SOFT_RULES
            if rule.weight
        },
    ),
)


@given(documents, texts, texts, senders, headers, settings)
def test_soft_rules_never_drop_a_document(
    document: MailAttachment, subject: str, text: str, sender: str, head: dict[str, str], rules: RuleSettings
) -> None:
    verdict = judge(mail(document, subject=subject, text=text, sender=sender, headers=head), OURS, rules)
    assert verdict.attachments["2"].decision in ("keep", "ask"), verdict


@given(st.builds(replace, st.sampled_from([PDF, IMAGE, LOGO]), size=st.integers(0, 10**6)), texts, texts)
def test_whatever_is_dropped_has_a_reason(item: MailAttachment, subject: str, text: str) -> None:
    verdicts = judge(mail(item, subject=subject, text=text, headers={"precedence": "bulk"}), OURS)
    for verdict in (verdicts.text, *verdicts.attachments.values()):
        assert (verdict.decision == "drop") == (verdict.skip_reason is not None)
        assert verdict.decision != "drop" or all(each.reason for each in verdict.fired)


def test_every_rule_with_a_negative_effect_has_a_skip_reason() -> None:
    assert all(rule.skip_reason for rule in HARD_RULES)
    assert all(rule.skip_reason for rule in SOFT_RULES if (rule.weight or 0) < 0)


@pytest.mark.parametrize(
    "item",
    [
        replace(PDF, disposition="inline", content_id="a@b", is_shown=True),
        replace(PDF, filename="winmail.dat", media_type="application/ms-tnef"),
        replace(PDF, filename="Rechnung.PDF", media_type="application/octet-stream"),
        replace(PDF, filename="invoice.pdf", media_type="image/png", size=9_000, disposition=None),
        replace(PDF, filename="invoice.pdf", media_type="text/calendar"),
        replace(PDF, filename="fax.tif", media_type="image/tiff", size=8_000, disposition=None),
        replace(PDF, filename="smime.p7m", media_type="application/pkcs7-mime"),
        replace(PDF, size=None),
        replace(PDF, kind="link", size=0),
        replace(IMAGE, size=2_000_000, disposition="inline", content_id="a@b"),
        replace(LOGO, size=2_000_000),
        replace(LOGO, filename=unicodedata.normalize("NFD", "reçu.png")),
        replace(LOGO, filename="Taxiquittung_12.png", size=9_000),
        replace(LOGO, size=None),
    ],
    ids=lambda item: f"{item.filename} {item.media_type} {item.size}",
)
def test_hard_cases_are_spared(item: MailAttachment) -> None:
    assert decision(mail(item)) != "drop"


def test_a_scan_that_the_owner_sends_to_the_same_mailbox_is_spared() -> None:
    to_self = mail(PDF, sender=OWN, to=(OWN,), is_outgoing=True)
    assert decision(to_self) != "drop"
    assert decision(to_self, MailContext()) != "drop"
    assert decision(replace(to_self, to=("ann@example.com",), cc=(OWN,))) == "drop"


def test_an_automatic_reply_with_a_document_is_spared_and_one_without_is_not() -> None:
    confirmation = judge(mail(PDF, headers=REPLIED, subject="Re: order"))
    assert confirmation.text.decision != "drop"
    assert confirmation.attachments["2"].decision != "drop"
    assert judge(mail(headers=REPLIED, text="Receipt: $30")).text.decision != "drop"
    assert judge(mail(headers=REPLIED, text="For invoices write to accounts@")).text.decision == "drop"


def test_a_subject_that_only_sounds_automatic_is_spared() -> None:
    notice = mail(subject="Automatic reply: closing times")
    assert judge(notice).text.decision != "drop"
    answer = replace(notice, headers={"in-reply-to": "<1@northmill.example>"})
    assert judge(answer).text.decision == "drop"


def test_a_picture_pasted_into_a_mail_about_a_receipt_is_spared_unless_the_mail_is_bulk() -> None:
    pasted = mail(LOGO, subject="Quittung vom Taxi")
    assert decision(pasted) != "drop"
    assert decision(replace(pasted, headers={"precedence": "bulk"})) == "drop"
    assert decision(mail(LOGO, PDF, subject="Quittung vom Taxi")) == "drop"
    assert decision(mail(replace(LOGO, size=20_000), subject="Quittung vom Taxi")) == "drop"


def test_a_file_that_comes_again_and_again_is_spared_unless_it_is_a_picture() -> None:
    seen = MailContext(seen={seen_key(PDF): 9, seen_key(IMAGE): 9})
    assert decision(mail(PDF), seen) != "drop"
    assert decision(mail(IMAGE), seen) == "drop"
    receipt = replace(IMAGE, filename="receipt.png")
    assert decision(mail(receipt), MailContext(seen={seen_key(receipt): 9})) != "drop"


def test_a_list_of_our_own_domain_is_a_shared_mailbox() -> None:
    group = {"list-id": "<ap.northmill.example>", "precedence": "list"}
    assert "bulk_headers" not in {each.rule for each in judge(mail(headers=group), OURS).text.fired}
    for foreign in ("<ap.example.com>", "<ap.notnorthmill.example>", ""):
        fired = judge(mail(headers={**group, "list-id": foreign}), OURS).text.fired
        assert "bulk_headers" in {each.rule for each in fired}


def test_a_bounce_is_dropped_with_the_mail_it_returns() -> None:
    returned = replace(PDF, filename="original.eml", media_type="message/rfc822", kind="message")
    bounce = mail(returned, sender="mailer-daemon@example.com", headers={"return-path": "<>"})
    assert decision(bounce) == "drop"
    assert decision(replace(bounce, headers={"return-path": "<a@example.com>"})) != "drop"


def test_an_entry_for_the_calendar_does_not_take_the_invoice_with_it() -> None:
    entry = replace(PDF, filename="trip.ics", media_type="text/calendar")
    booking = judge(mail(PDF, entry))
    assert (booking.attachments["2"].decision, booking.attachments["3"].decision) == ("ask", "drop")
    assert booking.text.decision != "drop"
    assert judge(mail(entry, subject="Your receipt")).text.decision != "drop"
    assert judge(mail(entry)).text.decision == "drop"


def test_an_allowed_sender_is_taken_out_of_spam_and_of_a_blocked_domain() -> None:
    spam = mail(PDF, labels=frozenset({"SPAM"}))
    allowed = RuleSettings(
        allow_senders=frozenset({"ann@example.com"}), block_senders=frozenset({"example.com"})
    )
    assert judge(spam, OURS, allowed).attachments["2"].decision == "keep"
    assert judge(replace(spam, sender="bob@example.com"), OURS, allowed).attachments["2"].decision == "drop"


@pytest.mark.parametrize(
    ("filename", "media_type", "kind"),
    [
        ("open.php", "image/gif", "image"),
        ("", "image/png", "image"),
        ("photo.HEIC", "application/octet-stream", "image"),
        ("invite.ics", "application/octet-stream", "calendar"),
        ("", "TEXT/Calendar ; method=REPLY", "calendar"),
        ("card.vcf", "text/x-vcard", "technical"),
        ("details.txt", "message/delivery-status", "report"),
        ("what.ever", "", "document"),
        ("", "application/pdf", "document"),
    ],
)
def test_the_kind_of_an_attachment(filename: str, media_type: str, kind: str) -> None:
    assert kind_of(replace(PDF, filename=filename, media_type=media_type)) == kind
