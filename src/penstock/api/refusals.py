"""Maps each error to a problem; unknown errors are internal and reveal nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from penstock.api.problem import FieldFault, HttpRefused, kind_of_status
from penstock.db.connect import CONNECTION_LOST
from penstock.errors import (
    Conflict,
    DatabaseNewer,
    DatabaseUnreachable,
    DocumentRejected,
    EmbedderBusy,
    EmbedderFailed,
    EmbedderRefused,
    EmbedderUnavailable,
    IndexUnavailable,
    InvalidArgument,
    InvalidMove,
    KeyRefused,
    NotFound,
    NotMigrated,
    PayloadInvalid,
    PayloadTooLarge,
    PenstockError,
    QuotaExceeded,
    ScheduleNotFound,
    SchemaOutdated,
    SchemaReplaced,
    SpoolFull,
    TaskNotFound,
    TenantClosed,
    TooLarge,
    UnknownQueue,
    UnknownTaskType,
)
from penstock.errors.invalid_field import reworded
from penstock.net.errors import AddressRefused, SignatureInvalid
from penstock.sources.errors import ClientMissing

_KINDS: Final[Mapping[type[PenstockError], str]] = {
    KeyRefused: "unauthorized",
    NotFound: "not-found",
    TaskNotFound: "not-found",
    UnknownQueue: "not-found",
    UnknownTaskType: "invalid",
    ScheduleNotFound: "not-found",
    Conflict: "conflict",
    InvalidMove: "invalid-move",
    TenantClosed: "tenant-closed",
    TooLarge: "too-large",
    QuotaExceeded: "quota-exceeded",
    PayloadTooLarge: "too-large",
    InvalidArgument: "invalid",
    PayloadInvalid: "invalid",
    DocumentRejected: "invalid",
    EmbedderBusy: "unavailable",
    EmbedderFailed: "embedder-failed",
    EmbedderRefused: "embedder-failed",
    EmbedderUnavailable: "unavailable",
    IndexUnavailable: "unavailable",
    DatabaseUnreachable: "unavailable",
    DatabaseNewer: "unavailable",
    NotMigrated: "unavailable",
    SchemaOutdated: "unavailable",
    SchemaReplaced: "unavailable",
    SignatureInvalid: "unauthorized",
    AddressRefused: "invalid",
    SpoolFull: "unavailable",
    ClientMissing: "conflict",
}
_REMEDIES: Final = {
    404: "See /docs for the available paths",
    405: "See /docs for the methods of this path",
    400: "Send well-formed JSON",
}
_FAULTS_SHOWN: Final = 20


def refusal_of(error: BaseException) -> HttpRefused | None:
    """The problem for an error, or None if it is an internal error."""
    match error:
        case HttpRefused():
            return error
        case RequestValidationError() | ValidationError():
            return _invalid(error)
        case HTTPException():
            return HttpRefused(
                kind_of_status(error.status_code),
                str(error.detail),
                _REMEDIES.get(error.status_code, ""),
                field="body" if error.status_code == 400 else None,
                headers=error.headers,
            )
        case PenstockError():
            return _ours(error)
    return _of_the_database(error)


def _ours(error: PenstockError) -> HttpRefused | None:
    kind = _KINDS.get(type(error))
    if kind is None:
        return None
    headers = {}
    match error:
        case KeyRefused():
            headers["WWW-Authenticate"] = 'Bearer realm="penstock"'
        case EmbedderBusy() | EmbedderUnavailable():
            headers["Retry-After"] = str(max(1, math.ceil(error.retry_after or 5)))
        case SpoolFull(of_tenant=True):
            kind = "rate-limited"
            headers["Retry-After"] = "5"
    if kind == "unavailable":
        headers.setdefault("Retry-After", "5")
    return HttpRefused(
        kind, error.message, error.remedy, field=getattr(error, "field", None), headers=headers
    )


def _of_the_database(error: BaseException) -> HttpRefused | None:
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str) and state.startswith("22"):
        # The API checks what it can; anything else that Postgres cannot store is still the caller's mistake.
        return HttpRefused(
            "invalid", "A value cannot be stored", "Send plain Unicode text and finite numbers"
        )
    if state == "57014":
        return HttpRefused(
            "unavailable",
            "The database took too long to answer",
            "Try again in a moment, or ask for less",
            headers={"Retry-After": "5"},
        )
    if isinstance(error, CONNECTION_LOST) and (
        not isinstance(error, OSError) or isinstance(error, ConnectionError | TimeoutError)
    ):
        return HttpRefused(
            "unavailable",
            "The database cannot be reached",
            "Try again in a moment",
            headers={"Retry-After": "2"},
        )
    return None


def _invalid(error: RequestValidationError | ValidationError) -> HttpRefused:
    found = error.errors()
    faults = [
        FieldFault(field=_place(each["loc"]), detail=reworded(str(each["msg"])))
        for each in found[:_FAULTS_SHOWN]
    ]
    if any(each["type"] == "json_invalid" for each in found):
        return HttpRefused("bad-request", "The body is not JSON", _REMEDIES[400], field="body")
    first = faults[0]
    return HttpRefused(
        "invalid",
        f"{first.field}: {first.detail}",
        f"Correct {first.field}",
        field=first.field,
        errors=faults if len(faults) > 1 else None,
    )


def _place(location: tuple[int | str, ...]) -> str:
    """The field's own name; its location (body, query, path) only if there is nothing else."""
    inner = location[1:] if location and location[0] in ("body", "query", "path", "header") else location
    return ".".join(str(part) for part in inner or location)[:200].encode("utf-8", "replace").decode()
