"""Turns every error into an `application/problem+json` response that names the field and the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from penstock.errors import PenstockError

MEDIA_TYPE: Final = "application/problem+json"

KINDS: Final[dict[str, tuple[int, str]]] = {
    "bad-request": (400, "The request cannot be read"),
    "unauthorized": (401, "No valid API key or session"),
    "not-genuine": (401, "Not a genuine notification"),
    "forbidden": (403, "The key or role lacks the scope"),
    "cross-site": (403, "The request comes from another site"),
    "quota-exceeded": (403, "The tenant's quota is used up"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Method not allowed"),
    "not-acceptable": (406, "Not acceptable"),
    "timeout": (408, "The request took too long"),
    "conflict": (409, "Conflict"),
    "invalid-move": (409, "Not possible in the current state"),
    "in-flight": (409, "The first request with this idempotency key is still running"),
    "tenant-closed": (410, "The tenant is closed"),
    "too-large": (413, "Too large"),
    "unsupported-media-type": (415, "Unsupported media type"),
    "misdirected": (421, "Host name not served"),
    "invalid": (422, "Invalid argument"),
    "key-reused": (422, "The idempotency key was used for another request"),
    "rate-limited": (429, "Too many requests"),
    "head-too-large": (431, "Request head too large"),
    "internal": (500, "Internal error"),
    "embedder-failed": (502, "The embedder failed"),
    "unavailable": (503, "Temporarily unavailable"),
}
"""Every kind of problem: its status and its title."""

_BY_STATUS: Final = {
    400: "bad-request",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    409: "conflict",
    413: "too-large",
    415: "unsupported-media-type",
    422: "invalid",
    503: "unavailable",
}


class FieldFault(BaseModel):
    """One error in one field."""

    model_config = ConfigDict(frozen=True)

    field: str
    detail: str


class Problem(BaseModel):
    """An error response: what happened, which field, and what to do (RFC 9457)."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(description="A page that explains this kind of problem.")
    title: str
    status: int
    detail: str
    field: str | None = Field(default=None, description="The argument or object at fault.")
    remedy: str | None = Field(default=None, description="What to do about it.")
    errors: list[FieldFault] | None = Field(default=None, description="Every error, if there are several.")
    instance: str = Field(description="The requested path.")
    request_id: str


class HttpRefused(PenstockError):
    """An error that only exists in HTTP: of a kind in `KINDS`, with its own headers."""

    def __init__(
        self,
        kind: str,
        message: str,
        remedy: str = "",
        *,
        field: str | None = None,
        errors: list[FieldFault] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, remedy)
        self.kind = kind
        self.field = field
        self.errors = errors
        self.headers = dict(headers or {})
        self.args = (kind, message, remedy)


def kind_of_status(status: int) -> str:
    return _BY_STATUS.get(status, "internal" if status >= 500 else "bad-request")


def answer(refused: HttpRefused, *, instance: str, request_id: str, status: int | None = None) -> Response:
    """The response for an error."""
    own_status, title = KINDS[refused.kind]
    problem = Problem(
        type=f"/docs#problem-{refused.kind}",
        title=title,
        status=status or own_status,
        detail=refused.message,
        field=refused.field,
        remedy=refused.remedy or None,
        errors=refused.errors,
        instance=instance.encode("utf-8", "replace").decode()[:500],
        request_id=request_id,
    )
    return Response(
        problem.model_dump_json(exclude_none=True),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers=refused.headers,
    )
