"""Takes documents in, whatever their origin, and looks after them."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.intake.blobs import Blobs
    from penstock.intake.documents import Documents
    from penstock.intake.intake import Intake
    from penstock.intake.pipeline_config import Chunking, PipelineConfig
    from penstock.intake.rows import Content, Document, Estimate, Event, Explanation, Ingestion, Page, Taken
    from penstock.intake.webhook_sources import WebhookSources

__all__ = [
    "Blobs",
    "Chunking",
    "Content",
    "Document",
    "Documents",
    "Estimate",
    "Event",
    "Explanation",
    "Ingestion",
    "Intake",
    "Page",
    "PipelineConfig",
    "Taken",
    "WebhookSources",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "blobs": ["Blobs"],
        "documents": ["Documents"],
        "intake": ["Intake"],
        "pipeline_config": ["Chunking", "PipelineConfig"],
        "rows": ["Content", "Document", "Estimate", "Event", "Explanation", "Ingestion", "Page", "Taken"],
        "webhook_sources": ["WebhookSources"],
    },
)
