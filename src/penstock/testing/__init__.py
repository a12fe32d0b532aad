"""What users need to test their own tasks and documents; the pytest plugin is `penstock.testing.plugin`."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.testing.assertions import assert_enqueued, assert_not_enqueued
    from penstock.testing.binding import bound, pointed_at
    from penstock.testing.clock import Clock
    from penstock.testing.crash import claim_and_crash
    from penstock.testing.databases import Database, cloned
    from penstock.testing.enqueued_tasks import EnqueuedTask, enqueued
    from penstock.testing.hashing_embedder import HashingEmbedder
    from penstock.testing.plugin import Bind
    from penstock.testing.running import run_until_empty
    from penstock.testing.servers import Server, embedded_server, own_server
    from penstock.testing.source_checks import SourceUnderTest, check_source, read_stream
    from penstock.testing.task_results import TaskFailed, TaskResult
    from penstock.testing.template import make_template

__all__ = [
    "Bind",
    "Clock",
    "Database",
    "EnqueuedTask",
    "HashingEmbedder",
    "Server",
    "SourceUnderTest",
    "TaskFailed",
    "TaskResult",
    "assert_enqueued",
    "assert_not_enqueued",
    "bound",
    "check_source",
    "claim_and_crash",
    "cloned",
    "embedded_server",
    "enqueued",
    "make_template",
    "own_server",
    "pointed_at",
    "read_stream",
    "run_until_empty",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "assertions": ["assert_enqueued", "assert_not_enqueued"],
        "binding": ["bound", "pointed_at"],
        "clock": ["Clock"],
        "crash": ["claim_and_crash"],
        "databases": ["Database", "cloned"],
        "enqueued_tasks": ["EnqueuedTask", "enqueued"],
        "hashing_embedder": ["HashingEmbedder"],
        "plugin": ["Bind"],
        "running": ["run_until_empty"],
        "servers": ["Server", "embedded_server", "own_server"],
        "source_checks": ["SourceUnderTest", "check_source", "read_stream"],
        "task_results": ["TaskFailed", "TaskResult"],
        "template": ["make_template"],
    },
)
