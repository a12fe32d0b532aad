"""What keeps a file from being parsed now but may not keep it tomorrow."""

from __future__ import annotations

from penstock.errors import PenstockError


class ParserUnavailable(PenstockError):
    """The parsing service is away, busy or refuses us; `retry_after` seconds if it said so."""

    def __init__(self, service: str, reason: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(
            f"the parsing service {service} cannot be used: {reason}",
            remedy or "Penstock tries again by itself",
        )
        self.service = service
        self.reason = reason
        self.retry_after = retry_after
        self.args = (service, reason, remedy, retry_after)
