"""Secrets in a response: shown once, marked in the description, and removed from stored responses."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

MARK: Final = "x-shown-once"
NOTE: Final = (
    "The secret was shown once, in the first response to this request, and is not stored. If "
    "you lost it, create a new one."
)

ShownOnce = Annotated[
    str | None,
    Field(
        repr=False,
        json_schema_extra={MARK: True},
        description="Shown only once. Null if a repeated Idempotency-Key returns the response again.",
    ),
]
SecretNote = Annotated[str | None, Field(description="Why the secret is null, if it is not shown again.")]


def secret_fields(model: object) -> frozenset[str]:
    """The fields of a response model that are marked as shown once."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return frozenset()
    return frozenset(
        name
        for name, field in model.model_fields.items()
        if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get(MARK)
    )


def without_secrets(body: Any, secrets: Collection[str]) -> Any:
    """The response as it may be stored: each secret is null, and a note says why."""
    if not isinstance(body, dict) or not any(body.get(name) is not None for name in secrets):
        return body
    return body | dict.fromkeys(secrets) | {"secret_note": NOTE}
