"""What can go wrong with a reranker."""

from __future__ import annotations

from penstock.errors.root import PenstockError


class RerankerFailed(PenstockError):
    """The reranker does not answer, or not with a score for each passage.

    The search is answered without it.
    """

    def __init__(self, model: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(
            f"the reranker {model} failed: {reason}", "Check PENSTOCK_RERANKER, its key and its address"
        )
        self.model = model
        self.reason = reason
        self.retry_after = retry_after
        self.args = (model, reason, retry_after)
