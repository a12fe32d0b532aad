"""The protocol of channels, and how they report failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from penstock.errors import PenstockError
from penstock.errors.invalid_field import first_invalid
from penstock.queue.task_run import TaskRun

Request = TypeVar("Request", bound=BaseModel)


class Channel(Protocol):
    """Makes the calls to a provider; `concurrency` and `close` are optional.

    A class of your own is instantiated without arguments, registered in the entry point group
    `penstock.channels` or declared with `@app.channel(name)`. `concurrency` is how many attempts one worker
    makes at a time, 4 by default; `close()`, which may be async, is called at the end.
    """

    async def call(self, request: Mapping[str, Any], run: TaskRun) -> Mapping[str, Any]:
        """Do what the before handler's payload asks for and return the worker_payload.

        Raises ProviderFailed, which says whether a retry may help; any other error counts as retriable.
        It runs outside any transaction and may run twice for one attempt, after a crash.
        """


class ProviderFailed(PenstockError):
    """A provider failed; `retriable` says whether another attempt may help."""

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
    """The request as the channel's own type; an invalid one is final."""
    try:
        return model.model_validate(request)
    except ValidationError as invalid:
        first = first_invalid(invalid)
        raise ProviderFailed(
            provider,
            f"{first.named('payload')} of the request is invalid: {first.reason}",
            "Correct what the before handler returns",
            retriable=False,
        ) from None
