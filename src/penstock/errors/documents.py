"""What can go wrong with a document on its way to the index."""

from __future__ import annotations

from penstock.errors.root import PenstockError


class DocumentRejected(PenstockError):
    """A document cannot be turned into text; `code` is a fixed reason, and a retry would not help."""

    def __init__(self, code: str, reason: str, remedy: str = "") -> None:
        super().__init__(f"{code}: {reason}", remedy)
        self.code = code
        self.reason = reason
        self.args = (code, reason, remedy)


class SpoolFull(PenstockError):
    """Uploads in progress already hold the maximum number of bytes, for this tenant or the whole process."""

    def __init__(self, limit: int, setting: str, *, of_tenant: bool) -> None:
        whose = "This tenant's uploads in progress" if of_tenant else "Uploads in progress in this process"
        super().__init__(
            f"{whose} would exceed {limit} bytes with this one",
            f"Try again when some have finished, or raise {setting}",
        )
        self.limit = limit
        self.setting = setting
        self.of_tenant = of_tenant
        self.args = (limit, setting)


class IndexUnavailable(PenstockError):
    """The external index does not respond, or responds with an error; a retry may help."""

    def __init__(self, index: str, reason: str) -> None:
        super().__init__(
            f"the index {index} failed: {reason}",
            "Check that it is running and that PENSTOCK_QDRANT_URL points to it",
        )
        self.index = index
        self.reason = reason
        self.args = (index, reason)
