"""What can go wrong between us and the network, each with what to do about it."""

from __future__ import annotations

from penstock.errors import PenstockError


class AddressRefused(PenstockError):
    """A URL leads where outgoing requests do not go; `host` is the one in the URL."""

    def __init__(self, host: str, reason: str, remedy: str = "Use a public http or https address") -> None:
        super().__init__(f"No request goes to {host or 'an address without a host'}: {reason}", remedy)
        self.host = host
        self.reason = reason
        self.args = (host, reason, remedy)


class AnswerRefused(PenstockError):
    """An answer is over its size limit, or encoded so that its size cannot be known."""

    def __init__(self, host: str, reason: str) -> None:
        super().__init__(
            f"The answer of {host} was not read: {reason}", "Ask the other side for less at a time"
        )
        self.host = host
        self.reason = reason
        self.args = (host, reason)


class SignatureInvalid(PenstockError):
    """A webhook's signature does not prove who sent it; `reason` says in which way."""

    def __init__(
        self, reason: str, remedy: str = "Sign id, timestamp and raw body as Standard Webhooks says"
    ) -> None:
        super().__init__(f"The webhook's signature is not valid: {reason}", remedy)
        self.reason = reason
        self.args = (reason, remedy)


class WebhookSecretInvalid(PenstockError):
    """A webhook secret is not one."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The webhook secret is not valid: {reason}", "Use whsec_ and 24 to 64 random bytes in base64"
        )
        self.reason = reason
        self.args = (reason,)


class DeliveryFailed(PenstockError):
    """A webhook did not arrive this time; `retry_after` seconds if the receiver said so."""

    def __init__(self, host: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(
            f"The webhook was not delivered to {host}: {reason}", "Penstock tries again by itself"
        )
        self.host = host
        self.reason = reason
        self.retry_after = retry_after
        self.args = (host, reason, retry_after)
