"""The network room: outgoing HTTP that cannot be sent astray, and signed webhooks in both directions."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.net.delivery import DeliveryResult, deliver
    from penstock.net.errors import (
        AddressRefused,
        AnswerRefused,
        DeliveryFailed,
        SignatureInvalid,
        WebhookSecretInvalid,
    )
    from penstock.net.outbound import check_url, open_client
    from penstock.net.waiting import retry_after
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

__getattr__, __dir__ = lazy(
    __name__,
    {
        "delivery": ["DeliveryResult", "deliver"],
        "errors": [
            "AddressRefused",
            "AnswerRefused",
            "DeliveryFailed",
            "SignatureInvalid",
            "WebhookSecretInvalid",
        ],
        "outbound": ["check_url", "open_client"],
        "waiting": ["retry_after"],
        "webhooks": ["VerifiedMessage", "generate_secret", "sign", "verify"],
    },
)
