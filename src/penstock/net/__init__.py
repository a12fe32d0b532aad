"""The network room: outgoing HTTP that cannot be sent astray, and signed webhooks in both directions."""

from penstock.net.delivery import DeliveryResult, deliver
from penstock.net.errors import (
    AddressRefused,
    AnswerRefused,
    DeliveryFailed,
    SignatureInvalid,
    WebhookSecretInvalid,
)
from penstock.net.outbound import check_url, open_client
from penstock.net.retry_after import retry_after
from penstock.net.webhooks import VerifiedMessage, generate_secret, sign, verify

__all__ = [
    "AddressRefused",
    "AnswerRefused",
    "DeliveryFailed",
    "DeliveryResult",
    "SignatureInvalid",
    "VerifiedMessage",
    "WebhookSecretInvalid",
    "check_url",
    "deliver",
    "generate_secret",
    "open_client",
    "retry_after",
    "sign",
    "verify",
]
