"""What a process can be about: a row of the tenant's own, or words that name something else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Thing(StrEnum):
    SUBJECT = "subject"
    DOCUMENT = "document"
    PROJECT = "project"
    SOURCE = "source"
    FILE = "file"
    EMAIL_MESSAGE = "email_message"
    SMS_MESSAGE = "sms_message"

    @property
    def row(self) -> Row | None:
        """The table it is a row of; a subject is none."""
        return _ROWS.get(self)

    @property
    def words(self) -> str:
        return self.value.replace("_", " ").replace("sms", "SMS")

    @property
    def column(self) -> str:
        return "subject" if self.row is None else f"{self.value}_id"

    @property
    def type(self) -> str:
        return "text" if self.row is None else self.row.type


@dataclass(frozen=True, slots=True)
class Row:
    table: str
    type: str
    made: str
    """How the process's test makes one: the body of a Python function of `calls` and `tenant`."""
    condition: str = ""
    """Which rows of the tenant it may be, beside their id; `r` is the row."""


SUBJECT_MADE: Final = 'return "the gate"'

_ROWS: Final = {
    Thing.DOCUMENT: Row(
        "ingest.document",
        "uuid",
        "return await calls.document(tenant)",
        condition=" and r.deleted_at is null",
    ),
    Thing.PROJECT: Row("accounts.project", "uuid", "return tenant.project_id"),
    Thing.SOURCE: Row("ingest.source", "uuid", "return await calls.webhook(tenant)"),
    Thing.FILE: Row(
        "files.file",
        "uuid",
        """document_id = await calls.document(tenant)
    await calls.of(tenant, "ingest.delete_document", document_id)
    found = await calls.admin.fetchval("select file_id from files.file where document_id = $1", document_id)
    return UUID(str(found))""",
    ),
    Thing.EMAIL_MESSAGE: Row(
        "comms.email_message",
        "bigint",
        """to = ["miller@example.org"]
    return int(await calls.of(tenant, "comms.create_email_message", to, "The gate", "It is open."))""",
    ),
    Thing.SMS_MESSAGE: Row(
        "comms.sms_message",
        "bigint",
        'return int(await calls.of(tenant, "comms.create_sms_message", "+4930123456", "The gate is open."))',
    ),
}
