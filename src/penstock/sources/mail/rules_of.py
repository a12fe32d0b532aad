"""What decides which attachments of a mail become documents: the rules with the source's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from penstock.sources.mail.message import Mail
from penstock.sources.mail.rules.check import check_rules
from penstock.sources.mail.rules.context import MailContext
from penstock.sources.mail.rules.judge import RULES_VERSION, MailVerdicts, judge
from penstock.sources.mail.rules.settings import RuleSettings
from penstock.sources.mail.verdict import Fired, Verdict


def _keep(name: str, reason: str) -> Verdict:
    return Verdict(
        decision="keep",
        score=0.0,
        skip_reason=None,
        fired=(Fired(name, 0.0, reason),),
        rules_version=RULES_VERSION,
    )


RESTORED: Final = _keep("restored", "a person restored it")
KEPT: Final = _keep("kept_before", "it is a document already")


class MailRules(Protocol):
    """Cheap and without a network: it is asked about every mail, on the event loop."""

    def judge(self, mail: Mail, context: MailContext) -> MailVerdicts:
        """What to do with each attachment, and with the mail's own text if the source keeps texts."""


@dataclass(frozen=True, slots=True)
class SourceRules:
    """The rules of penstock.sources.mail.rules, as a source has set them."""

    settings: RuleSettings

    def judge(self, mail: Mail, context: MailContext) -> MailVerdicts:
        return judge(mail, context, self.settings)


def rules_for(config: Mapping[str, Any]) -> MailRules:
    """The rules of a source, by its configuration."""
    return SourceRules(check_rules(config))
