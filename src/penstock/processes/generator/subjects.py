"""What a process can be about: a row of the tenant, or a text that names something else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ProcessSubject(StrEnum):
    SUBJECT = "subject"
    DOCUMENT = "document"
    PROJECT = "project"
    SOURCE = "source"
    FILE = "file"
    EMAIL_MESSAGE = "email_message"
    SMS_MESSAGE = "sms_message"

    @property
    def row(self) -> Row | None:
        """The table it is a row of; None for a free-text subject."""
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
    """How the process's test creates one: the body of a Python function of `calls` and `tenant`."""
    made_in_project: str
    """The same in a user's project: the body of a method of the test's `Run`."""
    condition: str = ""
    """An extra condition on the tenant's rows; `r` is the row."""


SUBJECT_MADE: Final = 'return "the gate"'
UPLOAD: Final = 'self.app.upload(b"An example.", filename="example.txt", wait=False)'

_ROWS: Final = {
    ProcessSubject.DOCUMENT: Row(
        "ingest.document",
        "uuid",
        "return await calls.document(tenant)",
        f"return UUID(str({UPLOAD}.document_id))",
        condition=" and r.deleted_at is null",
    ),
    ProcessSubject.PROJECT: Row(
        "accounts.project",
        "uuid",
        "return tenant.project_id",
        """found = self.database.fetch("select project_id from accounts.project")
        return UUID(str(found[0]["project_id"]))""",
    ),
    ProcessSubject.SOURCE: Row(
        "ingest.source",
        "uuid",
        "return await calls.webhook(tenant)",
        """self.app.webhook.create()
        return UUID(str(self.app.sources.list()[0].source_id))""",
    ),
    ProcessSubject.FILE: Row(
        "files.file",
        "uuid",
        """document_id = await calls.document(tenant)
    await calls.of(tenant, "ingest.delete_document", document_id)
    found = await calls.admin.fetchval("select file_id from files.file where document_id = $1", document_id)
    return UUID(str(found))""",
        f"""uploaded = {UPLOAD}
        self.app.documents.delete(uploaded.document_id)
        return UUID(str(self.database.fetch("select file_id from files.file")[0]["file_id"]))""",  # noqa: S608  # Python, not SQL
    ),
    ProcessSubject.EMAIL_MESSAGE: Row(
        "comms.email_message",
        "bigint",
        """to = ["miller@example.org"]
    return int(await calls.of(tenant, "comms.create_email_message", to, "The gate", "It is open."))""",
        """query = "select comms.create_email_message($1, $2, $3)"
        return int(self.value(query, ["miller@example.org"], "The gate", "It is open."))""",
    ),
    ProcessSubject.SMS_MESSAGE: Row(
        "comms.sms_message",
        "bigint",
        'return int(await calls.of(tenant, "comms.create_sms_message", "+4930123456", "The gate is open."))',
        """query = "select comms.create_sms_message($1, $2)"
        return int(self.value(query, "+4930123456", "The gate is open."))""",
    ),
}
