"""Decides about a mail: hard rules first, then the sum of the soft ones, with every reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.sources.mail.message import Mail
from penstock.sources.mail.rules.candidate import Candidate
from penstock.sources.mail.rules.context import NOTHING_KNOWN, MailContext
from penstock.sources.mail.rules.hard import HARD_RULES
from penstock.sources.mail.rules.mail_view import MailView
from penstock.sources.mail.rules.settings import DEFAULT_SETTINGS, RuleSettings
from penstock.sources.mail.rules.soft import SOFT_RULES
from penstock.sources.mail.verdict import Fired, Verdict

RULES_VERSION: Final = 2
"""Raised whenever a rule, a weight or a word changes what is decided."""
KEEP_AT: Final = 2.0
DROP_AT: Final = -2.0
HARD_WEIGHT: Final = -10.0
"""The score of an item that a hard rule dropped."""
RULES: Final = {rule.name: rule for rule in (*HARD_RULES, *SOFT_RULES)}


@dataclass(frozen=True, slots=True)
class MailVerdicts:
    """`attachments` by their `part`; `text` is about the mail's own text."""

    text: Verdict
    attachments: Mapping[str, Verdict]


def judge(
    mail: Mail, context: MailContext = NOTHING_KNOWN, settings: RuleSettings = DEFAULT_SETTINGS
) -> MailVerdicts:
    """Linear in the mail, and it reads at most 7,000 characters of the text."""
    view = MailView.of(mail, context, settings)
    attachments = zip(mail.attachments, view.kinds, strict=False)  # as many as there are kinds
    return MailVerdicts(
        _verdict(Candidate.of(view, None, None)),
        {each.part: _verdict(Candidate.of(view, each, kind)) for each, kind in attachments},
    )


def _verdict(item: Candidate) -> Verdict:
    settings, context = item.view.settings, item.view.context
    silent = settings.off | context.restored.get(item.view.sender, frozenset())
    for rule in HARD_RULES:
        if rule.name not in silent and (reason := rule.applies(item)):
            return Verdict(
                decision="drop",
                score=HARD_WEIGHT,
                skip_reason=rule.skip_reason,
                fired=(Fired(rule.name, HARD_WEIGHT, reason),),
                rules_version=RULES_VERSION,
            )
    fired = tuple(
        Fired(rule.name, settings.weights.get(rule.name, rule.weight or 0.0), reason)
        for rule in SOFT_RULES
        if rule.name not in silent and (reason := rule.applies(item))
    )
    score = round(sum(each.weight for each in fired), 3)
    if score <= DROP_AT and not item.may_be_document:
        heaviest = min(fired, key=lambda each: each.weight)
        return Verdict(
            decision="drop",
            score=score,
            skip_reason=RULES[heaviest.rule].skip_reason,
            fired=fired,
            rules_version=RULES_VERSION,
        )
    return Verdict(
        decision="keep" if score >= KEEP_AT else "ask",
        score=score,
        skip_reason=None,
        fired=fired,
        rules_version=RULES_VERSION,
    )
