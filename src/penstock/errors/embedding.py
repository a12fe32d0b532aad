"""What can go wrong with an embedding model."""

from __future__ import annotations

from penstock.errors.root import PenstockError


class EmbedderBusy(PenstockError):
    """The embedder asked us to call again later, in `retry_after` seconds if it said when."""

    def __init__(self, model: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(f"the embedder {model} is busy: {reason}", "Penstock waits and retries")
        self.model = model
        self.reason = reason
        self.retry_after = retry_after
        self.args = (model, reason, retry_after)


class EmbedderFailed(PenstockError):
    """The embedder crashed or returned an invalid response; a retry may help."""

    def __init__(self, model: str, reason: str, remedy: str = "Penstock retries automatically") -> None:
        super().__init__(f"the embedder {model} failed: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)


class EmbedderUnavailable(EmbedderFailed):
    """The embedder does not respond, or says it is unavailable, for `retry_after` seconds if it said so."""

    def __init__(self, model: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(model, reason)
        self.message = f"the embedder {model} is unavailable: {reason}"
        self.retry_after = retry_after
        self.args = (model, reason, retry_after)


class EmbedderOutOfMemory(EmbedderFailed):
    """A local model needs more memory than is available."""

    def __init__(self, model: str) -> None:
        super().__init__(
            model,
            "it ran out of memory",
            "Give the worker more memory, or lower PENSTOCK_INGEST_CONCURRENCY, then retry the document",
        )
        self.args = (model,)


class EmbedderRefused(PenstockError):
    """The embedder rejects this for good: a wrong key, an unknown model, a text that is too long."""

    def __init__(self, model: str, reason: str, remedy: str) -> None:
        super().__init__(f"the embedder {model} rejected the request: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)


class ModelInstallFailed(PenstockError):
    """A model could not be installed; a previously installed one is unchanged."""

    def __init__(self, model: str, reason: str, remedy: str) -> None:
        super().__init__(f"the model {model} was not installed: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)
