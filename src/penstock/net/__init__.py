"""Outgoing HTTP with protection against private addresses (SSRF)."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.net.errors import (
        AddressRefused,
        DeliveryFailed,
        ResponseRefused,
        SignatureInvalid,
        WebhookSecretInvalid,
    )
    from penstock.net.outbound import check_url, open_client
    from penstock.net.waiting import retry_after

__all__ = [
    "AddressRefused",
    "DeliveryFailed",
    "ResponseRefused",
    "SignatureInvalid",
    "WebhookSecretInvalid",
    "check_url",
    "open_client",
    "retry_after",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "errors": [
            "AddressRefused",
            "ResponseRefused",
            "DeliveryFailed",
            "SignatureInvalid",
            "WebhookSecretInvalid",
        ],
        "outbound": ["check_url", "open_client"],
        "waiting": ["retry_after"],
    },
)
