"""Failures in groups: dead letters and documents whose errors differ only in ids, numbers and names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast
from uuid import UUID

from penstock.db import Connection
from penstock.documents.figures import FailedGroup, Figures
from penstock.errors import NotFound
from penstock.observe.cleaning import clean_text
from penstock.pipeline.reasons import remedy_for

FailureKind = Literal["task", "document"]
_COUNTED = 10_000
_COMPARED = 5_000
"""Causes of a kind; of these the newest are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureExample:
    task_id: int | None
    document_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroup:
    """`history` counts failures per hour of the last 24, the current one last."""

    group_id: str
    kind: FailureKind
    fingerprint: str
    title: str
    error_code: str
    example_message: str
    remedy: str | None
    task_type: str | None
    count: int
    approximate: bool
    first_at: datetime
    last_at: datetime
    example: FailureExample
    history: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroups:
    """Groups, the latest first.

    `truncated`: only the 500 newest of each kind are here. `partial`: there are more causes than were
    compared, so a newer one may be missing.
    """

    groups: list[FailureGroup]
    truncated: bool
    partial: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureMember:
    task_id: int | None
    document_id: UUID | None
    name: str
    at: datetime
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroupDetail(FailureGroup):
    """A group with a page of its members, newest first."""

    members: list[FailureMember]
    cursor: str | None


class Failures:
    """A connection of a tenant's transaction, or an operator's."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._figures = Figures(connection)

    async def groups(
        self, kind: FailureKind | None = None, task_type: str | None = None, text: str | None = None
    ) -> FailureGroups:
        """The groups, the latest first; `text` is looked for in their titles, codes and messages."""
        found = []
        truncated = partial = False
        if kind != "document":
            tasks, causes = await self._of_tasks(None)
            found += tasks
            truncated, partial = causes > len(tasks), causes > _COMPARED
        if kind != "task" and task_type is None:
            documents = await self._figures.failed_groups()
            found += [_of_documents(group) for group in documents]
            causes = documents[0].causes if documents else 0
            truncated, partial = truncated or causes > len(documents), partial or causes > _COMPARED
        wanted = text.casefold() if text else None
        groups = sorted(
            (
                group
                for group in found
                if (task_type is None or group.task_type == task_type)
                and (wanted is None or wanted in _searched(group))
            ),
            key=lambda group: group.last_at,
            reverse=True,
        )
        return FailureGroups(groups=groups, truncated=truncated, partial=partial)

    async def group(self, group_id: str, cursor: str | None, limit: int) -> FailureGroupDetail:
        kind, _, fingerprint = group_id.partition("-")
        if kind == "task":
            groups, _ = await self._of_tasks(fingerprint)
        elif kind == "document":
            groups = [_of_documents(group) for group in await self._figures.failed_groups(fingerprint)]
        else:
            groups = []
        if not groups:
            raise NotFound(
                f"there is no group of failures {group_id!r}",
                "group_id",
                "List them: GET /v1/failures. A group without a failure left is gone.",
            )
        members, after = await self._members(cast("FailureKind", kind), fingerprint, cursor, limit)
        whole = {name: getattr(groups[0], name) for name in FailureGroup.__dataclass_fields__}
        return FailureGroupDetail(**whole, members=members, cursor=after)

    async def _of_tasks(self, fingerprint: str | None) -> tuple[list[FailureGroup], int]:
        """The groups, and how many causes were found."""
        rows = await self._connection.fetch("select * from queues.dead_groups($1)", fingerprint)
        groups = [
            FailureGroup(
                group_id=f"task-{row['fingerprint']}",
                kind="task",
                fingerprint=row["fingerprint"],
                title=f"{row['task_type']}: {row['error_code']}",
                error_code=row["error_code"],
                example_message=clean_text(row["error_message"]),
                remedy="Fix the cause, then replay them",
                task_type=row["task_type"],
                count=row["letters"],
                approximate=row["letters"] > _COUNTED,
                first_at=row["first_at"],
                last_at=row["last_at"],
                example=FailureExample(task_id=row["task_id"], document_id=None),
                history=row["hours"],
            )
            for row in rows
        ]
        return groups, rows[0]["causes"] if rows else 0

    async def _members(
        self, kind: FailureKind, fingerprint: str, cursor: str | None, limit: int
    ) -> tuple[list[FailureMember], str | None]:
        if kind == "task":
            rows = await self._connection.fetch(
                "select * from queues.dead_members($1, $2, $3)", fingerprint, cursor, limit
            )
            members = [
                FailureMember(
                    task_id=row["task_id"],
                    document_id=None,
                    name=f"{row['task_type']} {row['task_id']}",
                    at=row["died_at"],
                    message=clean_text(row["error_message"]),
                )
                for row in rows
            ]
            last = rows[-1]["place"] if len(rows) == limit else None
            return members, last
        found = await self._figures.failed_members(fingerprint, cursor, limit)
        of_documents = [
            FailureMember(
                task_id=None,
                document_id=row["document_id"],
                name=row["name"],
                at=row["failed_at"],
                message=clean_text(row["error_message"] or ""),
            )
            for row in found
        ]
        return of_documents, found[-1]["place"] if len(found) == limit else None


def _of_documents(group: FailedGroup) -> FailureGroup:
    code = group.reason_code or "unknown"
    message = clean_text(group.error_message or "")
    return FailureGroup(
        group_id=f"document-{group.fingerprint}",
        kind="document",
        fingerprint=group.fingerprint,
        title=f"Documents: {code.replace('_', ' ')}",
        error_code=code,
        example_message=message,
        remedy=remedy_for(code),
        task_type=None,
        count=group.documents,
        approximate=group.documents > _COUNTED,
        first_at=group.first_at,
        last_at=group.last_at,
        example=FailureExample(task_id=None, document_id=group.document_id),
        history=group.hours,
    )


def _searched(group: FailureGroup) -> str:
    return f"{group.title} {group.error_code} {group.example_message} {group.fingerprint}".casefold()
