"""What can go wrong with a document on its way to the index."""

from __future__ import annotations

from functools import partial

from penstock.errors.root import PenstockError


class DocumentRejected(PenstockError):
    """No text can be extracted from a document; `code` is a fixed reason, and retrying does not help."""

    def __init__(self, code: str, reason: str, remedy: str = "") -> None:
        super().__init__(f"{code}: {reason}", remedy)
        self.code = code
        self.reason = reason
        self.args = (code, reason, remedy)


class RunTooLong(PenstockError):
    """A run of a document, or reading one item of a source, took longer than `PENSTOCK_RUN_SECONDS`.

    It is tried again.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the run took longer than {seconds:g} s and was stopped",
            "Raise PENSTOCK_RUN_SECONDS, or split the file",
        )
        self.seconds = seconds
        self.args = (seconds,)


class SpoolFull(PenstockError):
    """The unfinished uploads of a tenant, or of the process, have reached their limit.

    The API answers 429 for a tenant's and 503 for the process's.
    """

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

    def __reduce__(self) -> tuple[object, ...]:
        return partial(SpoolFull, of_tenant=self.of_tenant), self.args


class IndexUnavailable(PenstockError):
    """The index outside the database does not answer, or answers with an error; a retry may help."""

    def __init__(self, index: str, reason: str, remedy: str | None = None) -> None:
        super().__init__(
            f"the index {index} failed: {reason}",
            remedy or "Check that it is running and that PENSTOCK_QDRANT_URL points to it",
        )
        self.index = index
        self.reason = reason
        self.args = (index, reason, remedy)
