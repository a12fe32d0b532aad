"""The MCP server: search, get_document and list_documents, each for the tenant of the caller's key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated, Any, TypeAlias
from uuid import UUID

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from penstock.accounts import Caller, Scope
from penstock.engine.services import Services
from penstock.errors import PenstockError
from penstock.mcp.answers import DocumentLine, DocumentList, Passage, WholeDocument
from penstock.mcp.finding import FoundPassages, Mode, find
from penstock.model import DocumentId, DocumentStatus

INSTRUCTIONS = (
    "Documents of one organisation. search finds passages by meaning and by words; "
    "get_document reads more of a document; list_documents shows what documents there are. "
    "Cite title, page and document_id."
)
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Who: TypeAlias = Callable[[Context[Any, Any]], Awaitable[Caller]]

Query = Annotated[str, Field(min_length=1, max_length=2_000, description="A question, or words to look for.")]
Project = Annotated[str | None, Field(description="Only this project, by its slug; default: all projects.")]
Limit = Annotated[int, Field(ge=1, le=50, description="Maximum number of results.")]
MinScore = Annotated[
    float | None, Field(ge=0, le=1, description="Only hits with at least this relevance, from 0 to 1.")
]
Cursor = Annotated[str | None, Field(description="Where to continue: the cursor of the previous result.")]
Title = Annotated[
    str | None, Field(max_length=200, description=("Only documents whose title or file name contains this."))
]


def create_server(engine: Services, who: Who) -> MCPServer[Any]:
    """A server over an open engine; `who` returns the caller of the current request."""
    server: MCPServer[Any] = MCPServer(
        "penstock",
        title="Penstock",
        instructions=INSTRUCTIONS,
        version=version("penstock"),
        log_level="WARNING",
        subscriptions=False,
    )

    @server.tool(title="Search documents", annotations=READS)
    async def search(
        query: Query,
        ctx: Context[Any, Any],
        project: Project = None,
        limit: Limit = 10,
        mode: Mode = "hybrid",
        min_score: MinScore = None,
    ) -> FoundPassages:
        """Find the passages that answer a question, best first, with title, page and heading to cite."""
        with _refusals():
            caller = _allowed(await who(ctx), "search")
            return await find(
                engine,
                caller.tenant_id,
                query,
                project=project,
                limit=limit,
                mode=mode,
                min_score=min_score,
            )

    @server.tool(title="Read a document", annotations=READS)
    async def get_document(
        document_id: UUID, ctx: Context[Any, Any], cursor: Cursor = None, limit: Limit = 20
    ) -> WholeDocument:
        """Read a document's text in passages, in order; pass the cursor to get the next passages."""
        with _refusals():
            caller = _allowed(await who(ctx), "documents:read")
            known = DocumentId(document_id)
            document = await engine.documents.show(caller.tenant_id, known)
            page = await engine.documents.chunks(caller.tenant_id, known, cursor, limit)
            told = {
                name: getattr(document, name)
                for name in WholeDocument.model_fields
                if hasattr(document, name)
            }
            return WholeDocument(
                **told, passages=[Passage.of(each) for each in page.items], cursor=page.cursor
            )

    @server.tool(title="List documents", annotations=READS)
    async def list_documents(
        ctx: Context[Any, Any],
        project: Project = None,
        status: DocumentStatus | None = None,
        title: Title = None,
        cursor: Cursor = None,
        limit: Limit = 20,
    ) -> DocumentList:
        """List documents, newest first; pass the cursor to get the next ones."""
        with _refusals():
            caller = _allowed(await who(ctx), "documents:read")
            page = await engine.documents.list(
                caller.tenant_id, project=project, status=status, title=title, cursor=cursor, limit=limit
            )
            return DocumentList(documents=[DocumentLine.of(each) for each in page.items], cursor=page.cursor)

    return server


async def serve_stdio(engine: Services, secret: str) -> None:
    """Serve on stdin and stdout for the tenant of this key until stdin is closed."""
    await engine.accounts.authenticate(secret)  # a wrong key is reported at once

    async def who(_: Context[Any, Any]) -> Caller:
        return await engine.accounts.authenticate(secret)  # checked at every call: it may have been revoked

    await create_server(engine, who).run_stdio_async()


@contextmanager
def _refusals() -> Iterator[None]:
    """Errors of Penstock are shown to the assistant: what happened, and what to do about it."""
    try:
        yield
    except PenstockError as error:
        raise ToolError(str(error)) from error


def _allowed(caller: Caller, scope: Scope) -> Caller:
    if not caller.may(scope):
        raise ToolError(f"This key lacks the scope {scope}. Use a key that has it.")
    return caller
