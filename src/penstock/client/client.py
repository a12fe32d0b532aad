"""The typed client of Penstock's HTTP API."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote
from uuid import UUID, uuid4

from penstock.client.connection import ApiConnection, problem_of
from penstock.client.results import (
    Chunk,
    Deletion,
    DeletionRequested,
    Document,
    Estimate,
    Event,
    Ingestion,
    Page,
    Project,
    ProjectDeleted,
    Queued,
    Retried,
    SourceSecret,
    Uploaded,
    Usage,
)
from penstock.client.search_results import SearchAnswer
from penstock.client.source_results import Decision, RuleList, Source, SourceDetails

_LONGEST_POLL = 30.0
_Id = UUID | str


class Client:
    """A client with one tenant's key: `async with Client("http://127.0.0.1:8000", "pk_…") as client: …`."""

    def __init__(self, base_url: str, api_key: str, *, attempts: int = 4, timeout: float = 60.0) -> None:
        self._connection = ApiConnection(base_url, api_key, attempts=attempts, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections to the API."""
        await self._connection.close()

    async def upload(
        self,
        content: Path | bytes,
        *,
        filename: str | None = None,
        content_type: str | None = None,
        project: str | None = None,
        external_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        pipeline_config: Mapping[str, Any] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
    ) -> Uploaded:
        """Upload a document; with `wait`, wait up to this many seconds until it is indexed, skipped or
        failed."""
        fields = {
            "project": project,
            "external_id": external_id,
            "metadata": None if metadata is None else json.dumps(dict(metadata)),
            "pipeline_config": None if pipeline_config is None else json.dumps(dict(pipeline_config)),
        }
        data = {name: value for name, value in fields.items() if value is not None}
        with _Part(content, filename, content_type) as part:
            answer = await self._connection.call(
                "POST",
                "/v1/documents/upload",
                params={"wait": wait},
                body=lambda: {"data": data, "files": part.rewound()},
                idempotency_key=idempotency_key or str(uuid4()),
                timeout=None if wait is None else wait + 60.0,
            )
        return Uploaded.model_validate(answer)

    async def replace(
        self,
        document_id: _Id,
        content: Path | bytes,
        *,
        filename: str | None = None,
        content_type: str | None = None,
        wait: float | None = None,
    ) -> Uploaded:
        """Replace a document's content; it keeps its id."""
        with _Part(content, filename, content_type) as part:
            answer = await self._connection.call(
                "PUT",
                f"/v1/documents/{_in_path(document_id)}/content",
                params={"wait": wait},
                body=lambda: {"files": part.rewound()},
                idempotency_key=str(uuid4()),
                timeout=None if wait is None else wait + 60.0,
            )
        return Uploaded.model_validate(answer)

    async def documents(
        self,
        *,
        project: str | None = None,
        status: str | None = None,
        source_id: _Id | None = None,
        mime_type: str | None = None,
        title: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[Document]:
        """One page of the documents, newest first."""
        asked = {
            "project": project,
            "status": status,
            "source_id": None if source_id is None else str(source_id),
            "mime_type": mime_type,
            "title": title,
            "cursor": cursor,
            "limit": limit,
        }
        answer = await self._connection.call("GET", "/v1/documents", params=asked)
        return Page[Document].model_validate(answer)

    async def document(self, document_id: _Id, *, wait: float | None = None) -> Document:
        """One document; with `wait`, once it is indexed, skipped or failed, or after this many seconds."""
        answer = await self._connection.call(
            "GET",
            f"/v1/documents/{_in_path(document_id)}",
            params={"wait": wait},
            timeout=None if wait is None else wait + 60.0,
        )
        return Document.model_validate(answer)

    async def ingestion(self, ingestion_id: _Id) -> Ingestion:
        """The status of one request to process a document."""
        answer = await self._connection.call("GET", f"/v1/ingestions/{_in_path(ingestion_id)}")
        return Ingestion.model_validate(answer)

    async def wait(self, document_id: _Id, seconds: float = 300.0) -> Document:
        """The document once it is indexed, skipped or failed; TimeoutError if that takes longer."""
        deadline = time.monotonic() + seconds
        while True:
            left = max(0.0, deadline - time.monotonic())
            document = await self.document(document_id, wait=round(min(left, _LONGEST_POLL), 3))
            if document.ended:
                return document
            if time.monotonic() >= deadline:
                raise TimeoutError(f"document {document_id} is still {document.status} after {seconds:g} s")

    async def chunks(
        self, document_id: _Id, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[Chunk]:
        """One page of a document's chunks, in their order."""
        path = f"/v1/documents/{_in_path(document_id)}/chunks"
        answer = await self._connection.call("GET", path, params={"cursor": cursor, "limit": limit})
        return Page[Chunk].model_validate(answer)

    async def events(
        self, document_id: _Id, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[Event]:
        """The document's timeline, oldest first."""
        path = f"/v1/documents/{_in_path(document_id)}/events"
        answer = await self._connection.call("GET", path, params={"cursor": cursor, "limit": limit})
        return Page[Event].model_validate(answer)

    async def content(self, document_id: _Id) -> AsyncIterator[bytes]:
        """The original, piece by piece: `async for piece in client.content(id): …`."""
        async with self._connection.stream(f"/v1/documents/{_in_path(document_id)}/content") as answer:
            if not answer.is_success:
                await answer.aread()
                raise problem_of(answer)
            async for piece in answer.aiter_bytes():
                yield piece

    async def explain(self, document_id: _Id) -> dict[str, Any]:
        """What the document waits for, in the API's words."""
        answer = await self._connection.call("GET", f"/v1/documents/{_in_path(document_id)}/explain")
        return dict(answer)

    async def retry(self, document_id: _Id) -> Queued:
        """Process a failed document again."""
        path = f"/v1/documents/{_in_path(document_id)}/retry"
        return Queued.model_validate(await self._connection.call("POST", path, idempotency_key=str(uuid4())))

    async def retry_all(
        self,
        *,
        status: str = "failed",
        reason: str | None = None,
        project: str | None = None,
        dry_run: bool = False,
    ) -> Retried:
        """Retry all failed (or skipped) documents, or those with one reason or in one project."""
        given = {"status": status, "reason": reason, "project": project, "dry_run": dry_run}
        body = {name: value for name, value in given.items() if value is not None}
        answer = await self._connection.call(
            "POST", "/v1/documents/retry", body=lambda: {"json": body}, idempotency_key=str(uuid4())
        )
        return Retried.model_validate(answer)

    async def reindex(self, document_id: _Id) -> Queued:
        """Index a document again."""
        path = f"/v1/documents/{_in_path(document_id)}/reindex"
        return Queued.model_validate(await self._connection.call("POST", path, idempotency_key=str(uuid4())))

    async def delete(self, document_id: _Id) -> None:
        """Delete a document; no search finds it afterwards."""
        await self._connection.call("DELETE", f"/v1/documents/{_in_path(document_id)}")

    async def search(self, /, query: str, **options: Any) -> SearchAnswer:
        """Search; the options are those of POST /v1/search: project, limit, filters and so on."""
        answer = await self._connection.call("POST", "/v1/search", json={"query": query, **options})
        return SearchAnswer.model_validate(answer)

    async def projects(self) -> list[Project]:
        """All projects of the tenant."""
        answer = await self._connection.call("GET", "/v1/projects")
        return [Project.model_validate(row) for row in answer["items"]]

    async def project(self, slug: str) -> Project:
        """One project."""
        return Project.model_validate(await self._connection.call("GET", f"/v1/projects/{_in_path(slug)}"))

    async def create_project(self, /, slug: str, **settings: Any) -> Project:
        """Create a project; the settings are those of POST /v1/projects."""
        answer = await self._connection.call(
            "POST", "/v1/projects", json={"slug": slug, **settings}, idempotency_key=str(uuid4())
        )
        return Project.model_validate(answer)

    async def set_project(self, /, slug: str, **changes: Any) -> Project:
        """Change some settings of a project, as PATCH /v1/projects does."""
        return Project.model_validate(
            await self._connection.call("PATCH", f"/v1/projects/{_in_path(slug)}", json=changes)
        )

    async def reindex_project(self, slug: str, *, embedder: str | None = None) -> Queued:
        """Index a project again; a new embedder goes live once all documents are ready."""
        answer = await self._connection.call(
            "POST",
            f"/v1/projects/{_in_path(slug)}/reindex",
            json={} if embedder is None else {"embedder": embedder},
            idempotency_key=str(uuid4()),
        )
        return Queued.model_validate(answer)

    async def estimate_reindex(self, slug: str, *, embedder: str | None = None) -> Estimate:
        """What such a re-index would embed; nothing is started."""
        asked: dict[str, Any] = {"estimate": True}
        if embedder is not None:
            asked["embedder"] = embedder
        answer = await self._connection.call("POST", f"/v1/projects/{_in_path(slug)}/reindex", json=asked)
        return Estimate.model_validate(answer)

    async def delete_project(self, slug: str, *, confirm: str) -> ProjectDeleted:
        """Delete a project with all its documents; `confirm` is its slug again."""
        answer = await self._connection.call(
            "DELETE", f"/v1/projects/{_in_path(slug)}", params={"confirm": confirm}
        )
        return ProjectDeleted.model_validate(answer)

    async def usage(self, month: str | None = None) -> Usage:
        """Embedding usage in a month such as 2026-04, what is stored now, and the quotas."""
        return Usage.model_validate(await self._connection.call("GET", "/v1/usage", params={"month": month}))

    async def sources(self) -> list[Source]:
        """All sources of the tenant with their health."""
        answer = await self._connection.call("GET", "/v1/sources")
        return [Source.model_validate(row) for row in answer["items"]]

    async def create_webhook_source(self, project: str = "default") -> SourceSecret:
        """Create the tenant's webhook; keep the secret, it is shown only once."""
        answer = await self._connection.call("POST", "/v1/sources/webhook", json={"project": project})
        return SourceSecret.model_validate(answer)

    async def rotate_webhook_source(self) -> SourceSecret:
        """Give the webhook a new secret; the previous secret is valid until the next rotation."""
        return SourceSecret.model_validate(await self._connection.call("POST", "/v1/sources/webhook/rotate"))

    async def pause_source(self, source_id: _Id) -> None:
        """Reject its deliveries until it is resumed."""
        await self._connection.call("POST", f"/v1/sources/{_in_path(source_id)}/pause")

    async def resume_source(self, source_id: _Id) -> None:
        """Accept from it again what was paused."""
        await self._connection.call("POST", f"/v1/sources/{_in_path(source_id)}/resume")

    async def source(self, source_id: _Id) -> SourceDetails:
        """One source with its health, its streams and its last syncs."""
        answer = await self._connection.call("GET", f"/v1/sources/{_in_path(source_id)}")
        return SourceDetails.model_validate(answer)

    async def sync_source(self, source_id: _Id, *, full: bool = False) -> int:
        """Ask for a sync of a connected source and return its task; `full` reads everything again."""
        answer = await self._connection.call(
            "POST", f"/v1/sources/{_in_path(source_id)}/sync", json={"full": full}
        )
        return int(answer["task_id"])

    async def schedule_source(self, source_id: _Id, sync_every_seconds: int | None) -> Source:
        """Sync a source this often; a day (86400) is every night, None only when asked."""
        answer = await self._connection.call(
            "PUT",
            f"/v1/sources/{_in_path(source_id)}/schedule",
            json={"sync_every_seconds": sync_every_seconds},
        )
        return Source.model_validate(answer)

    async def connect_source(self, provider: str, project: str = "default") -> str:
        """The address of the provider's consent page; send your user there within ten minutes."""
        answer = await self._connection.call(
            "GET", f"/v1/sources/{_in_path(provider)}/connect", params={"project": project}
        )
        return str(answer["url"])

    async def remove_source(self, source_id: _Id, documents: Literal["keep", "delete"] | None = None) -> None:
        """Remove a source and its secrets; a connected one needs to know what happens to its `documents`."""
        params = None if documents is None else {"documents": documents}
        await self._connection.call("DELETE", f"/v1/sources/{_in_path(source_id)}", params=params)

    async def skipped(
        self, source_id: _Id | None = None, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[Decision]:
        """One page of what was not kept, newest first: of one source, or of all sources and uploads."""
        path = "/v1/decisions" if source_id is None else f"/v1/sources/{_in_path(source_id)}/decisions"
        answer = await self._connection.call("GET", path, params={"cursor": cursor, "limit": limit})
        return Page[Decision].model_validate(answer)

    async def restore(self, decision_id: _Id) -> Decision:
        """Take in what was not kept; restoring twice changes nothing."""
        path = f"/v1/decisions/{_in_path(decision_id)}/restore"
        return Decision.model_validate(
            await self._connection.call("POST", path, idempotency_key=str(uuid4()))
        )

    async def source_rules(self, source_id: _Id) -> RuleList:
        """The rules and classes of a source, with how often each fired and was reversed."""
        path = f"/v1/sources/{_in_path(source_id)}/rules"
        return RuleList.model_validate(await self._connection.call("GET", path))

    async def set_source_rules(self, /, source_id: _Id, **changes: Any) -> RuleList:
        """Change rules: `off`, `on`, `weights`, `allow`, `block`, `forget`; what is not named stays."""
        path = f"/v1/sources/{_in_path(source_id)}/rules"
        return RuleList.model_validate(await self._connection.call("PATCH", path, json=changes))

    async def delete_tenant(self, confirm: str) -> DeletionRequested:
        """Delete the tenant of this key; `confirm` is its slug. Keep the token: the keys no longer work."""
        answer = await self._connection.call("DELETE", "/v1/tenant", params={"confirm": confirm})
        return DeletionRequested.model_validate(answer)

    async def deletion(self, token: str) -> Deletion:
        """The progress of a deletion; its token is all you need."""
        return Deletion.model_validate(await self._connection.call("GET", f"/v1/deletions/{_in_path(token)}"))


class _Part:
    """The file of a form, opened once and read from its start at each attempt."""

    def __init__(self, content: Path | bytes, filename: str | None, content_type: str | None) -> None:
        self._content = content
        self._name = filename or (content.name if isinstance(content, Path) else "document")
        self._type = content_type or "application/octet-stream"
        self._file = content.open("rb") if isinstance(content, Path) else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def rewound(self) -> dict[str, tuple[str, Any, str]]:
        if self._file is not None:
            self._file.seek(0)
        return {"file": (self._name, self._file or self._content, self._type)}


def _in_path(part: _Id) -> str:
    return quote(str(part), safe="")
