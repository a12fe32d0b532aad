"""The worker: one duty a file; each service starts and stops alone."""

from penstock.worker.context import Context
from penstock.worker.worker import Worker, WorkerOptions

__all__ = ["Context", "Worker", "WorkerOptions"]
