"""A declared task type: its payload type, handler and options, and the methods that enqueue it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_type_hints
from uuid import UUID

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.errors import InvalidArgument, PayloadInvalid
from penstock.errors.invalid_field import first_invalid
from penstock.model import Cancel, Exponential, QueueName, RetryPolicy, Snooze, TaskId

P = TypeVar("P")

Result: TypeAlias = Snooze | Cancel | None
Handler: TypeAlias = Callable[..., Awaitable[Result] | Result]
Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Connection]]
OnDuplicate: TypeAlias = Literal["skip", "replace", "coalesce", "wait"]

# One JSON array is sent and parsed faster than an array of JSON: 9 instead of 12 µs per task.
ENQUEUE = (
    "select queues.enqueue_many(_task_type => $1,"
    " _payloads => array(select jsonb_array_elements($2::jsonb)), _scheduled_at => $3,"
    " _delay => $4, _queue => $5, _priority => $6, _tenant_id => $7, _unique_keys => $8,"
    " _on_duplicate => $9, _limit_keys => $10)"
)


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What the database stores about a task type."""

    queue: QueueName
    priority: int = 5
    max_attempts: int = 5
    max_losses: int = 3
    retry: RetryPolicy = field(default_factory=Exponential)
    retry_errors: Mapping[str, RetryPolicy] = field(default_factory=dict)
    on_duplicate: OnDuplicate = "skip"
    time_limit: timedelta | None = None

    def policies(self) -> str:
        """The retry policies as the database stores them."""
        return json.dumps(
            {
                "default": self.retry.policy(),
                "errors": {code: policy.policy() for code, policy in self.retry_errors.items()},
            }
        )


class TaskType(Generic[P]):
    """A named handler; calling it runs the handler directly, `enqueue` leaves it to a worker."""

    def __init__(
        self, name: str, handler: Handler, options: TaskOptions, connect: Connect | None = None
    ) -> None:
        self.name = name
        self.handler = handler
        self.options = options
        """What was declared, with the defaults."""
        self._connect = connect
        self.is_async: bool = inspect.iscoroutinefunction(handler)
        """Whether the handler is `async def`; others run in a thread."""
        parameters = list(inspect.signature(handler).parameters.values())
        if not 1 <= len(parameters) <= 2:
            raise InvalidArgument(
                f"the handler of {name!r} takes {len(parameters)} parameters",
                "handler",
                "Write it as handler(payload) or handler(payload, ctx).",
            )
        self.wants_context = len(parameters) == 2
        annotation = get_type_hints(handler).get(parameters[0].name, dict[str, Any])
        self._adapter: TypeAdapter[P] = TypeAdapter(annotation)
        self.decode = self._adapter.validator.validate_json
        self._many: TypeAdapter[list[P]] = TypeAdapter(list[annotation])  # type: ignore[valid-type]  # run time
        self._model = (
            annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
        )
        self.required_keys: list[str] = _required_keys(annotation)
        """Keys that a payload must have."""

    def __call__(self, *args: Any, **kwargs: Any) -> Awaitable[Result] | Result:
        """Run the handler here, without the queue."""
        return self.handler(*args, **kwargs)

    def encode(self, payloads: Sequence[P]) -> str:
        """The payloads as one JSON array, or PayloadInvalid naming the field that does not fit."""
        model = self._model
        if model is None or any(type(payload) is not model for payload in payloads):
            try:
                payloads = self._many.validate_python(list(payloads))
            except ValidationError as invalid:
                raise payload_invalid(self.name, invalid) from None
        return self._many.serializer.to_json(list(payloads)).decode()

    @cached_property
    def payload_schema(self) -> str | None:
        """The JSON schema of the payload, for forms; None for a type that JSON schema cannot describe."""
        try:
            return json.dumps(self._adapter.json_schema())
        except PydanticUserError:
            return None

    async def enqueue(
        self,
        payload: P,
        *,
        conn: Connection | None = None,
        at: datetime | None = None,
        delay: timedelta | float | None = None,
        queue: str | None = None,
        priority: int | None = None,
        tenant_id: UUID | None = None,
        unique_key: str | None = None,
        on_duplicate: OnDuplicate | None = None,
        limit_key: str | None = None,
    ) -> TaskId:
        """Enqueue one task: in the caller's transaction if `conn` is given, else in its own."""
        ids = await self.enqueue_many(
            [payload],
            conn=conn,
            at=at,
            delay=delay,
            queue=queue,
            priority=priority,
            tenant_id=tenant_id,
            unique_keys=None if unique_key is None else [unique_key],
            on_duplicate=on_duplicate,
            limit_keys=None if limit_key is None else [limit_key],
        )
        return ids[0]

    async def enqueue_many(
        self,
        payloads: Sequence[P],
        *,
        conn: Connection | None = None,
        at: datetime | None = None,
        delay: timedelta | float | None = None,
        queue: str | None = None,
        priority: int | None = None,
        tenant_id: UUID | None = None,
        unique_keys: Sequence[str] | None = None,
        on_duplicate: OnDuplicate | None = None,
        limit_keys: Sequence[str] | None = None,
    ) -> list[TaskId]:
        """Enqueue many tasks in one statement; all of them or none."""
        arguments = (
            self.name,
            self.encode(payloads),
            at,
            timedelta(seconds=delay) if isinstance(delay, int | float) else delay,
            queue,
            priority,
            tenant_id,
            unique_keys,
            on_duplicate,
            limit_keys,
        )
        if conn is not None:
            with translated():
                return await conn.fetchval(ENQUEUE, *arguments)  # type: ignore[no-any-return]  # bigint[] of the driver
        if self._connect is None:
            raise InvalidArgument(
                f"{self.name!r} does not belong to an open app",
                "conn",
                "Pass conn, or open the app: async with app: …",
            )
        async with self._connect() as own:
            with translated():
                return await own.fetchval(ENQUEUE, *arguments)  # type: ignore[no-any-return]  # as above


def payload_invalid(task_type: str, invalid: ValidationError) -> PayloadInvalid:
    """Our error for pydantic's: the first invalid field, never its value."""
    first = first_invalid(invalid)
    path = first.path[1:] if first.path and first.path[0] == 0 else first.path
    field_name = ".".join(["payload", *map(str, path)])
    return PayloadInvalid(
        f"the payload of {task_type!r} is invalid at {field_name}: {first.reason}",
        field_name,
        "Send what the task type declares",
    )


def _required_keys(annotation: object) -> list[str]:
    """The required keys, which SQL checks for producers that do not use the Python type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [info.alias or name for name, info in annotation.model_fields.items() if info.is_required()]
    return []
