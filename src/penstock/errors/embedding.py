"""What can go wrong with an embedding model."""

from __future__ import annotations

from penstock.errors.root import PenstockError


class EmbedderBusy(PenstockError):
    """The embedder asked to be called later, in `retry_after` seconds if it said when; the run waits."""

    def __init__(self, model: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(f"the embedder {model} is busy: {reason}", "Penstock waits and retries")
        self.model = model
        self.reason = reason
        self.retry_after = retry_after
        self.args = (model, reason, retry_after)


class EmbedderFailed(PenstockError):
    """The embedder's answer is invalid, or a local embedder crashed; it is retried."""

    def __init__(self, model: str, reason: str, remedy: str = "Penstock retries automatically") -> None:
        super().__init__(f"the embedder {model} failed: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)


class EmbedderUnavailable(EmbedderFailed):
    """The embedder does not answer, or answers with 5xx; documents wait and use no attempt.

    `retry_after` is set if it said for how many seconds.
    """

    def __init__(self, model: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(model, reason)
        self.message = f"the embedder {model} is unavailable: {reason}"
        self.retry_after = retry_after
        self.args = (model, reason, retry_after)


class EmbedderOutOfMemory(EmbedderFailed):
    """A local model needs more memory than is available; it is retried."""

    def __init__(self, model: str) -> None:
        super().__init__(
            model,
            "it ran out of memory",
            "Give the worker more memory, or lower PENSTOCK_INGEST_CONCURRENCY, then retry the document",
        )
        self.args = (model,)


class EmbedderRefused(PenstockError):
    """The embedder rejects the request permanently: wrong key, unknown model, text too long."""

    def __init__(self, model: str, reason: str, remedy: str) -> None:
        super().__init__(f"the embedder {model} rejected the request: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)


class ModelInstallFailed(PenstockError):
    """A model could not be installed; one that was already installed is not changed."""

    def __init__(self, model: str, reason: str, remedy: str) -> None:
        super().__init__(f"the model {model} was not installed: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)
