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
from penstock.errors import PenstockError
from penstock.mcp.answers import DocumentLine, DocumentList, Passage, WholeDocument
from penstock.mcp.finding import Found, Mode, find
from penstock.model import DocumentId, DocumentStatus
from penstock.product.services import Services

INSTRUCTIONS = (
    "Documents of one organisation. search finds passages by meaning and by words; get_document reads on "
    "where a passage was found; list_documents shows what there is. Cite title, page and document_id."
)
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Who: TypeAlias = Callable[[Context[Any, Any]], Awaitable[Caller]]

Query = Annotated[str, Field(min_length=1, max_length=2_000, description="A question, or words to look for.")]
Project = Annotated[str | None, Field(description="Only this project, by its slug; all projects without it.")]
Limit = Annotated[int, Field(ge=1, le=50, description="At most so many.")]
MinScore = Annotated[
    float | None, Field(ge=0, le=1, description="Only hits of at least this relevance, 0 to 1.")
]
Cursor = Annotated[str | None, Field(description="Where to go on, from the answer before.")]
Title = Annotated[str | None, Field(max_length=200, description="Only titles and file names that hold this.")]


def create_server(product: Services, who: Who) -> MCPServer[Any]:
    """A server over an open product; `who` tells whose key a call came with."""
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
    ) -> Found:
        """Find the passages that answer a question, best first, with title, page and heading to cite."""
        with _refusals():
            caller = _allowed(await who(ctx), "search")
            return await find(
                product,
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
        """A document with its text in passages, in order; the cursor leads to the next passages."""
        with _refusals():
            caller = _allowed(await who(ctx), "documents:read")
            known = DocumentId(document_id)
            document = await product.documents.show(caller.tenant_id, known)
            page = await product.documents.chunks(caller.tenant_id, known, cursor, limit)
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
        """What documents there are, the newest first; the cursor leads to the next ones."""
        with _refusals():
            caller = _allowed(await who(ctx), "documents:read")
            page = await product.documents.list(
                caller.tenant_id, project=project, status=status, title=title, cursor=cursor, limit=limit
            )
            return DocumentList(documents=[DocumentLine.of(each) for each in page.items], cursor=page.cursor)

    return server


async def serve_stdio(product: Services, secret: str) -> None:
    """Serve on stdin and stdout for the tenant of this key until stdin ends."""
    await product.accounts.authenticate(secret)  # a wrong key is told at once

    async def who(_: Context[Any, Any]) -> Caller:
        return await product.accounts.authenticate(secret)  # at every call: it may have been revoked

    await create_server(product, who).run_stdio_async()


@contextmanager
def _refusals() -> Iterator[None]:
    """What Penstock refuses is the assistant's to read: what happened, and what to do about it."""
    try:
        yield
    except PenstockError as error:
        raise ToolError(str(error)) from error


def _allowed(caller: Caller, scope: Scope) -> Caller:
    if not caller.may(scope):
        raise ToolError(f"This key lacks the scope {scope}. Use a key that has it.")
    return caller
