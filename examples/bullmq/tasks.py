"""The other side of the bridge: the four queues' jobs as tasks, with the retries that BullMQ was told."""

from dataclasses import dataclass

from penstock import Context, Exponential, Penstock

app = Penstock()


def bullmq_backoff(seconds: float) -> Exponential:
    """BullMQ's {type: "exponential", delay: seconds * 1000}: doubles each time, without jitter."""
    return Exponential(base=seconds, factor=2, jitter=0)


@dataclass
class Document:
    documentId: str  # noqa: N815  # as the producers write it
    projectId: str | None = None  # noqa: N815


@app.task(max_attempts=3, retry=bullmq_backoff(1), on_duplicate="replace")
async def ingest_document(document: Document, ctx: Context) -> None:
    print(f"ingest {document.documentId}, run {ctx.attempt}")


@app.task(max_attempts=2, retry=bullmq_backoff(5))
async def sync_connector(connector: dict[str, object]) -> None:
    print(f"sync {connector['connectorId']}")


@app.task(max_attempts=3, retry=bullmq_backoff(1))
async def delete_document(document: Document) -> None:
    print(f"delete {document.documentId}")


@app.task(max_attempts=1)
async def reindex_project(project: dict[str, object]) -> None:
    print(f"reindex {project['projectId']}")
