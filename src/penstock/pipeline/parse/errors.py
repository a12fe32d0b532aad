"""Temporary errors of parsing."""

from __future__ import annotations

from penstock.errors import PenstockError


class ParserUnavailable(PenstockError):
    """The parsing service is unavailable or busy, or rejects us.

    `retry_after` is set if it said when to try again.
    """

    def __init__(self, service: str, reason: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(
            f"the parsing service {service} cannot be used: {reason}",
            remedy or "Penstock retries automatically",
        )
        self.service = service
        self.reason = reason
        self.retry_after = retry_after
        self.args = (service, reason, remedy, retry_after)
