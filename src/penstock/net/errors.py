"""Errors of outgoing requests and webhooks."""

from __future__ import annotations

from penstock.errors import PenstockError


class AddressRefused(PenstockError):
    """A URL points to an address that outgoing requests may not reach; `host` is the one in the URL."""

    def __init__(self, host: str, reason: str, remedy: str = "Use a public http or https address") -> None:
        super().__init__(f"Requests to {host or 'no host'} are not allowed: {reason}", remedy)
        self.host = host
        self.reason = reason
        self.args = (host, reason, remedy)


class ResponseRefused(PenstockError):
    """A response is larger than its limit, or compressed so that its size cannot be known."""

    def __init__(self, host: str, reason: str) -> None:
        super().__init__(f"The response of {host} was not read: {reason}", "Request less data at a time")
        self.host = host
        self.reason = reason
        self.args = (host, reason)


class SignatureInvalid(PenstockError):
    """The signature of a webhook is invalid; `reason` says why."""

    def __init__(
        self, reason: str, remedy: str = "Sign id, timestamp and raw body as Standard Webhooks specifies"
    ) -> None:
        super().__init__(f"The webhook's signature is not valid: {reason}", remedy)
        self.reason = reason
        self.args = (reason, remedy)


class WebhookSecretInvalid(PenstockError):
    """A webhook secret has the wrong format."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The webhook secret is not valid: {reason}",
            "Use whsec_ followed by 24 to 64 random bytes in base64",
        )
        self.reason = reason
        self.args = (reason,)


class DeliveryFailed(PenstockError):
    """A webhook could not be delivered; `retry_after` is set if the receiver sent it."""

    def __init__(self, host: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(
            f"The webhook was not delivered to {host}: {reason}", "Penstock retries automatically"
        )
        self.host = host
        self.reason = reason
        self.retry_after = retry_after
        self.args = (host, reason, retry_after)
