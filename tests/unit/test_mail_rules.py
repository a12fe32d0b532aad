"""Each rule of stage 1 can fire, and each can be outweighed or switched off."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from penstock.sources.mail.message import Mail
from penstock.sources.mail.rules.check import check_rules
from penstock.sources.mail.rules.context import NOTHING_KNOWN, MailContext, seen_key
from penstock.sources.mail.rules.hard import HARD_RULES
from penstock.sources.mail.rules.judge import HARD_WEIGHT, RULES, judge
from penstock.sources.mail.rules.settings import DEFAULT_SETTINGS, RuleSettings
from penstock.sources.mail.rules.soft import SOFT_RULES
from penstock.sources.mail.verdict import Verdict
from tests.unit.mails import IMAGE, LOGO, OWN, PDF, mail

BULK = {"list-unsubscribe": "<mailto:leave@example.com>"}
REPORT = replace(PDF, filename="details.txt", media_type="message/delivery-status")
ICS = replace(PDF, filename="invite.ics", media_type="text/calendar; method=REQUEST")
SIGNATURE = replace(PDF, filename="smime.p7s", media_type="application/pkcs7-signature")


@dataclass(frozen=True, slots=True)
class Case:
    """A mail of which the rule decides about the part, or about the text if there is none."""

    mail: Mail
    part: str | None = "2"
    context: MailContext = NOTHING_KNOWN
    settings: RuleSettings = DEFAULT_SETTINGS

    def verdict(self, settings: RuleSettings | None = None, context: MailContext | None = None) -> Verdict:
        found = judge(self.mail, context or self.context, settings or self.settings)
        return found.text if self.part is None else found.attachments[self.part]


HARD = {
    "blocked_sender": Case(mail(PDF), settings=RuleSettings(block_senders=frozenset({"example.com"}))),
    "own_mail": Case(mail(PDF, sender=OWN, to=("ann@example.com",), is_outgoing=True)),
    "spam": Case(mail(PDF, labels=frozenset({"SPAM"}))),
    "delivery_status": Case(
        mail(PDF, headers={"content-type": "multipart/report; report-type=delivery-status"})
    ),
    "empty_file": Case(mail(replace(PDF, size=0))),
    "tracking_pixel": Case(mail(replace(IMAGE, size=43))),
    "shown_image": Case(mail(LOGO)),
    "small_image": Case(mail(replace(IMAGE, size=9_000, disposition=None))),
    "repeated_image": Case(mail(IMAGE), context=MailContext(seen={seen_key(IMAGE): 3})),
    "auto_reply": Case(mail(headers={"auto-submitted": "auto-replied (vacation)"}), part=None),
    "calendar_invitation": Case(mail(ICS)),
}
AGAINST = {
    "bulk_headers": Case(mail(headers=BULK), part=None),
    "sending_service": Case(mail(headers={"x-sg-eid": "1"}), part=None),
    "automatic_sender": Case(mail(sender="no-reply@example.com"), part=None),
    "unsubscribe_words": Case(mail(text="Hier abbestellen"), part=None),
    "marketing_words": Case(mail(subject="Webinaire gratuit"), part=None),
    "nothing_concrete": Case(
        mail(headers=BULK, text="Come and see the new garden with your friends, and stay for the music."),
        part=None,
    ),
    "social_network": Case(mail(sender="hello@mail.linkedin.com"), part=None),
    "notification_words": Case(mail(subject="Su código de verificación"), part=None),
    "technical_part": Case(mail(SIGNATURE)),
}
FOR = {
    "document_type": Case(mail(PDF)),
    "document_filename": Case(mail(replace(IMAGE, filename="Quittung.png"))),
    "document_subject": Case(mail(subject="Ihre Schlussrechnung"), part=None),
    "document_text": Case(mail(text="Veuillez trouver la facture."), part=None),
    "amount": Case(mail(text="Factura: 12,50 EUR"), part=None),
    "electronic_invoice": Case(mail(replace(PDF, filename="factur-x.xml", media_type="text/xml"))),
    "brings_document": Case(mail(PDF), part=None),
    "forwarded_by_colleague": Case(
        mail(sender="ines@northmill.example", subject="WG: was für dich"),
        part=None,
        context=MailContext(own_addresses=frozenset({OWN})),
    ),
    "known_client": Case(
        mail(sender="ann@mail.example.com"),
        part=None,
        context=MailContext(client_domains=frozenset({"example.com"})),
    ),
    "accepted_thread": Case(mail(), part=None, context=MailContext(accepted_threads=frozenset({"t1"}))),
    "allowed_sender": Case(
        mail(), part=None, settings=RuleSettings(allow_senders=frozenset({"ann@example.com"}))
    ),
    "restored_sender": Case(
        mail(), part=None, context=MailContext(restored={"ann@example.com": frozenset({"spam"})})
    ),
}
ALL = {**HARD, **AGAINST, **FOR}


def test_every_rule_has_a_case() -> None:
    assert set(ALL) == set(RULES)
    assert set(HARD) == {rule.name for rule in HARD_RULES}
    assert set(AGAINST) == {rule.name for rule in SOFT_RULES if (rule.weight or 0) < 0}


@pytest.mark.parametrize("name", ALL)
def test_each_rule_fires_with_a_reason(name: str) -> None:
    fired = {each.rule: each for each in ALL[name].verdict().fired}
    assert fired[name].reason
    assert fired[name].weight == (RULES[name].weight or HARD_WEIGHT)


@pytest.mark.parametrize("name", HARD)
def test_a_hard_rule_drops_with_its_reason(name: str) -> None:
    verdict = HARD[name].verdict()
    assert (verdict.decision, verdict.skip_reason) == ("drop", RULES[name].skip_reason)


@pytest.mark.parametrize("name", ALL)
def test_each_rule_can_be_switched_off(name: str) -> None:
    case = ALL[name]
    verdict = case.verdict(settings=replace(case.settings, off=frozenset({name})))
    assert name not in {each.rule for each in verdict.fired}
    if name in HARD:
        assert verdict.decision != "drop"


@pytest.mark.parametrize("name", [*HARD, *AGAINST])
def test_a_rule_that_a_person_reversed_is_silent_for_that_sender_only(name: str) -> None:
    case = ALL[name]
    reversed_for = replace(case.context, restored={case.mail.sender: frozenset({name})})
    assert name not in {each.rule for each in case.verdict(context=reversed_for).fired}
    for_another = replace(case.context, restored={"bob@example.org": frozenset({name})})
    assert name in {each.rule for each in case.verdict(context=for_another).fired}


@pytest.mark.parametrize("name", AGAINST)
def test_a_soft_rule_against_an_item_can_be_outweighed(name: str) -> None:
    case = AGAINST[name]
    heavy = check_rules({"rules": {"weights": {name: -2.1}}})
    assert case.verdict(settings=heavy).decision == "drop"
    if name == "technical_part":  # nothing speaks for a signature
        light = check_rules({"rules": {"weights": {name: -1}}})
        assert case.verdict(settings=light).decision == "ask"
    else:
        allowed = replace(heavy, allow_senders=frozenset({case.mail.sender}))
        verdict = case.verdict(settings=allowed)
        assert name in {each.rule for each in verdict.fired}
        assert verdict.decision == "keep"


@pytest.mark.parametrize("name", FOR)
def test_a_soft_rule_for_an_item_can_be_outweighed(name: str) -> None:
    case = FOR[name]
    alone = replace(case.settings, weights={name: 2.0})
    assert case.verdict(settings=alone).decision == "keep"
    bulk = replace(case, mail=replace(case.mail, headers=BULK))
    verdict = bulk.verdict(settings=replace(case.settings, weights={"bulk_headers": -10.0}))
    assert name in {each.rule for each in verdict.fired}
    is_spared = case.part is not None or name == "brings_document"
    assert verdict.decision == ("ask" if is_spared else "drop")


@pytest.mark.parametrize("name", ["bulk_headers", "sending_service", "automatic_sender", "unsubscribe_words"])
def test_how_a_mail_was_sent_never_drops_it_without_what_it_says(name: str) -> None:
    sent = {**BULK, "x-sg-eid": "1", "feedback-id": "1", "precedence": "bulk", "list-id": "<x.example.com>"}
    robot = mail(IMAGE, LOGO, sender="noreply@example.com", headers=sent, text="Unsubscribe")
    verdict = judge(robot).text
    assert name in {each.rule for each in verdict.fired}
    assert verdict.decision == "ask"


def test_a_soft_drop_has_the_reason_of_its_heaviest_rule() -> None:
    social = mail(sender="noreply@facebookmail.com", headers=BULK, text="Unsubscribe")
    verdict = judge(social).text
    assert (verdict.decision, verdict.skip_reason) == ("drop", "social_notification")
    assert verdict.score == sum(each.weight for each in verdict.fired)
