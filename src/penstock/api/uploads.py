"""Documents come in over HTTP: a form or plain bytes, streamed, taken in once, and answered."""

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
from penstock.api.identity import product_of
from penstock.api.json_values import checked_text, parse_model, parse_object
from penstock.api.parameters import Document, Wait, Writer
from penstock.api.receiving import Sent, receive
from penstock.errors import InvalidArgument
from penstock.intake import Intake, PipelineConfig, Taken
from penstock.intake.documents import ENDED
from penstock.intake.rows import Document as DocumentRow
from penstock.model import DocumentId, IngestionStatus

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
                        "project": {"type": "string", "description": "Its slug; `default` without it."},
                        "external_id": {"type": "string", "description": "What you call the document."},
                        "metadata": {"type": "string", "description": "A JSON object of your own."},
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
        "description": "Taken in.",
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
    """What became of an upload; `document` is there when it was waited for and settled in time."""

    model_config = ConfigDict(frozen=True)

    ingestion_id: UUID
    document_id: UUID
    created: bool
    skipped: bool
    status: IngestionStatus
    document: DocumentRow | None = None


_UPLOADED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"model": Uploaded, "description": "Taken in and settled within `wait`."}
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
    """Take a document in.

    The file is streamed, so it is never held whole. The same content again is the same document (`created`
    false); when it is indexed already with today's pipeline it is `skipped` at once.
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
    """The same under an older path, with the older names in the answer."""
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
    """Send changed content of a document, which keeps its id.

    The body is a form with the part `file`, or the bytes themselves. Searches find the old version until the
    new one is indexed.
    """

    async def put(intake: Intake, caller: Caller, sent: Sent) -> Taken:
        return await intake.replace(
            caller.tenant_id,
            DocumentId(document_id),
            sent.content,
            filename=sent.filename,
            declared_type=sent.declared_type,
            uploaded_by=f"key:{caller.key_id}",
        )

    return await _answered(request, caller, wait, put)


async def _take_in(intake: Intake, caller: Caller, sent: Sent) -> Taken:
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
        uploaded_by=f"key:{caller.key_id}",
        metadata=parse_object(fields.get("metadata"), "metadata"),
        external_id=checked_text(fields.get("external_id"), "external_id", 512),
        pipeline_config=parse_model(PipelineConfig, fields.get("pipeline_config"), "pipeline_config"),
    )


async def _answered(
    request: Request,
    caller: Caller,
    wait: float | None,
    take: Callable[[Intake, Caller, Sent], Awaitable[Taken]],
    *,
    older_names: bool = False,
) -> Response:
    """Read what is sent, take it in once, and say what became of it."""
    product = product_of(request)
    limit = caller.max_upload_bytes or product.settings.max_upload_bytes
    key = key_of(request)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(Once(request, caller, key)) if key is not None else None
        sent = await stack.enter_async_context(
            receive(request, caller.tenant_id, limit, digest=key is not None)
        )
        if first is not None and first.kept is not None:
            return replayed_upload(first.kept, sent.digest)
        taken = await take(product.intake, caller, sent)
        body = taken.model_dump(mode="json", exclude={"task_id"})
        if older_names:
            body = {
                "ingestion/id": body["ingestion_id"],
                "document/id": body["document_id"],
                "created?": body["created"],
            }
        if first is not None:
            await first.keep(202, {"sha256": sent.digest, "reply": body})
    if wait:
        document = await product.documents.wait(caller.tenant_id, taken.document_id, wait)
        ingestion = await product.documents.ingestion(caller.tenant_id, taken.ingestion_id)
        body["status"] = ingestion.status
        if document.status in ENDED:
            return JSONResponse(body | {"document": document.model_dump(mode="json")}, 200)
    return JSONResponse(body, 202)
