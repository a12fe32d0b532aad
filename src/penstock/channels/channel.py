"""The one protocol behind which each way to the outside lies, and how it says that it failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from penstock.channels.ports import Run
from penstock.errors import PenstockError

Request = TypeVar("Request", bound=BaseModel)


class Channel(Protocol):
    async def call(self, request: Mapping[str, Any], run: Run) -> Mapping[str, Any]:
        """Do what the before handler's payload asks for; the answer is the worker_payload.

        Raises ProviderFailed, which says whether another attempt may help; any other error counts as one
        that may. It runs outside any transaction and may run twice for one attempt, after a crash.
        """


class ProviderFailed(PenstockError):
    """A provider did not do it; `retriable` tells whether another attempt may help."""

    def __init__(self, provider: str, reason: str, remedy: str, *, retriable: bool) -> None:
        super().__init__(f"{provider} failed: {reason}", remedy)
        self.provider = provider
        self.reason = reason
        self.retriable = retriable
        self.args = (provider, reason, remedy, retriable)

    def __reduce__(self) -> tuple[object, ...]:
        return _provider_failed, self.args


def _provider_failed(provider: str, reason: str, remedy: str, retriable: bool) -> ProviderFailed:
    return ProviderFailed(provider, reason, remedy, retriable=retriable)


def read_request(provider: str, model: type[Request], request: Mapping[str, Any]) -> Request:
    """The request as the channel's own type; one that does not fit will not fit the next time."""
    try:
        return model.model_validate(request)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "payload"
        raise ProviderFailed(
            provider,
            f"{field} of the request does not fit: {first['msg']}",
            "Correct what the before handler answers",
            retriable=False,
        ) from None
