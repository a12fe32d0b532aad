"""Uploads documents over HTTP: a form or plain bytes, streamed, stored once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict

from penstock.accounts import Caller
from penstock.api.guarded import StreamedRoute
from penstock.api.idempotency import Once, key_of, replayed_upload
from penstock.api.identity import engine_of
from penstock.api.json_values import checked_text, parse_model, parse_object
from penstock.api.parameters import Document, Wait, Writer
from penstock.api.receiving import ReceivedUpload, receive
from penstock.documents.documents import ENDED
from penstock.documents.file_identity import LONGEST_EXTERNAL_ID
from penstock.documents.intake import Intake
from penstock.documents.pipeline_config import PipelineConfig
from penstock.documents.rows import Document as DocumentRow
from penstock.documents.rows import Taken
from penstock.errors import InvalidArgument
from penstock.model import DocumentId, IngestionStatus
from penstock.model.rows import plain

router = APIRouter(route_class=StreamedRoute, tags=["Documents"])

_KNOWN_FIELDS: Final = frozenset({"project", "external_id", "metadata", "pipeline_config"})
_FILE: Final = {"type": "string", "format": "binary", "description": "The document."}
_FORM: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": _FILE,
                        "project": {
                            "type": "string",
                            "description": ("The project's slug; default: `default`."),
                        },
                        "external_id": {"type": "string", "description": "Your own id for the document."},
                        "metadata": {
                            "type": "string",
                            "description": ("A JSON object with your own metadata."),
                        },
                        "pipeline_config": {
                            "type": "string",
                            "description": "A JSON object: chunking, parser, language.",
                        },
                    },
                }
            }
        },
    }
}
_CONTENT: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "required": ["file"], "properties": {"file": _FILE}}
            },
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_SEEDS_ANSWER: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "Accepted.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["ingestion/id", "document/id", "created?"],
                    "properties": {
                        "ingestion/id": {"type": "string", "format": "uuid"},
                        "document/id": {"type": "string", "format": "uuid"},
                        "created?": {"type": "boolean"},
                    },
                }
            }
        },
    }
}


class Uploaded(BaseModel):
    """The result of an upload; `document` is set if you waited for it and it finished in time."""

    model_config = ConfigDict(frozen=True)

    ingestion_id: UUID
    document_id: UUID
    created: bool
    skipped: bool
    status: IngestionStatus
    document: DocumentRow | None = None


_UPLOADED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"model": Uploaded, "description": "Accepted, and finished within `wait`."}
}


@router.post(
    "/v1/documents/upload",
    status_code=202,
    response_model=Uploaded,
    responses=_UPLOADED,
    openapi_extra=_FORM,
    operation_id="uploadDocument",
)
async def upload(request: Request, caller: Writer, wait: Wait = None) -> Response:
    """Upload a document.

    The file is streamed, never held in memory as a whole. The same content again is the same document
    (`created` false); if it is already indexed by the current pipeline, it is `skipped` at once.
    """
    return await _answered(request, caller, wait, _take_in)


@router.post(
    "/document/new/upload",
    status_code=202,
    responses=_SEEDS_ANSWER,
    openapi_extra=_FORM,
    operation_id="uploadNewDocument",
)
async def upload_as_before(request: Request, caller: Writer) -> Response:
    """Upload a document under an older path, with the older names in the response."""
    return await _answered(request, caller, None, _take_in, older_names=True)


@router.put(
    "/v1/documents/{document_id}/content",
    status_code=202,
    response_model=Uploaded,
    responses=_UPLOADED,
    openapi_extra=_CONTENT,
    operation_id="replaceContent",
)
async def replace(request: Request, caller: Writer, document_id: Document, wait: Wait = None) -> Response:
    """Replace a document's content; it keeps its id.

    The body is a form with the part `file`, or the bytes themselves. Searches find the old version until the
    new one is indexed.
    """

    async def put(intake: Intake, caller: Caller, sent: ReceivedUpload) -> Taken:
        return await intake.replace(
            caller.tenant_id,
            DocumentId(document_id),
            sent.content,
            filename=sent.filename,
            declared_type=sent.declared_type,
            uploaded_by=caller.signature,
        )

    return await _answered(request, caller, wait, put)


async def _take_in(intake: Intake, caller: Caller, sent: ReceivedUpload) -> Taken:
    fields = sent.fields
    if unknown := fields.keys() - _KNOWN_FIELDS:
        name = min(unknown)
        raise InvalidArgument(f"there is no field {name!r}", name, f"Use {', '.join(sorted(_KNOWN_FIELDS))}")
    return await intake.take_in(
        caller.tenant_id,
        sent.content,
        project=checked_text(fields.get("project"), "project", 63) or "default",
        filename=sent.filename,
        declared_type=sent.declared_type,
        uploaded_by=caller.signature,
        metadata=parse_object(fields.get("metadata"), "metadata"),
        external_id=checked_text(fields.get("external_id"), "external_id", LONGEST_EXTERNAL_ID),
        pipeline_config=parse_model(PipelineConfig, fields.get("pipeline_config"), "pipeline_config"),
    )


async def _answered(
    request: Request,
    caller: Caller,
    wait: float | None,
    take: Callable[[Intake, Caller, ReceivedUpload], Awaitable[Taken]],
    *,
    older_names: bool = False,
) -> Response:
    """Receive the body, store it once, and build the response."""
    engine = engine_of(request)
    limit = caller.max_upload_bytes or engine.settings.max_upload_bytes
    key = key_of(request)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(Once(request, caller, key)) if key is not None else None
        sent = await stack.enter_async_context(
            receive(request, caller.tenant_id, limit, digest=key is not None)
        )
        if first is not None and first.kept is not None:
            return replayed_upload(first.kept, sent.digest)
        taken = await take(engine.intake, caller, sent)
        body = plain(taken, without={"task_id"})
        if older_names:
            body = {
                "ingestion/id": body["ingestion_id"],
                "document/id": body["document_id"],
                "created?": body["created"],
            }
        if first is not None:
            await first.keep(202, {"sha256": sent.digest, "reply": body})
    if wait:
        document = await engine.documents.wait(caller.tenant_id, taken.document_id, wait)
        ingestion = await engine.documents.ingestion(caller.tenant_id, taken.ingestion_id)
        body["status"] = ingestion.status
        if document.status in ENDED:
            return JSONResponse(body | {"document": plain(document)}, 200)
    return JSONResponse(body, 202)
