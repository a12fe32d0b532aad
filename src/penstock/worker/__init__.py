"""The worker: one duty per module; each service starts and stops independently."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.worker.context import Context
    from penstock.worker.options import WorkerOptions
    from penstock.worker.worker import Worker

__all__ = ["Context", "Worker", "WorkerOptions"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "context": ["Context"],
        "options": ["WorkerOptions"],
        "worker": ["Worker"],
    },
)
